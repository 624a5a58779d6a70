"""Convolutions (channels last, one bias per output channel) and batched matrix products.

Zero points are one-element tensors and belong to quantized element types; floats take zeros.
"""

from abc import ABC

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.tosa.base import (
    INT_LIST,
    TENSOR,
    TosaOp,
    require,
    require_length,
    require_positive,
    require_rank,
    require_single_element,
    same_dim,
    shape_of,
)


class WindowedConvOp(TosaOp, ABC):
    """The operands all convolutions have."""

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    input_zp = operand_def(TENSOR)
    weight_zp = operand_def(TENSOR)
    stride = prop_def(INT_LIST)
    acc_type = prop_def()
    local_bound = opt_prop_def(BoolAttr)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def _verify_ranks(self, spatial: int) -> None:
        rank = spatial + 2
        require_rank(self, "input", self.input, rank)
        require_rank(self, "weight", self.weight, rank)
        require_rank(self, "bias", self.bias, 1)
        require_rank(self, "result", self.output, rank)
        require_single_element(self, input_zp=self.input_zp, weight_zp=self.weight_zp)
        require_positive(self, "stride", self.stride, spatial)

    def _verify_channels(self, in_channels: int, out_channels: int) -> None:
        source, result, bias = map(shape_of, (self.input, self.output, self.bias))
        if source is not None and not same_dim(source[-1], in_channels):
            raise VerifyException(
                f"{self.name}: input {self.input.type} has {source[-1]} channels, "
                f"weight {self.weight.type} takes {in_channels}"
            )
        if result is not None and not same_dim(result[-1], out_channels):
            raise VerifyException(
                f"{self.name}: weight {self.weight.type} gives {out_channels} channels, "
                f"result is {self.output.type}"
            )
        if bias is not None and bias[0] != 1 and not same_dim(bias[0], out_channels):
            raise VerifyException(
                f"{self.name}: bias {self.bias.type} must have 1 or {out_channels} elements"
            )


class ConvOp(WindowedConvOp, ABC):
    """A convolution whose output size follows from padding, stride and dilation."""

    pad = prop_def(INT_LIST)
    dilation = prop_def(INT_LIST)

    def _verify_window(self, spatial: int, kernel: tuple[int, ...]) -> None:
        require_length(self, "pad", self.pad, 2 * spatial)
        require_positive(self, "dilation", self.dilation, spatial)
        source, result = shape_of(self.input), shape_of(self.output)
        if source is None or result is None:
            return
        pad, stride, dilation = (
            attr.get_values() for attr in (self.pad, self.stride, self.dilation)
        )
        for axis in range(spatial):
            size, width = source[axis + 1], kernel[axis]
            if DYNAMIC_INDEX in (size, width):
                continue
            padded = size + pad[2 * axis] + pad[2 * axis + 1]
            wanted = (padded - (width - 1) * dilation[axis] - 1) // stride[axis] + 1
            require(
                same_dim(wanted, result[axis + 1]),
                f"{self.name}: dimension {axis + 1} of the result must be {wanted}, "
                f"got {self.output.type}",
            )


@irdl_op_definition
class Conv2DOp(ConvOp):
    """Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; pad is top, bottom, left, right."""

    name = "tosa.conv2d"

    def verify_(self) -> None:
        self._verify_ranks(2)
        if (weight := shape_of(self.weight)) is not None:
            self._verify_channels(weight[3], weight[0])
            self._verify_window(2, weight[1:3])


@irdl_op_definition
class Conv3DOp(ConvOp):
    """Input [N, D, H, W, Cin], weight [Cout, KD, KH, KW, Cin]."""

    name = "tosa.conv3d"

    def verify_(self) -> None:
        self._verify_ranks(3)
        if (weight := shape_of(self.weight)) is not None:
            self._verify_channels(weight[4], weight[0])
            self._verify_window(3, weight[1:4])


@irdl_op_definition
class DepthwiseConv2DOp(ConvOp):
    """Input [N, H, W, C], weight [KH, KW, C, M]; the result has C*M channels."""

    name = "tosa.depthwise_conv2d"

    def verify_(self) -> None:
        self._verify_ranks(2)
        if (weight := shape_of(self.weight)) is not None:
            channels, multiplier = weight[2:]
            out_channels = DYNAMIC_INDEX if -1 in weight[2:] else channels * multiplier
            self._verify_channels(channels, out_channels)
            self._verify_window(2, weight[:2])


@irdl_op_definition
class TransposeConv2DOp(WindowedConvOp):
    """Input [N, H, W, Cin], weight [Cout, KH, KW, Cin]; out_pad is added to the result."""

    name = "tosa.transpose_conv2d"

    out_pad = prop_def(INT_LIST)

    def verify_(self) -> None:
        self._verify_ranks(2)
        require_length(self, "out_pad", self.out_pad, 4)
        weight, source, result = map(shape_of, (self.weight, self.input, self.output))
        if weight is None:
            return
        self._verify_channels(weight[3], weight[0])
        if source is None or result is None:
            return
        pad, stride = self.out_pad.get_values(), self.stride.get_values()
        for axis in range(2):
            size, width = source[axis + 1], weight[axis + 1]
            if DYNAMIC_INDEX in (size, width):
                continue
            wanted = (size - 1) * stride[axis] + pad[2 * axis] + pad[2 * axis + 1] + width
            require(
                same_dim(wanted, result[axis + 1]),
                f"{self.name}: dimension {axis + 1} of the result must be {wanted}, "
                f"got {self.output.type}",
            )


class MatMulBase(TosaOp, ABC):
    """Operands and checks of the batched matrix products."""

    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    a_zp = operand_def(TENSOR)
    b_zp = operand_def(TENSOR)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def _verify(self, b_contracted: int) -> None:
        for name, value in (("a", self.a), ("b", self.b), ("result", self.output)):
            require_rank(self, name, value, 3)
        require_single_element(self, a_zp=self.a_zp, b_zp=self.b_zp)
        a, b, result = map(shape_of, (self.a, self.b, self.output))
        if a is None or b is None:
            return
        require(
            same_dim(a[2], b[b_contracted]),
            f"{self.name}: contracted dimensions differ in {self.a.type} and {self.b.type}",
        )
        if result is None:
            return
        batch_fits = same_dim(a[0], result[0])
        rows_fit = same_dim(a[1], result[1])
        columns_fit = same_dim(b[3 - b_contracted], result[2])
        require(
            batch_fits and rows_fit and columns_fit,
            f"{self.name}: the product of {self.a.type} and {self.b.type} "
            f"is not {self.output.type}",
        )


@irdl_op_definition
class MatMulOp(MatMulBase):
    """a [N, H, C] times b [N, C, W], in batches of one size."""

    name = "tosa.matmul"

    def verify_(self) -> None:
        self._verify(b_contracted=1)


@irdl_op_definition
class MatMulTOp(MatMulBase):
    """a [N, H, C] times b [N, W, C] transposed."""

    name = "tosa.matmul_t"

    def verify_(self) -> None:
        self._verify(b_contracted=2)
