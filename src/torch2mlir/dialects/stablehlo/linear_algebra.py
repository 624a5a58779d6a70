"""StableHLO matrix decompositions, triangular systems and Fourier transforms."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from torch2mlir.dialects.stablehlo import checks, syntax
from torch2mlir.dialects.stablehlo.attrs import I64_ARRAY
from torch2mlir.dialects.stablehlo.checks import require, shape_of
from torch2mlir.dialects.stablehlo.enums import (
    FftTypeAttr,
    TransposeAttr,
)
from torch2mlir.dialects.stablehlo.syntax import SAME, Clause, HloOp, TypeSyntax


@irdl_op_definition
class CholeskyOp(HloOp):
    """Cholesky decomposition of a batch of matrices."""

    name = "stablehlo.cholesky"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (syntax.bool_clause("lower", "lower"),)
    TYPES: ClassVar[TypeSyntax] = SAME

    a = operand_def(TensorType)
    lower = opt_prop_def(BoolAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        shape = shape_of(self.a)
        square = len(shape) >= 2 and checks.same_dim(shape[-1], shape[-2])
        require(square, f"expected square matrices, got {checks.shape_text(shape)}")
        checks.require_same_shapes(self)


@irdl_op_definition
class TriangularSolveOp(IRDLOperation):
    """Solution of a batch of triangular systems, ``a x = b`` or ``x a = b``."""

    name = "stablehlo.triangular_solve"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    left_side = prop_def(BoolAttr)
    lower = prop_def(BoolAttr)
    unit_diagonal = prop_def(BoolAttr)
    transpose_a = prop_def(TransposeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        a, b = shape_of(self.a), shape_of(self.b)
        require(len(a) == len(b) >= 2, "a and b must be batches of matrices of one rank")
        require(checks.same_dim(a[-1], a[-2]), f"a must be square, got {checks.shape_text(a)}")
        checks.require_shape(self.result, b, "result")


@irdl_op_definition
class FftOp(HloOp):
    """Fourier transform over the last dimensions."""

    name = "stablehlo.fft"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        syntax.enum_clause("type", "fft_type", FftTypeAttr),
        syntax.i64_array_clause("length", "fft_length"),
    )

    operand = operand_def(TensorType)
    fft_type = prop_def(FftTypeAttr)
    fft_length = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        rank, length = len(shape_of(self.operand)), len(self.fft_length.get_values())
        require(1 <= length <= min(rank, 3), "fft_length must name one to three dimensions")
        checks.require_length(shape_of(self.result), rank, "result")


OPERATIONS = (
    CholeskyOp,
    FftOp,
    TriangularSolveOp,
)
