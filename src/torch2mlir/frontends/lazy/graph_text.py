"""The text of a TorchScript graph, as PyTorch's lazy device prints what it has recorded.

PyTorch's own reader of this text refuses named tuples and folds overloads away; the grammar of straight-line code is
small, one node a line:

    %10 : Tensor = aten::tanh[source="model.py forward 7"](%9)
    %11 : int[] = prim::Constant[value=[-1]]()
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from torch2mlir.errors import CaptureError


@dataclass(frozen=True)
class TextNode:
    """One line: what it defines, of which kind, from what; ``value`` is that of a ``prim::Constant``."""

    outputs: tuple[str, ...]
    kind: str
    inputs: tuple[str, ...]
    value: Any = None


@dataclass(frozen=True)
class TextGraph:
    """A straight-line graph: names of parameters and results, and the nodes between."""

    parameters: tuple[str, ...]
    nodes: tuple[TextNode, ...]
    results: tuple[str, ...]


_NAME = re.compile(r"%([\w.]+)")
_NODE = re.compile(
    r"\s*(?P<outputs>%.*?) = (?P<kind>\w+::\w+)(?:\[(?P<attributes>.*)\])?\((?P<inputs>(?:%[\w.]+(?:, )?)*)\)"
)
_OUTPUT = re.compile(r"%([\w.]+) : ")
_TUPLES = "prim::TupleConstruct"


def parse(text: str) -> TextGraph:
    """The graph of a text.

    Raises:
        CaptureError: a line is not a node of straight-line code.
    """
    header, _, body = text.partition("):\n")
    nodes = list[TextNode]()
    results: tuple[str, ...] = ()
    for line in body.splitlines():
        if not line.strip():
            continue
        if line.lstrip().startswith("return ("):
            results = tuple(_NAME.findall(line))
        elif (match := _NODE.fullmatch(line)) is None:
            raise CaptureError(
                "the lazy device recorded something that is no straight-line code", op=line.strip()
            )
        elif match["kind"] != _TUPLES:  # their members are used by their own names
            nodes.append(_node(match))
    return TextGraph(tuple(_NAME.findall(header)), tuple(nodes), results)


def _node(match: re.Match[str]) -> TextNode:
    outputs = tuple(_OUTPUT.findall(match["outputs"]))
    value = None
    if match["kind"] == "prim::Constant" and match["attributes"] is not None:
        type = match["outputs"].partition(" : ")[2]
        value = _constant(type, match["attributes"])
    return TextNode(outputs, match["kind"], tuple(_NAME.findall(match["inputs"])), value)


_READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: text in ("1", "True"),
    "str": ast.literal_eval,
    "Device": lambda text: torch.device("cpu"),
}
"""How a scalar constant is written, by its type. Programs are compiled for the host, whatever device they name."""


def _constant(type: str, attributes: str) -> Any:
    """The value in ``value=...``; lists are in brackets, rank-0 tensors in braces and read as Python numbers."""
    text = re.sub(r', source="(?:[^"\\]|\\.)*"$', "", attributes).removeprefix("value=")
    if type in _READ:
        return _READ[type](text)
    if type.endswith("[]") and type[:-2] in _READ:
        if text.startswith("annotate("):
            return []
        return [_READ[type[:-2]](item) for item in _items(text)]
    if text.startswith("{") and text.endswith("}"):
        number = text[1:-1].strip()
        return int(number) if re.fullmatch(r"-?\d+", number) else float(number)
    raise CaptureError(
        f"a constant of type {type} in the lazy graph cannot be read", op=f"prim::Constant {text}"
    )


def _items(text: str) -> Iterator[str]:
    inner = text.strip()[1:-1].strip()
    return (item.strip() for item in inner.split(",")) if inner else iter(())


_NOTHING = {"prim::Constant", "aten::detach_copy"}


def is_empty(text: str) -> bool:
    """Whether a graph only hands its parameters on."""
    return all(node.kind in _NOTHING for node in parse(text).nodes)
