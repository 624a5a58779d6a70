"""Ways to run a cluster: a dialect and an engine for it; which are installed, and which suit a graph unmeasured."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from torch.fx import Graph

from torch2mlir.api import engine_for
from torch2mlir.errors import EngineError
from torch2mlir.hybrid.content import Content, content_of_graph
from torch2mlir.hybrid.rules import rule_for
from torch2mlir.pipeline import Pipeline
from torch2mlir.runtime.engine import Engine, as_engine, best_dialect, get_engine

BY_PREFERENCE = ("onnxruntime", "openvino", "xla", "iree")
"""The engines to choose among. Of equally fast ones the first: it takes more programs than the second, varying sizes
unlike the third, and compiles in a tenth of the fourth's time."""

ASKED = "asked for"
"""In the place of a rule where the way is the user's choice."""

_PACKAGES = {
    "onnxruntime": ("onnx", "onnxruntime"),
    "openvino": ("onnx", "openvino"),
    "xla": ("jax",),
    "iree": ("iree.compiler", "iree.runtime"),
}


@dataclass(frozen=True)
class Way:
    """A way to run a cluster.

    Attributes:
        dialect: what it is lowered to.
        engine: who compiles that.
    """

    dialect: str
    engine: Engine

    @property
    def name(self) -> str:
        """The engine's name, which is enough: each has one dialect here."""
        return self.engine.name

    @staticmethod
    def of(engine: str | Engine, dialect: str | None = None) -> Way:
        """The way through an engine.

        Raises:
            EngineError: it is not installed, or does not take the dialect.
        """
        found = as_engine(engine)
        chosen = dialect or best_dialect(found)
        found.check_output_type(chosen)
        return Way(chosen, found)

    @staticmethod
    def default_of(dialect: str) -> Way:
        """The way through a dialect's own engine.

        Raises:
            Torch2MLIRError: the dialect cannot be run.
            EngineError: its engine is not installed.
        """
        return Way(dialect, engine_for(Pipeline.to(dialect), None))


@cache
def is_installed(name: str) -> bool:
    """Whether the packages of one of the engines to choose among are there; nothing is imported of them."""
    try:
        return all(importlib.util.find_spec(package) for package in _PACKAGES[name])
    except ModuleNotFoundError:  # a package without the parent it should be in
        return False


def installed() -> Iterator[Way]:
    """The ways through the engines that can be imported, the preferred first."""
    for name in BY_PREFERENCE:
        if is_installed(name):
            try:
                yield Way.of(name)
            except EngineError:  # a package that is there and cannot be loaded
                continue


# a choice by content


@dataclass(frozen=True)
class Suited:
    """The ways that suit a graph, by its content or because they were asked for.

    Attributes:
        ways: the first that takes the graph runs it.
        rule: the name of the rule that says so.
    """

    ways: tuple[Way, ...]
    rule: str


def suited(content: Content, dialect: str | None = None) -> Suited:
    """The ways for a graph that nobody measures, by :mod:`torch2mlir.hybrid.rules`.

    Args:
        content: of the graph.
        dialect: that it goes through; None for the one each engine does most with.

    Raises:
        EngineError: no engine is installed, or none for the dialect.
    """
    rule = rule_for(content)
    found = _through(rule.engines, dialect) or _through(BY_PREFERENCE, dialect)[:1]
    if not found and dialect is None:
        get_engine("xla")  # its error tells how to install it
    if not found:
        raise EngineError(f"no engine for {dialect} is installed", hint="leave out output_type")
    return Suited(tuple(found), rule.name)


def _through(engines: Sequence[str], dialect: str | None) -> list[Way]:
    """The ways through those of some engines that are installed and take a dialect."""
    found = list[Way]()
    for name in filter(is_installed, engines):
        try:
            found.append(Way.of(name, dialect))
        except EngineError:  # it cannot be loaded, or takes other dialects
            continue
    return found


def suited_to_graph(asked: Way | None, graph: Graph, **known: bool) -> Suited:
    """The way asked for, or those that suit a graph; ``known`` is what the graph does not tell of its content.

    Raises:
        EngineError: no engine is installed.
    """
    if asked is not None:
        return Suited((asked,), ASKED)
    return suited(content_of_graph(graph, **known))


def check_any_installed() -> None:
    """Raises an EngineError if no engine to choose is installed."""
    if not any(map(is_installed, BY_PREFERENCE)):
        get_engine("xla")
