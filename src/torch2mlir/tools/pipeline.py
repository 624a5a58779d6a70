"""Textual pass pipelines as MLIR writes them, ``builtin.module(a,func.func(b{size=4 ops=x,y}))``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NoReturn

from xdsl.passes import ModulePass, PassPipeline, PassPipelineCallbackType
from xdsl.utils.arg_spec import ArgSpec, ParameterType

from torch2mlir.errors import PassError

AvailablePasses = Mapping[str, Callable[[], type[ModulePass]]]

_NAME = re.compile(r"\s*(?P<name>[\w.\-]+)")
_OPTION = re.compile(r"\s*(?P<key>[\w.\-]+)(?P<value>=(\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s}]*))?")


def parse_pipeline(text: str) -> tuple[ArgSpec, ...]:
    """The passes of a pipeline in order.

    The operations that nested pipelines are anchored on are read and dropped: our passes walk the
    whole module and know themselves what they apply to.

    Raises:
        PassError: the text is not a pipeline.
    """
    return tuple(_Reader(text).pipeline())


def make_pipeline(
    text: str, passes: AvailablePasses, callback: PassPipelineCallbackType | None = None
) -> PassPipeline:
    """The pipeline ``text`` describes, ready to be applied.

    Raises:
        PassError: malformed text, an unknown pass, or options the pass does not take.
    """
    return PassPipeline(tuple(_instance(spec, passes) for spec in parse_pipeline(text)), callback)


def _instance(spec: ArgSpec, passes: AvailablePasses) -> ModulePass:
    if spec.name not in passes:
        raise PassError(f"there is no pass {spec.name}", hint=suggestion(spec.name, passes))
    try:
        return passes[spec.name]().from_spec(spec)
    except ValueError as error:
        raise PassError(f"{spec.name}: {error}", op=str(spec)) from error


def suggestion(name: str, known: AvailablePasses) -> str:
    """What to try instead of an unknown pass name."""
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {', '.join(close)}?" if close else "torch2mlir opt --help lists them"


class _Reader:
    """A recursive-descent reader of pipeline text."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.at = 0

    def pipeline(self) -> Iterator[ArgSpec]:
        if not self.text:
            return
        yield from self.elements()
        if self.at < len(self.text):
            self.fail("expected a comma or the end")

    def elements(self) -> Iterator[ArgSpec]:
        while True:
            yield from self.element()
            if not self.take(","):
                return

    def element(self) -> Iterator[ArgSpec]:
        match = _NAME.match(self.text, self.at)
        if match is None:
            self.fail("expected the name of a pass")
        self.at = match.end()
        if self.take("("):
            if not self.take(")"):
                yield from self.elements()
                if not self.take(")"):
                    self.fail("expected )")
            return
        yield ArgSpec(match["name"], dict(self.options()) if self.take("{") else {})

    def options(self) -> Iterator[tuple[str, tuple[ParameterType, ...]]]:
        while not self.take("}"):
            match = _OPTION.match(self.text, self.at)
            if match is None:
                self.fail("expected an option or }")
            self.at = match.end()
            value = match["value"]
            if value is None:
                yield match["key"], (True,)
            elif value != "=":  # `key=` leaves the default, as Torch-MLIR's own scripts write it
                yield match["key"], tuple(map(_typed, value[1:].strip("\"'{}").split(",")))

    def take(self, mark: str) -> bool:
        rest = self.text[self.at :].lstrip()
        if not rest.startswith(mark):
            return False
        self.at = len(self.text) - len(rest) + 1
        return True

    def fail(self, what: str) -> NoReturn:
        raise PassError(
            f"malformed pass pipeline: {what} at {self.text[self.at :][:20]!r}",
            op=self.text,
            hint="write builtin.module(pass-one,pass-two{option=value})",
        )


def _typed(text: str) -> ParameterType:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()
