"""LU factors that gradients read: of the transposed matrix where the matrix lies in memory row by row.

``det`` and ``slogdet`` hand the factors they have made to the formula of their gradient. LAPACK reads columns, so
PyTorch's kernels factor ``A.mT`` if a real ``A`` is contiguous, and AOTAutograd has written the formula for that
(``linalg_det_backward`` and ``slogdet_backward`` in FunctionsManual.cpp ask for the same layout). Values of the torch
dialect have no layout: which of the two matrices is factored is said here.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch
from torch.fx import Node
from xdsl.ir import SSAValue

from torch2mlir.dialects.torch import core

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

aten = torch.ops.aten

DETERMINANTS = {aten._linalg_det.default: 1, aten._linalg_slogdet.default: 2}
"""Op -> the position of the factors among its results; the pivots follow."""


def factored(importer: GraphImporter, node: Node) -> SSAValue:
    """The matrix that a determinant is computed of: the transposed one has the same, and the factors to be read."""
    matrix = node.args[0]
    assert isinstance(matrix, Node)
    value, fake = importer.operand(matrix), matrix.meta["val"]
    if fake.is_complex() or not fake.is_contiguous() or not _factors_are_read(node):
        return value
    scalar = importer.constants.scalar
    operands = [value, scalar(-2), scalar(-1)]
    op = core.build("torch.aten.transpose.int", operands, [importer.type_of(fake.mT)])
    importer.insert(op)
    return op.results[0]


def _factors_are_read(node: Node) -> bool:
    first = DETERMINANTS[node.target]  # type: ignore[index]
    return any(
        user.target is operator.getitem and user.args[1] in (first, first + 1) and user.users
        for user in node.users
    )
