"""PyTorch's operator schemas, read lazily from the checked-in ``schemas.txt``; no PyTorch needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class Argument:
    """One argument or return of a schema; ``type`` is in PyTorch's schema language without alias marks."""

    name: str
    type: str
    default: str | None
    kwarg_only: bool
    alias: str | None
    """The alias set, ``a`` or ``a!``; None when the value aliases nothing."""

    @property
    def is_written(self) -> bool:
        """Whether the op mutates this argument."""
        return self.alias is not None and "!" in self.alias

    @property
    def is_tensor(self) -> bool:
        """Whether a tensor, optional tensor or list of tensors is expected."""
        return self.type.startswith("Tensor")


UNDECLARED_VIEWS = frozenset(
    f"aten::{name}"
    for name in (
        "_unsafe_view",
        "alpha_dropout",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_tensors",
        "cartesian_prod",
        "conj_physical",
        "dropout",
        "einsum",
        "feature_alpha_dropout",
        "feature_dropout",
        "meshgrid",
        "sum_to_size",
        "to_dense",
        "type_as",
    )
)
"""Ops whose results may lie in their operands' memory although their schemas do not say so, by the arguments: dropout
out of training, ``type_as`` of a tensor of that type, ``einsum`` that only permutes. Not ``unsafe_split``: nobody may
use its operand any more when a part is written."""


DROPOUTS = frozenset(
    f"torch.aten.{name}dropout" for name in ("", "feature_", "alpha_", "feature_alpha_")
)
"""Ops of a tensor, a probability and whether it is training; out of training they give the tensor itself."""


def is_new_tensor(name: str, constants: Sequence[object]) -> bool:
    """Whether a call of one of :data:`UNDECLARED_VIEWS` cannot give a view after all.

    Args:
        name: ``torch.aten.dropout``.
        constants: its arguments; what is not known is no Python value, members of lists are not looked at.
    """
    if name in DROPOUTS:
        return constants[2] is True and isinstance(constants[1], float) and constants[1] != 0.0
    members = constants[1] if name == "torch.aten.einsum" else None
    return isinstance(members, list) and len(members) > 1


@dataclass(frozen=True)
class Schema:
    """One overload: ``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``."""

    text: str
    in_torch_mlir: bool

    @cached_property
    def name(self) -> str:
        """The dialect's op name, ``torch.aten.add.Tensor``."""
        return "torch." + self.text[: self.text.index("(")].replace("::", ".")

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments, positional first."""
        start = self.text.index("(") + 1
        return tuple(_parse_arguments(self.text[start : _closing(self.text, start)]))

    @cached_property
    def returns(self) -> tuple[Argument, ...]:
        """The results."""
        text = self.text[self.text.rindex(" -> ") + 4 :]
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        return tuple(_parse_arguments(text))

    @cached_property
    def is_variadic(self) -> bool:
        """Whether PyTorch leaves the arguments or results open (``...``)."""
        return "..." in self.text

    @cached_property
    def is_mutating(self) -> bool:
        """Whether any argument is written to."""
        return any(argument.is_written for argument in self.arguments)

    @property
    def is_undeclared_view(self) -> bool:
        """Whether it is one of :data:`UNDECLARED_VIEWS`."""
        return self.text.partition("(")[0].partition(".")[0] in UNDECLARED_VIEWS

    @cached_property
    def is_view(self) -> bool:
        """Whether a result shares memory with an argument without mutating it."""
        return not self.is_mutating and any(r.alias is not None for r in self.returns)


_ARGUMENT = re.compile(
    r"(?P<type>(?:[\w.]+|\([^()]*\))(?:\([^)]*\))?(?:\[\d*\])?\??(?:\[\d*\])?\??)"
    r"(?P<late_alias>\([^)]*\))?(?P<suffix>[\[\]\d?]*)"
    r"(?:\s+(?P<name>\w+))?(?:=(?P<default>.*))?"
)
_ALIAS = re.compile(r"(?<=[\w\]?])\(([^)]*)\)")
_DICT = re.compile(r"Dict\([^()]*\)")
_MARK = re.compile(r"\(([^)]*)\)")


def _closing(text: str, start: int) -> int:
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise ValueError(f"unbalanced schema: {text}")


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets and string literals."""
    items, depth, quoted, current = list[str](), 0, False, ""
    for char in text:
        if char in "\"'":
            quoted = not quoted
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0) if not quoted else 0
        if char == "," and depth == 0 and not quoted:
            items.append(current.strip())
            current = ""
        else:
            current += char
    if current.strip():
        items.append(current.strip())
    return items


def _parse_arguments(text: str) -> list[Argument]:
    arguments, kwarg_only = list[Argument](), False
    for item in _split(text):
        if item == "*":
            kwarg_only = True
            continue
        if item.startswith("..."):
            continue
        match = _ARGUMENT.fullmatch(item)
        if match is None:
            raise ValueError(f"cannot read '{item}' in schema arguments '{text}'")
        spelled = match["type"] + (match["late_alias"] or "") + match["suffix"]
        dict_type = _DICT.match(spelled)  # its own parentheses are no alias mark
        start = dict_type.end() if dict_type else 0
        alias = (_MARK if dict_type else _ALIAS).search(spelled, start)
        arguments.append(
            Argument(
                name=match["name"] or "",
                type=dict_type[0] if dict_type else _ALIAS.sub("", spelled),
                default=match["default"],
                kwarg_only=kwarg_only,
                alias=alias[1] if alias else None,
            )
        )
    return arguments


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    """Op name -> line of the file."""
    text = files(__package__).joinpath("schemas.txt").read_text()
    table = dict[str, str]()
    for line in text.splitlines():
        if not line.startswith("#"):
            table["torch." + line[1 : line.index("(")].replace("::", ".")] = line
    return table


def op_names() -> list[str]:
    """The names of all registered ops, ``torch.aten.add.Tensor``, sorted."""
    return sorted(_lines())


@cache
def find_schema(op_name: str) -> Schema | None:
    """The schema of an op of the dialect by name (``torch.aten.add.Tensor``), or None outside the registry."""
    line = _lines().get(op_name)
    return None if line is None else Schema(line[1:], line[0] == "+")
