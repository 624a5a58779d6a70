"""Reductions along one axis: the reduced dimension stays with size 1, argmax and argmin drop it."""

from abc import ABC

from xdsl.dialects.builtin import I32, IntegerAttr, IntegerType
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
    PROPAGATE,
    TENSOR,
    TosaOp,
    axis_of,
    element_type,
    require,
    require_same_element_type,
    same_dim,
    shape_of,
)


class ReductionOp(TosaOp, ABC):
    """Reduce `axis` to size 1."""

    input = operand_def(TENSOR)
    axis = prop_def(IntegerAttr[I32])
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        axis = axis_of(self, self.axis, self.input)
        require_same_element_type(self, input=self.input, output=self.output)
        source, result = shape_of(self.input), shape_of(self.output)
        if source is None or result is None:
            return
        wanted = (*source[:axis], 1, *source[axis + 1 :])
        require(
            len(result) == len(wanted) and all(map(same_dim, wanted, result)),
            f"{self.name}: reducing axis {axis} of {self.input.type} "
            f"cannot give {self.output.type}",
        )


class NanModeReductionOp(ReductionOp, ABC):
    """A reduction that compares, and so has an opinion on NaN."""

    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)


class ArgReductionOp(TosaOp, ABC):
    """The index of an extreme value along `axis`, which disappears from the shape."""

    input = operand_def(TENSOR)
    axis = prop_def(IntegerAttr[I32])
    nan_mode = opt_prop_def(NanModeAttr, default_value=PROPAGATE)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        axis = axis_of(self, self.axis, self.input)
        require(
            isinstance(element_type(self.output), IntegerType),
            f"{self.name}: result must hold integers, got {self.output.type}",
        )
        source, result = shape_of(self.input), shape_of(self.output)
        if source is None or result is None:
            return
        wanted = (*source[:axis], *source[axis + 1 :])
        require(
            len(result) == len(wanted) and all(map(same_dim, wanted, result)),
            f"{self.name}: {self.input.type} without axis {axis} is not {self.output.type}",
        )


@irdl_op_definition
class ReduceAllOp(ReductionOp):
    """Logical and of booleans."""

    name = "tosa.reduce_all"


@irdl_op_definition
class ReduceAnyOp(ReductionOp):
    """Logical or of booleans."""

    name = "tosa.reduce_any"


@irdl_op_definition
class ReduceMaxOp(NanModeReductionOp):
    """The largest value."""

    name = "tosa.reduce_max"


@irdl_op_definition
class ReduceMinOp(NanModeReductionOp):
    """The smallest value."""

    name = "tosa.reduce_min"


@irdl_op_definition
class ReduceProductOp(ReductionOp):
    """The product."""

    name = "tosa.reduce_product"


@irdl_op_definition
class ReduceSumOp(ReductionOp):
    """The sum."""

    name = "tosa.reduce_sum"


@irdl_op_definition
class ArgMaxOp(ArgReductionOp):
    """Index of the largest value, the first of equals."""

    name = "tosa.argmax"


@irdl_op_definition
class ArgMinOp(ArgReductionOp):
    """Index of the smallest value, the first of equals. Newer than torch-mlir-opt 20261001."""

    name = "tosa.argmin"
