"""Operations of xDSL's that a lowered model has by thousands, as text composed at once.

xDSL writes them piece by piece, by interpreting their assembly formats, which takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from torch2mlir.dialects.assembly import type_text, types_text, values_text

Rest = Callable[[Printer, Operation], str | None]
"""The text of an operation after its name, None if this one takes xDSL's printer."""


def op_text(printer: Printer, op: Operation) -> str | None:
    """The text of an operation, results included, None where it takes xDSL's printer."""
    rest = _rest(type(op))
    if rest is None or op.attributes:
        return None
    results = f"{values_text(printer, op.results)} = " if op.results else ""  # named first
    text = rest(printer, op)
    return None if text is None else f"{results}{op.name} {text}"


def _has_default_properties(op: Operation) -> bool:
    """Whether no property would be printed."""
    if not op.properties:
        return True
    definitions = type(op).get_irdl_definition().properties  # type: ignore[attr-defined]
    return all(value is definitions[name].default_value for name, value in op.properties.items())


def _result_type(op: Operation) -> str:
    return type_text(op.results[0].type)


def _operand_types(op: Operation) -> str:
    return types_text(op.operand_types)


def _cast_types(op: Operation) -> str:
    return f"{type_text(op.operands[0].type)} to {type_text(op.results[0].type)}"


_FLAGS = "(`fastmath` `` $fastmath^)? "
_TRAILING_TYPES: dict[str, Callable[[Operation], str]] = {
    "$lhs `,` $rhs attr-dict `:` type($result)": _result_type,
    f"$lhs `,` $rhs {_FLAGS}attr-dict `:` type($result)": _result_type,
    "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)": _result_type,
    f"$operand {_FLAGS}attr-dict `:` type($result)": _result_type,
    "$operand attr-dict `:` type($result)": _result_type,
    "$cond `,` $lhs `,` $rhs attr-dict `:` type($result)": _result_type,
    "$input attr-dict `:` type($input) `to` type($result)": _cast_types,
}
"""Assembly formats that are operands and then types, once no attribute is printed."""


def _operands_then(types: Callable[[Operation], str]) -> Rest:
    def rest(printer: Printer, op: Operation) -> str | None:
        if not _has_default_properties(op):
            return None
        return f"{values_text(printer, op.operands)} : {types(op)}"

    return rest


def _sizes(printer: Printer, static: Attribute, values: Iterator[SSAValue]) -> str:
    """``[2, %0, 4]``: the numbers there are, and a value in the place of each that is none."""
    assert isinstance(static, DenseArrayBase)
    numbers: Sequence[int] = static.get_values()
    texts = [
        values_text(printer, [next(values)]) if number == DYNAMIC_INDEX else str(number)
        for number in numbers
    ]
    return f"[{', '.join(texts)}]"


def _expand_shape(printer: Printer, op: Operation) -> str:
    source, *sizes = op.operands
    groups = type_text(op.properties["reassociation"])
    shape = _sizes(printer, op.properties["static_output_shape"], iter(sizes))
    types = f"{type_text(source.type)} into {type_text(op.results[0].type)}"
    return f"{values_text(printer, [source])} {groups} output_shape {shape} : {types}"


def _collapse_shape(printer: Printer, op: Operation) -> str:
    groups = type_text(op.properties["reassociation"])
    types = f"{type_text(op.operands[0].type)} into {type_text(op.results[0].type)}"
    return f"{values_text(printer, op.operands)} {groups} : {types}"


def _extract_slice(printer: Printer, op: Operation) -> str:
    source, *values = op.operands
    left = iter(values)
    name = values_text(printer, [source])
    places = [
        _sizes(printer, op.properties[which], left)
        for which in ("static_offsets", "static_sizes", "static_strides")
    ]
    return f"{name}{' '.join(places)} : {_cast_types(op)}"


_RESTS: dict[str, Rest] = {
    "linalg.yield": _operands_then(_operand_types),
    "tensor.expand_shape": _expand_shape,
    "tensor.collapse_shape": _collapse_shape,
    "tensor.extract_slice": _extract_slice,
}
"""By name: who prints another dialect loads none of these."""


@cache
def _rest(op_class: type[Operation]) -> Rest | None:
    """How to write what stands behind the name of these operations, None if it is for xDSL's printer."""
    if op_class.name in _RESTS:
        return _RESTS[op_class.name]
    text = getattr(op_class, "FORMAT", None) or getattr(op_class, "assembly_format", None)
    types = _TRAILING_TYPES.get(text or "")
    return None if types is None else _operands_then(types)
