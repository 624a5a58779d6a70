"""``stablehlo-pack-sorts``: elements sorted along with their positions become single integers, which XLA sorts faster.

XLA on the CPU (jaxlib 0.10.2) calls a function for each comparison of a sort of several operands, with pointers to the
elements. One operand of integers that are compared by ``<`` it sorts by code made for that. An element of up to 32 bits
and its position have room in 64: above, the element as an integer of the same order; below, its position, which keeps
equal elements in order; in the last bit the sign, as both zeros are one integer.

Elements are told apart by their bits: compared as floats, those next to zero may count as zeros.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    Float16Type,
    Float32Type,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.element_types import si64
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.lowering import Tensor
from torch2mlir.conversion.torch_to_stablehlo.lowering import StablehloLowering
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.tensors import element_of, integer
from torch2mlir.engine_passes.in_place_of import as_tensor, replace

_INFINITY: Mapping[type[Attribute], int] = {
    Float32Type: 0x7F800000,
    Float16Type: 0x7C00,
    BFloat16Type: 0x7F80,
}
"""The bits of infinity; the sign aside, those of NaN are more."""
_HALF = 32
_LONGEST = 1 << (_HALF - 1)
"""The length of a line whose positions have 31 bits."""


class StablehloPackSortsPass(PassForOps):
    """See the module's docstring."""

    name = "stablehlo-pack-sorts"
    looks_for = frozenset({hlo.SortOp.name})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [each for each in op.walk() if isinstance(each, hlo.SortOp)]:
            if _has_room(each) and (descending := _is_descending(each)) is not None:
                replace(each, partial(_packed, op=each, descending=descending))


def _has_room(op: Operation) -> bool:
    """Whether elements, of floats alone or with their positions, are sorted and fit."""
    keys = op.operands[0].type
    if not isinstance(keys, TensorType) or not keys.has_static_shape() or 0 in keys.get_shape():
        return False
    if not {"dimension", "is_stable"} <= op.properties.keys():
        return False
    element, axis = keys.element_type, _axis(op)
    is_float = type(element) in _INFINITY
    narrow = isinstance(element, IntegerType) and element.width.data <= _HALF
    if not (is_float or narrow) or keys.get_shape()[axis] > _LONGEST:
        return False
    match op.operands[1:]:
        case ():
            return is_float  # integers alone are sorted fast as they are
        case (places,):
            iota = places.owner
            counted = isinstance(places.type, TensorType) and places.type.element_type
            return (
                isinstance(iota, hlo.IotaOp)
                and iota.properties["iota_dimension"] == op.properties["dimension"]
                and isinstance(counted, IntegerType)
                and counted.width.data in (32, 64)
                and bool(integer(op.properties["is_stable"]))
            )
    return False


def _axis(op: Operation) -> int:
    return integer(op.properties["dimension"])


# the order

_KINDS = (-math.inf, 0.0, math.inf, math.nan)
"""Elements in ascending order; a comparison tells no more of two elements than some two of these."""
_DIRECTIONS: Mapping[str, Callable[[float, float], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


def _is_descending(op: Operation) -> bool | None:
    """Whether the greater elements come first; None if it is neither that nor the lesser ones.

    A comparator that does nothing but compare its first two arguments, and combine what it finds, knows no more of them
    than their order.
    """
    comparator = op.regions[0]
    kinds = _KINDS if type(element_of(op.operands[0])) in _INFINITY else _KINDS[:-1]
    pairs = [(x, y) for x in range(len(kinds)) for y in range(len(kinds))]
    found = [_first(comparator, kinds[x], kinds[y]) for x, y in pairs]
    for descending in (False, True):
        if found == [x > y if descending else x < y for x, y in pairs]:
            return descending
    return None


def _first(comparator: Region, x: float, y: float) -> bool | None:
    """Whether an element comes before another one; None if the comparator does more than compare them."""
    block = comparator.block
    known: dict[SSAValue, float | bool] = {block.args[0]: x, block.args[1]: y}
    for op in block.ops:
        if any(operand not in known for operand in op.operands):
            return None
        operands = [known[operand] for operand in op.operands]
        match op:
            case hlo.CompareOp() if not _is_of_bits(op):
                direction = op.properties["comparison_direction"].data.value  # type: ignore[attr-defined]
                known[op.results[0]] = _DIRECTIONS[direction](*operands)
            case hlo.AndOp():
                known[op.results[0]] = all(operands)
            case hlo.OrOp():
                known[op.results[0]] = any(operands)
            case hlo.ReturnOp():
                return bool(operands[0])
            case _:
                return None
    return None


def _is_of_bits(op: Operation) -> bool:
    kind = op.properties.get("compare_type")
    return kind == hlo.ComparisonTypeAttr(hlo.ComparisonType.TOTALORDER)


# the integers


def _packed(lower: StablehloLowering, op: Operation, descending: bool) -> list[Tensor | None]:
    x, axis = as_tensor(op.operands[0]), _axis(op)
    keys, signs = _as_ordered(lower, x)
    if descending:
        keys = lower.apply(hlo.NotOp, keys)
    places = lower.apply(hlo.ShiftLeftOp, lower.iota(x.sizes, axis, si64), 1)
    if signs is not None:
        places = lower.apply(hlo.OrOp, places, signs)
    packed = lower.apply(hlo.OrOp, lower.apply(hlo.ShiftLeftOp, keys, _HALF), places)
    packed = _sorted(lower, packed, axis)
    values: Tensor | None = None
    if op.results[0].first_use is not None:
        keys = lower.apply(hlo.ShiftRightArithmeticOp, packed, _HALF)
        keys = lower.apply(hlo.NotOp, keys) if descending else keys
        signs = lower.apply(hlo.AndOp, packed, 1)
        values = _as_they_were(lower, keys, signs, x.dtype)
    if len(op.results) == 1:
        return [values]
    below = lower.apply(hlo.AndOp, packed, (1 << _HALF) - 1)
    places = lower.apply(hlo.ShiftRightArithmeticOp, below, 1)
    return [values, lower.cast(places, as_tensor(op.results[1]).dtype)]


def _sorted(lower: StablehloLowering, packed: Tensor, axis: int) -> Tensor:
    """In ascending order; no two are equal."""
    properties: dict[str, Attribute] = {
        "dimension": hlo.i64_attr(axis),
        "is_stable": BoolAttr.from_bool(False),
    }
    less, signed = hlo.ComparisonDirection.LT, hlo.ComparisonType.SIGNED
    comparator = hlo.comparator(less, [i64], signed, lower.location)
    return lower.op(hlo.SortOp, [packed], packed.sizes, packed.dtype, properties, [comparator])


def _as_ordered(lower: StablehloLowering, x: Tensor) -> tuple[Tensor, Tensor | None]:
    """Integers of 64 bits in the order of the elements, and of floats the signs."""
    if not element_types.is_float(x.dtype):
        return lower.cast(x, si64), None
    width, infinity = element_types.bit_width(x.dtype), _INFINITY[type(x.dtype)]
    highest = (1 << (width - 1)) - 1
    bits = lower.bits(x, IntegerType(width, Signedness.SIGNED))
    size = lower.apply(hlo.AndOp, bits, highest)
    keys = lower.select(lower.compare("eq", size, 0), 0, _turned(lower, bits))
    keys = lower.select(lower.compare("gt", size, infinity), highest, keys)
    signs = lower.cast(lower.compare("lt", bits, 0), si64)
    return lower.cast(keys, si64), signs


def _as_they_were(
    lower: StablehloLowering, keys: Tensor, signs: Tensor, dtype: Attribute
) -> Tensor:
    """The elements again."""
    if not element_types.is_float(dtype):
        return lower.cast(keys, dtype)
    width = element_types.bit_width(dtype)
    whole = IntegerType(width, Signedness.SIGNED)
    narrow = lower.cast(keys, whole)
    lowest = lower.splat(-(1 << (width - 1)), keys.sizes, whole)
    is_negative_zero = lower.apply(
        hlo.AndOp, lower.compare("eq", keys, 0), lower.compare("ne", signs, 0)
    )
    bits = lower.select(is_negative_zero, lowest, _turned(lower, narrow))
    return lower.bits(bits, dtype)


def _turned(lower: StablehloLowering, bits: Tensor) -> Tensor:
    """The bits of floats as integers of their order, or back: of negative ones all but the sign are inverted."""
    width = element_types.bit_width(bits.dtype)
    negative = lower.apply(hlo.ShiftRightArithmeticOp, bits, width - 1)
    inverted = lower.apply(hlo.AndOp, negative, (1 << (width - 1)) - 1)
    return lower.apply(hlo.XorOp, bits, inverted)
