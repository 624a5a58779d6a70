"""ONNX's operators as rows of data, read from the checked-in ``ops.txt``; the ``onnx`` package is not needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

OPSET = 23
"""The operator set that is written for by default: the first with attention and RMS normalization."""
OPSETS = {"onnx": OPSET, "onnx-opset18": 18, "onnx-opset21": 21}
"""Target -> operator set. The default one gives way to a newer one where a program needs that, the others do not."""


@dataclass(frozen=True)
class Parameter:
    """An input or output: ``mark`` is ``?`` where it may be left out, ``*`` where it stands for many."""

    name: str
    mark: str


@dataclass(frozen=True)
class OpRow:
    """One operator of ONNX's default domain in its newest form.

    Attributes:
        name: as ONNX spells it.
        versions: the operator sets that introduced or changed it.
        inputs: in order.
        outputs: in order.
        attributes: name -> ONNX's type: ``int``, ``ints``, ``float``, ``string``, ``tensor``, ``graph``, ..
    """

    name: str
    versions: tuple[int, ...]
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, str]

    @property
    def graphs(self) -> list[str]:
        """The attributes that are graphs, regions of the op, in order: of ``If`` the one for true comes first."""
        return sorted((name for name, type in self.attributes.items() if type == "graph"))[::-1]


_ROW = re.compile(r"(\w+) ([\d,]+) \((.*?)\) -> \((.*?)\) ?(.*)")


def _parameters(text: str) -> tuple[Parameter, ...]:
    names = [name for name in text.split(", ") if name]
    return tuple(Parameter(name.rstrip("?*"), name[len(name.rstrip("?*")) :]) for name in names)


@cache
def op_rows() -> dict[str, OpRow]:
    """Operator name -> row."""
    text = files(__package__).joinpath("ops.txt").read_text()
    rows = dict[str, OpRow]()
    for line in text.splitlines():
        match = _ROW.fullmatch(line)
        if match is None:
            continue
        name, versions, inputs, outputs, attributes = match.groups()
        rows[name] = OpRow(
            name,
            tuple(map(int, versions.split(","))),
            _parameters(inputs),
            _parameters(outputs),
            dict(item.split(":") for item in attributes.split()),
        )
    return rows
