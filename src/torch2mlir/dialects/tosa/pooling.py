"""Two-dimensional pooling, channels last: [N, H, W, C]; pad is top, bottom, left, right."""

from abc import ABC

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.tosa.attributes import NanModeAttr
from torch2mlir.dialects.tosa.base import (
    INT_LIST,
    PROPAGATE,
    SHAPE,
    TENSOR,
    TosaOp,
    require,
    require_length,
    require_positive,
    require_rank,
    require_same_element_type,
    require_shape_rank,
    require_single_element,
    same_dim,
    shape_of,
)


class PoolOp(TosaOp, ABC):
    """A pooling window given by attributes."""

    input = operand_def(TENSOR)
    kernel = prop_def(INT_LIST)
    stride = prop_def(INT_LIST)
    pad = prop_def(INT_LIST)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "input", self.input, 4)
        require_rank(self, "result", self.output, 4)
        require_same_element_type(self, input=self.input, output=self.output)
        require_positive(self, "kernel", self.kernel, 2)
        require_positive(self, "stride", self.stride, 2)
        require_length(self, "pad", self.pad, 4)
        source, result = shape_of(self.input), shape_of(self.output)
        if source is None or result is None:
            return
        kernel, stride, pad = (attr.get_values() for attr in (self.kernel, self.stride, self.pad))
        for axis in range(2):
            size = source[axis + 1]
            if size == DYNAMIC_INDEX:
                continue
            padded = size + pad[2 * axis] + pad[2 * axis + 1]
            wanted = (padded - kernel[axis]) // stride[axis] + 1
            require(
                same_dim(wanted, result[axis + 1]),
                f"{self.name}: dimension {axis + 1} of the result must be {wanted}, "
                f"got {self.output.type}",
            )


@irdl_op_definition
class AvgPool2DOp(PoolOp):
    """The mean over the window; padding does not count."""

    name = "tosa.avg_pool2d"

    # xDSL orders a subclass's operands before its base's: name them all here.
    input = operand_def(TENSOR)
    input_zp = operand_def(TENSOR)
    output_zp = operand_def(TENSOR)
    acc_type = prop_def()

    def verify_(self) -> None:
        super().verify_()
        require_single_element(self, input_zp=self.input_zp, output_zp=self.output_zp)


@irdl_op_definition
class MaxPool2DOp(PoolOp):
    """The largest value of the window."""

    name = "tosa.max_pool2d"

    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)


class AdaptivePoolOp(TosaOp, ABC):
    """A pooling window given by shape operands."""

    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "input", self.operands[0], 4)
        require_rank(self, "result", self.output, 4)
        kernel, stride, pad = self.operands[-3:]
        require_shape_rank(self, "kernel", kernel, 2, "height, width")
        require_shape_rank(self, "stride", stride, 2, "height, width")
        require_shape_rank(self, "pad", pad, 4, "top, bottom, left, right")


@irdl_op_definition
class AvgPool2DAdaptiveOp(AdaptivePoolOp):
    """avg_pool2d with kernel, stride and pad as `!tosa.shape` values."""

    name = "tosa.avg_pool2d_adaptive"

    input = operand_def(TENSOR)
    input_zp = operand_def(TENSOR)
    output_zp = operand_def(TENSOR)
    kernel = operand_def(SHAPE)
    stride = operand_def(SHAPE)
    pad = operand_def(SHAPE)
    acc_type = prop_def()


@irdl_op_definition
class MaxPool2DAdaptiveOp(AdaptivePoolOp):
    """max_pool2d with kernel, stride and pad as `!tosa.shape` values."""

    name = "tosa.max_pool2d_adaptive"

    input = operand_def(TENSOR)
    kernel = operand_def(SHAPE)
    stride = operand_def(SHAPE)
    pad = operand_def(SHAPE)
    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)
