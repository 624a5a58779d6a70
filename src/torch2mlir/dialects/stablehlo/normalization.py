"""StableHLO batch norms."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import shape_of


class BatchNorm(IRDLOperation):
    """Normalization of each feature over all other dimensions."""

    epsilon = prop_def(FloatAttr)
    feature_index = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        """The first operand and result have one shape, the others one entry per feature."""
        shape, feature = shape_of(self.operands[0]), self.feature_index.value.data
        checks.require_dims([feature], len(shape), "feature_index")
        for value in (*self.operands, *self.results):
            if len(shape_of(value)) != 1 or len(shape) == 1:
                checks.require_shape(value, shape, "a batch")
            else:
                checks.require_shape(value, [shape[feature]], "a per-feature value")


@irdl_op_definition
class BatchNormInferenceOp(BatchNorm):
    """Batch norm with given mean and variance."""

    name = "stablehlo.batch_norm_inference"

    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    result = result_def(TensorType)


@irdl_op_definition
class BatchNormTrainingOp(BatchNorm):
    """Batch norm with the batch's own mean and variance, which are results too."""

    name = "stablehlo.batch_norm_training"

    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    output = result_def(TensorType)
    batch_mean = result_def(TensorType)
    batch_var = result_def(TensorType)


@irdl_op_definition
class BatchNormGradOp(BatchNorm):
    """Gradients of ``batch_norm_training``."""

    name = "stablehlo.batch_norm_grad"

    operand = operand_def(TensorType)
    scale = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    grad_output = operand_def(TensorType)
    grad_operand = result_def(TensorType)
    grad_scale = result_def(TensorType)
    grad_offset = result_def(TensorType)


OPERATIONS = (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
