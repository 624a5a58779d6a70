"""How many operands, results and regions the dialect's hand-written ops without a format have, and which attributes."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import NamedTuple

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

ANY = None
"""Any number of them."""


class Structure(NamedTuple):
    """What an op consists of; ``attributes`` are the classes its required attributes are of."""

    operands: int | None = 0
    results: int | None = 0
    regions: int | None = 0
    attributes: dict[str, type[Attribute] | UnionType] = {}


def constant(kind: type[Attribute] | UnionType) -> Structure:
    """A constant whose ``value`` is of a class."""
    return Structure(0, 1, 0, {"value": kind})


CAST = Structure(1, 1)
TERMINATOR = Structure(ANY, 0)

STRUCTURES: dict[str, Structure] = {
    "torch.constant.int": constant(IntegerAttr),
    "torch.constant.bool": constant(IntegerAttr),
    "torch.constant.float": constant(FloatAttr),
    "torch.constant.str": constant(StringAttr),
    "torch.constant.device": constant(StringAttr),
    "torch.constant.number": constant(IntegerAttr | FloatAttr),
    "torch.constant.none": Structure(0, 1),
    "torch.symbolic_int": Structure(0, 1),
    "torch.prim.If.yield": TERMINATOR,
    "torch.prim.ListConstruct": Structure(ANY, 1),
    "torch.prim.TupleConstruct": Structure(ANY, 1),
    "torch.prim.ListUnpack": Structure(1, ANY),
    "torch.promote_dtypes": Structure(2, 1),
    "torch.per_tensor_affine.create": Structure(3, 1),
    "torch.operator_terminator": TERMINATOR,
    "torch.copy.to_tensor": CAST,
    "torch.copy.to_vtensor": CAST,
    "torch.operator": Structure(ANY, ANY, ANY, {"name": StringAttr}),
}


def check_structure(op: Operation) -> None:
    """Verifies an op against its row of the table, and what rows cannot say.

    Raises:
        VerifyException: something is missing or too much.
    """
    if (structure := STRUCTURES.get(op.name)) is not None:
        _check_counts(op, structure)
    if (check := _CHECKS.get(op.name)) is not None:
        check(op)


def _check_counts(op: Operation, structure: Structure) -> None:
    for what, wanted, got in (
        ("operands", structure.operands, len(op.operands)),
        ("results", structure.results, len(op.results)),
        ("regions", structure.regions, len(op.regions)),
    ):
        if wanted is not None and wanted != got:
            raise VerifyException(f"requires {wanted} {what}, but has {got}")
    for name, kind in structure.attributes.items():
        value = op.properties.get(name, op.attributes.get(name))
        if not isinstance(value, kind):
            found = "none" if value is None else str(value)
            raise VerifyException(f"requires the attribute '{name}' , but has {found}")


def _check_if(op: Operation) -> None:
    for region in op.regions:
        _require_end(op, region.block.last_op if region.blocks else None, "torch.prim.If.yield", 0)


def _check_loop(op: Operation) -> None:
    if len(op.operands) != len(op.results) + 2:
        raise VerifyException("requires a trip count, a condition and an operand for every result")
    region = op.regions[0]
    if not region.blocks or len(region.block.args) != len(op.results) + 1:
        raise VerifyException(
            "requires a body of the loop's counter and an argument for every result"
        )
    _require_end(op, region.block.last_op, "torch.prim.Loop.condition", 1)


def _require_end(op: Operation, last: Operation | None, name: str, more: int) -> None:
    if last is None or last.name != name:
        raise VerifyException(f"requires regions that end in '{name}'")
    if len(last.operands) != len(op.results) + more:
        raise VerifyException(
            f"has {len(op.results)} results, but a region yields {len(last.operands) - more} values"
        )


def _check_inside(*parents: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        around = op.parent_op()
        if around is None or around.name not in parents:
            raise VerifyException(f"expects parent op {' or '.join(map(repr, parents))}")

    return check


_CHECKS: dict[str, Callable[[Operation], None]] = {
    "torch.prim.If": _check_if,
    "torch.prim.If.yield": _check_inside("torch.prim.If"),
    "torch.prim.Loop": _check_loop,
    "torch.prim.Loop.condition": _check_inside("torch.prim.Loop"),
    "torch.operator_terminator": _check_inside("torch.operator"),
}
