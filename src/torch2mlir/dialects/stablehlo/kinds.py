"""What the rows of StableHLO and CHLO are made of: kinds of values and properties, forms of syntax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    TupleType,
    i1,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import base, eq
from xdsl.parser import Parser

from torch2mlir.dialects.assembly import Clause, Syntax, of_property
from torch2mlir.dialects.rows import SYMBOL, Kind, OpTable, template
from torch2mlir.dialects.stablehlo import attrs, checks, enums
from torch2mlir.dialects.stablehlo.attrs import bool_array, i64_attr, parse_i64_list
from torch2mlir.dialects.tensors import i64_array


def enumeration(attribute: type[EnumAttribute[Any]]) -> Kind:
    """A bare word."""

    def parse(parser: Parser) -> Attribute:
        return attribute(parser.parse_str_enum(attribute.enum_type))

    return Kind(attribute, lambda value: value.data.value, parse)


def precisions(attribute: type[EnumAttribute[Any]]) -> Kind:
    """``[DEFAULT, HIGHEST]``, one per operand."""
    each = enumeration(attribute)

    def parse(parser: Parser) -> Attribute:
        square = parser.Delimiter.SQUARE
        return ArrayAttr(parser.parse_comma_separated_list(square, lambda: each.parse(parser)))

    return Kind(ArrayAttr[attribute], lambda value: f"[{', '.join(map(each.text, value))}]", parse)  # type: ignore[valid-type]


def _parse_pairs(parser: Parser) -> Attribute:
    position, square = parser.pos, parser.Delimiter.SQUARE
    pairs = parser.parse_comma_separated_list(square, lambda: parse_i64_list(parser))
    if any(len(pair) != 2 for pair in pairs):
        parser.raise_error("expected pairs of low and high padding", position)
    return attrs.padding_attr([(low, high) for low, high in pairs])


def _bools_text(value: Any) -> str:
    return f"[{', '.join('true' if item else 'false' for item in value.get_values())}]"


def _parse_bools(parser: Parser) -> Attribute:
    square = parser.Delimiter.SQUARE
    return bool_array(parser.parse_comma_separated_list(square, parser.parse_boolean))


def _number(constraint: Any, attribute: Callable[[int], Attribute]) -> Kind:
    return Kind(
        constraint,
        lambda value: str(value.value.data),
        lambda parser: attribute(parser.parse_integer()),
    )


KINDS: dict[str, Kind] = {
    "any": Kind(),
    "array": Kind(ArrayAttr),
    "bool": Kind(
        BoolAttr,
        lambda value: "true" if value.value.data else "false",
        lambda parser: IntegerAttr.from_bool(parser.parse_boolean()),
    ),
    "bools": Kind(attrs.BOOL_ARRAY, _bools_text, _parse_bools),
    "device_number": Kind(TensorType.constr(IntegerType)),
    "dictionary": Kind(DictionaryAttr),
    "elements": Kind(DenseIntOrFPElementsAttr),
    "float": Kind(FloatAttr),
    "function": Kind(FlatSymbolRefAttr),
    "i32": _number(IntegerAttr, lambda value: IntegerAttr(value, i32)),
    "i64": _number(IntegerAttr, i64_attr),
    "i64s": Kind(
        attrs.I64_ARRAY,
        lambda value: str(list(value.get_values())),
        lambda parser: i64_array(parse_i64_list(parser)),
    ),
    "pairs": Kind(
        DenseIntOrFPElementsAttr,
        lambda value: str([list(pair) for pair in attrs.padding_pairs(value)]),
        _parse_pairs,
    ),
    "booleans": Kind(TensorType.constr(eq(i1))),
    "sizes": Kind(TensorType.constr(base(IntegerType) | base(IndexType))),
    "string": Kind(StringAttr, str, lambda parser: StringAttr(parser.parse_str_literal())),
    "symbol": SYMBOL,
    "tensor": Kind(TensorType),
    "token": Kind(attrs.TokenType),
    "tuple": Kind(TupleType),
    "accuracy": Kind(attrs.ResultAccuracyAttr),
    "algorithm": Kind(
        attrs.DotAlgorithmAttr,
        lambda value: str(value).removeprefix("#stablehlo.dot_algorithm"),
        lambda parser: attrs.DotAlgorithmAttr.new(attrs.DotAlgorithmAttr.parse_parameters(parser)),
    ),
    "conv_dims": Kind(
        attrs.ConvDimensionNumbersAttr,
        lambda value: value.bare_text(),
        attrs.ConvDimensionNumbersAttr.parse_bare,
    ),
    "dot_dims": Kind(attrs.DotDimensionNumbersAttr),
    "gather_dims": Kind(attrs.GatherDimensionNumbersAttr),
    "scatter_dims": Kind(attrs.ScatterDimensionNumbersAttr),
    "precisions": precisions(enums.PrecisionAttr),
    "direction": enumeration(enums.ComparisonDirectionAttr),
    "order": enumeration(enums.ComparisonTypeAttr),
    "distribution": enumeration(enums.RngDistributionAttr),
    "rng_algorithm": enumeration(enums.RngAlgorithmAttr),
    "fft_type": enumeration(enums.FftTypeAttr),
    "transpose": enumeration(enums.TransposeAttr),
    **{name: Kind(checks.TensorOf(kinds)) for name, kinds in checks.ELEMENTS.items()},
}


def syntax(
    types: str = "functional", /, *, more: dict[str, Clause] | None = None, **clauses: str
) -> Syntax:
    """The form most ops have: ``operands, clauses {attributes} : types``.

    Args:
        types: how they are written.
        more: clauses that stand for no property of their own, in front of the others.
        clauses: keyword of a clause -> the property it stands for.
    """
    own = {keyword: of_property(name) for keyword, name in clauses.items()}
    return Syntax(f"{{arguments}}{{attributes}} : {{{types}}}", {**(more or {}), **own})


SAME = syntax("same")
FUNCTIONAL = syntax()


def reads(text: str) -> Syntax:
    """How an op is written: a template, or the arguments of :func:`syntax`, ``same, dim = iota_dimension``."""
    if "{" in text:
        return template(text)
    clauses = dict[str, str]()
    types = "functional"
    for part in text.split(","):
        keyword, is_clause, name = (each.strip() for each in part.partition("="))
        if is_clause:
            clauses[keyword] = name
        else:
            types = keyword
    return syntax(types, more=None, **clauses)


StableHLO = OpTable("stablehlo", KINDS, attrs.ATTRIBUTES, reads)
