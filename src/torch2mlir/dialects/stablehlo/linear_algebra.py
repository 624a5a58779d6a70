"""StableHLO matrix decompositions, triangular systems, Fourier transforms and batch norms."""

from __future__ import annotations

from torch2mlir.dialects.rows import Row, RowOp
from torch2mlir.dialects.stablehlo import checks
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.kinds import StableHLO, syntax


def _verify_cholesky(op: RowOp) -> None:
    shape = shape_of(op.a)
    square = len(shape) >= 2 and checks.same_dim(shape[-1], shape[-2])
    require(square, f"expected square matrices, got {checks.shape_text(shape)}")
    checks.require_same_shapes(op)


def _verify_triangular_solve(op: RowOp) -> None:
    a, b = shape_of(op.a), shape_of(op.b)
    require(len(a) == len(b) >= 2, "a and b must be batches of matrices of one rank")
    require(checks.same_dim(a[-1], a[-2]), f"a must be square, got {checks.shape_text(a)}")
    checks.require_shape(op.result, b, "result")


def _verify_fft(op: RowOp) -> None:
    rank, length = len(shape_of(op.operand)), len(op.fft_length.get_values())
    require(1 <= length <= min(rank, 3), "fft_length must name one to three dimensions")
    checks.require_length(shape_of(op.result), rank, "result")


def _verify_batch_norm(op: RowOp) -> None:
    """The first operand and result have one shape, the others one entry per feature."""
    shape, feature = shape_of(op.operands[0]), op.feature_index.value.data
    checks.require_dims([feature], len(shape), "feature_index")
    for value in (*op.operands, *op.results):
        if len(shape_of(value)) != 1 or len(shape) == 1:
            checks.require_shape(value, shape, "a batch")
        else:
            checks.require_shape(value, [shape[feature]], "a per-feature value")


NORM = "{epsilon: float, feature_index: i64}"

StableHLO.add(
    {
        "CholeskyOp": Row(
            "cholesky",
            "a {lower?: bool} -> result",
            syntax("same", lower="lower"),
            _verify_cholesky,
            "Cholesky decomposition of a batch of matrices.",
        ),
        "TriangularSolveOp": Row(
            "triangular_solve",
            "a, b {left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: transpose}"
            " -> result",
            rule=_verify_triangular_solve,
            doc="Solution of a batch of triangular systems, ``a x = b`` or ``x a = b``.",
        ),
        "FftOp": Row(
            "fft",
            "operand {fft_type: fft_type, fft_length: i64s} -> result",
            syntax(type="fft_type", length="fft_length"),
            _verify_fft,
            "Fourier transform over the last dimensions.",
        ),
        "BatchNormInferenceOp": Row(
            "batch_norm_inference",
            f"operand, scale, offset, mean, variance {NORM} -> result",
            rule=_verify_batch_norm,
        ),
        "BatchNormTrainingOp": Row(
            "batch_norm_training",
            f"operand, scale, offset {NORM} -> output, batch_mean, batch_var",
            rule=_verify_batch_norm,
        ),
        "BatchNormGradOp": Row(
            "batch_norm_grad",
            f"operand, scale, mean, variance, grad_output {NORM}"
            " -> grad_operand, grad_scale, grad_offset",
            rule=_verify_batch_norm,
            doc="Gradients of ``batch_norm_training``.",
        ),
    }
)
