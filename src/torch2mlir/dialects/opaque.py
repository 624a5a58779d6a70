"""Attributes and types that are carried as they are written: nothing here looks into them.

``#sparse_tensor.encoding<{..}>`` on tensors with a sparse layout, ``!quant.uniform<..>`` as their element type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class CarriedAttr(ParametrizedAttribute):
    """Base: a name and the text between the angle brackets, spaces as MLIR writes them."""

    text: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        body = parser._parse_dialect_symbol_body()  # pyright: ignore[reportPrivateUsage]
        return (StringAttr(re.sub(r"\s+", " ", body.strip())),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text.data}>")


@irdl_attr_definition
class SparseEncodingAttr(CarriedAttr):
    """How a sparse tensor is laid out."""

    name = "sparse_tensor.encoding"
    text: StringAttr


def _quantized(kind: str) -> type[CarriedAttr]:
    class Quantized(CarriedAttr, TypeAttribute):
        """A quantized number."""

        name = f"quant.{kind}"
        text: StringAttr

    return irdl_attr_definition(Quantized)


SPARSE_TENSOR = Dialect("sparse_tensor", [], [SparseEncodingAttr])
QUANT = Dialect("quant", [], [_quantized(kind) for kind in ("uniform", "calibrated", "any")])
