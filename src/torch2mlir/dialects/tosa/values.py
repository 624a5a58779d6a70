"""Constants, conversions of element type, Fourier transforms, custom operations and block-scaled tensors.

A block-scaled (microscaling) tensor is data and one scale for each block of the last axis.
"""

from typing import Any, Self

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.traits import ConstantLike, Pure

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.tensor_rules import require
from torch2mlir.dialects.tosa.elementwise import ELEMENTWISE
from torch2mlir.dialects.tosa.kinds import FULL_ENUMS, SYNTAX, TOSA


class ConstBase(RowOp):
    """torch-mlir-opt knows only the generic form, so that is what we print; the other one is read."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return SYNTAX.parse(cls, parser)


def elements_type(elements: Attribute) -> Attribute | None:
    """The tensor type an elements attribute says it has, if it says so."""
    if isinstance(elements, DenseIntOrFPElementsAttr):
        return elements.get_type()
    type_: Any = getattr(elements, "type", None)
    return type_ if isinstance(type_, Attribute) else None


def _verify_const(op: RowOp) -> None:
    type_ = elements_type(op.values)
    require(
        type_ is None or type_ == op.output.type,
        f"{op.name}: values have type {type_}, result is {op.output.type}",
    )


TOSA.rows(
    """
    const {values: any} -> output
      A constant tensor.
    """,
    rule=_verify_const,
    traits=(Pure(), ConstantLike()),
    bases={"const": ConstBase},
)
TOSA.rows(
    """
    cast input: [*s] {input_unsigned?: bool} -> output: [*s]
      Convert element types; `input_unsigned` is newer than torch-mlir-opt 20261001.
    rescale input: [*s], multiplier: [_], shift: [_], input_zp: [1], output_zp: [1] {scale32: bool,
      rounding_mode: rounding_mode, per_channel: bool, input_unsigned: bool, output_unsigned: bool} -> output: [*s]
      Fixed-point rescale between integer types, per tensor or per channel of the last axis.
    """,
    syntax=SYNTAX,
    traits=ELEMENTWISE,
)
TOSA.rows(
    """
    FFT2DOp=fft2d input_real: [n h w], input_imag: [n h w] {inverse: bool, local_bound?: bool} ->
      output_real: [n h w], output_imag: [n h w]
      Fourier transform over H and W of a complex [N, H, W]; the inverse is not normalized.
    RFFT2DOp=rfft2d input_real: [n h _] {local_bound?: bool} -> output_real: [n h w], output_imag: [n h w]
      Fourier transform of a real [N, H, W]; the results are [N, H, W/2 + 1].
    cast_to_block_scaled input_data: [*s] {block_size: block_size} -> output_data: [*s], output_scale
      Split a float tensor into narrow data and block scales.
    cast_from_block_scaled input_data: [*s], input_scale {block_size: block_size} -> output_data: [*s]
      Multiply narrow data by its block scales.
    MatMulTBlockScaledOp=matmul_t_block_scaled a_data: [n h c], a_scale: [_ _ _], b_data: [n w c],
      b_scale: [_ _ _] {block_size: block_size} -> output_data: [n h w]
      a [N, H, C] times b [N, W, C] transposed, both block-scaled along C.
    Conv2DBlockScaledOp=conv2d_block_scaled input_data: [_ _ _ _], input_scale: [_ _ _ _],
      weight_data: [_ _ _ _], weight_scale: [_ _ _ _], bias: [_], pad: shape[4], stride: shape[2],
      dilation: shape[2] {block_size: block_size} -> output: [_ _ _ _]
      conv2d of block-scaled input and weight; pad, stride, dilation are shape operands.
    """,
    syntax=SYNTAX,
)
TOSA.rows(
    """
    reshape_block_scaled input*, new_value_shape: shape {block_size: block_size} -> output*
      Reshape data and its scales together.
    row_gather_block_scaled values*, indices, row_count {block_size: block_size} -> output*
      row_gather of data and its scales together.
    """,
    syntax=FULL_ENUMS,
)
TOSA.rows(
    """
    custom input_list*: any {operator_name: string, domain_name: string, implementation_attrs: string} ->
      output_list*: any
      An operation of the vendor `domain_name`, opaque to TOSA.
    """,
    syntax=SYNTAX,
    traits=(),
)
