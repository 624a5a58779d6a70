"""StableHLO matrix decompositions, triangular systems, Fourier transforms and batch norms."""

from __future__ import annotations

from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import shape_of
from torch2mlir.dialects.stablehlo.kinds import StableHLO
from torch2mlir.dialects.tensor_rules import require, same_dim


def _verify_cholesky(op: RowOp) -> None:
    shape = shape_of(op.a)
    square = len(shape) >= 2 and same_dim(shape[-1], shape[-2])
    require(square, f"expected square matrices, got {checks.shape_text(shape)}")


def _verify_triangular_solve(op: RowOp) -> None:
    a, b = shape_of(op.a), shape_of(op.b)
    require(len(a) == len(b) >= 2, "a and b must be batches of matrices of one rank")
    require(same_dim(a[-1], a[-2]), f"a must be square, got {checks.shape_text(a)}")


def _verify_fft(op: RowOp) -> None:
    rank, length = len(shape_of(op.operand)), len(op.fft_length.get_values())
    require(1 <= length <= min(rank, 3), "fft_length must name one to three dimensions")


def _verify_batch_norm(op: RowOp) -> None:
    """The first operand and result have one shape, the others one entry per feature."""
    shape, feature = shape_of(op.operands[0]), op.feature_index.value.data
    checks.require_dims([feature], len(shape), "feature_index")
    for value in (*op.operands, *op.results):
        if len(shape_of(value)) != 1 or len(shape) == 1:
            checks.require_shape(value, shape, "a batch")
        else:
            checks.require_shape(value, [shape[feature]], "a per-feature value")


StableHLO.rows(
    """
    cholesky a: [*s] {lower?: bool} -> result: [*s]
      | same, lower = lower |
      Cholesky decomposition of a batch of matrices.
    triangular_solve a, b: [*s] {left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: transpose} ->
      result: [*s]
      Solution of a batch of triangular systems, ``a x = b`` or ``x a = b``.
    fft operand: [*s] {fft_type: fft_type, fft_length: i64s} -> result: [~s]
      | type = fft_type, length = fft_length |
      Fourier transform over the last dimensions.
    """,
    rules={
        "cholesky": _verify_cholesky,
        "triangular_solve": _verify_triangular_solve,
        "fft": _verify_fft,
    },
)
StableHLO.rows(
    """
    batch_norm_inference operand, scale, offset, mean, variance {epsilon: float, feature_index: i64} -> result
      With the statistics given.
    batch_norm_training operand, scale, offset {epsilon: float, feature_index: i64} ->
      output, batch_mean, batch_var
      With the statistics of the batch.
    batch_norm_grad operand, scale, mean, variance, grad_output {epsilon: float, feature_index: i64} ->
      grad_operand, grad_scale, grad_offset
      Gradients of ``batch_norm_training``.
    """,
    rule=_verify_batch_norm,
)
