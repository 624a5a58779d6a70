"""Constants, conversions of element type, Fourier transforms, custom operations and block-scaled tensors.

A block-scaled (microscaling) tensor is data and one scale for each block of the last axis.
"""

from typing import Any, Self

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.tosa.checks import every, ranks, same_shapes, shape_ranks, single_elements
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
    if type_ is not None and type_ != op.output.type:
        raise VerifyException(f"{op.name}: values have type {type_}, result is {op.output.type}")


TOSA.add(
    {
        "ConstOp": Row(
            "const",
            "{values: any} -> output",
            None,
            _verify_const,
            "A constant tensor.",
            (Pure(), ConstantLike()),
            ConstBase,
        ),
        "CastOp": Row(
            "cast",
            "input {input_unsigned?: bool} -> output",
            SYNTAX,
            same_shapes("input", "output"),
            "Convert element types; `input_unsigned` is newer than torch-mlir-opt 20261001.",
        ),
        "RescaleOp": Row(
            "rescale",
            "input, multiplier, shift, input_zp, output_zp {scale32: bool,"
            " rounding_mode: rounding_mode, per_channel: bool, input_unsigned: bool,"
            " output_unsigned: bool} -> output",
            SYNTAX,
            every(
                same_shapes("input", "output"),
                ranks(multiplier=1, shift=1),
                single_elements("input_zp", "output_zp"),
            ),
            "Fixed-point rescale between integer types, per tensor or per channel of the last axis.",
        ),
        "FFT2DOp": Row(
            "fft2d",
            "input_real, input_imag {inverse: bool, local_bound?: bool}"
            " -> output_real, output_imag",
            SYNTAX,
            every(
                ranks(input_real=3),
                same_shapes("input_real", "input_imag", "output_real", "output_imag"),
            ),
            "Fourier transform over H and W of a complex [N, H, W]; the inverse is not normalized.",
        ),
        "RFFT2DOp": Row(
            "rfft2d",
            "input_real {local_bound?: bool} -> output_real, output_imag",
            SYNTAX,
            every(ranks(input_real=3), same_shapes("output_real", "output_imag")),
            "Fourier transform of a real [N, H, W]; the results are [N, H, W/2 + 1].",
        ),
        "CustomOp": Row(
            "custom",
            "input_list*: any {operator_name: string, domain_name: string,"
            " implementation_attrs: string} -> output_list*: any",
            SYNTAX,
            doc="An operation of the vendor `domain_name`, opaque to TOSA.",
            traits=(),
        ),
    }
)

# --- block-scaled tensors --------------------------------------------------------------------------

BLOCK = "{block_size: block_size}"

TOSA.add(
    {
        "CastToBlockScaledOp": Row(
            "cast_to_block_scaled",
            f"input_data {BLOCK} -> output_data, output_scale",
            SYNTAX,
            same_shapes("input_data", "output_data"),
            "Split a float tensor into narrow data and block scales.",
        ),
        "CastFromBlockScaledOp": Row(
            "cast_from_block_scaled",
            f"input_data, input_scale {BLOCK} -> output_data",
            SYNTAX,
            same_shapes("input_data", "output_data"),
            "Multiply narrow data by its block scales.",
        ),
        "MatMulTBlockScaledOp": Row(
            "matmul_t_block_scaled",
            f"a_data, a_scale, b_data, b_scale {BLOCK} -> output_data",
            SYNTAX,
            ranks(a_data=3, a_scale=3, b_data=3, b_scale=3, output_data=3),
            "a [N, H, C] times b [N, W, C] transposed, both block-scaled along C.",
        ),
        "Conv2DBlockScaledOp": Row(
            "conv2d_block_scaled",
            "input_data, input_scale, weight_data, weight_scale, bias, pad: shape, stride: shape,"
            f" dilation: shape {BLOCK} -> output",
            SYNTAX,
            every(
                ranks(input_data=4, input_scale=4, weight_data=4, weight_scale=4, output=4, bias=1),
                shape_ranks(
                    pad=(4, "top, bottom, left, right"), stride=(2, "y, x"), dilation=(2, "y, x")
                ),
            ),
            "conv2d of block-scaled input and weight; pad, stride, dilation are shape operands.",
        ),
        "ReshapeBlockScaledOp": Row(
            "reshape_block_scaled",
            f"input*, new_value_shape: shape {BLOCK} -> output*",
            FULL_ENUMS,
            doc="Reshape data and its scales together.",
        ),
        "RowGatherBlockScaledOp": Row(
            "row_gather_block_scaled",
            f"values*, indices, row_count {BLOCK} -> output*",
            FULL_ENUMS,
            doc="row_gather of data and its scales together.",
        ),
    }
)
