"""Grouped products, which mixtures of experts are made of: rows in order of their expert times its expert's matrix.

Rows are laid out in blocks of one expert each, and the blocks are one batched product with the matrices of their
experts. With blocks of the average number of rows of an expert that is at most twice the work of the rows themselves,
whatever the number of experts, and at most twice as many matrices as there are experts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from torch2mlir.transforms.decompositions.registry import decomposes, decomposes_named

aten = torch.ops.aten

_ROWS_OF_A_BLOCK = 16
"""Where the number of rows is only known when the program runs."""


class _Blocks(NamedTuple):
    """How rows are laid out in blocks.

    Attributes:
        size: rows of a block.
        experts: of each block; blocks that are left over have the last one.
        rows: the row at each place of the blocks.
        is_row: whether a place holds a row.
        places: of each row.
        is_grouped: whether a row is in a group; those behind the last one are not.
    """

    size: int
    experts: Any
    rows: Any
    is_row: Any
    places: Any
    is_grouped: Any


def _blocks(count: int, ends: Tensor) -> _Blocks:
    """Blocks for ``count`` rows in groups that end at ``ends``, a tensor."""
    groups = ends.shape[0]
    ends = ends.to(torch.int64)
    size = max(1, -(-count // groups)) if isinstance(count, int) else _ROWS_OF_A_BLOCK
    blocks = (count + groups * (size - 1)) // size
    starts = aten.constant_pad_nd(ends[:-1], [1, 0])
    last_block = ((ends - starts + (size - 1)) // size).cumsum(0)
    first_block = aten.constant_pad_nd(last_block[:-1], [1, 0])

    def group_of(positions: Tensor, bounds: Tensor) -> tuple[Any, Any]:
        group = (bounds <= positions.unsqueeze(1)).to(torch.int64).sum(1)
        return group.clamp(max=groups - 1), group < groups

    block = torch.arange(blocks)
    experts, is_used = group_of(block, last_block)
    first_row = starts[experts] + (block - first_block[experts]) * size
    rows = (first_row.unsqueeze(1) + torch.arange(size)).reshape(-1)
    is_row = (rows < ends[experts].repeat_interleave(size)) & is_used.repeat_interleave(size)
    row = torch.arange(count)
    expert, is_grouped = group_of(row, ends)
    places = first_block[expert] * size + row - starts[expert]
    last_place = blocks * size - 1
    return _Blocks(
        size,
        experts,
        torch.where(is_row, rows, 0),
        is_row.unsqueeze(1),
        torch.where(is_grouped, places, 0).clamp(max=last_place),
        is_grouped.unsqueeze(1),
    )


def _in_blocks(a: Tensor, blocks: _Blocks) -> Tensor:
    """``[blocks, rows of a block, columns]``; zeros where there is no row."""
    rows = torch.where(blocks.is_row, a.index_select(0, blocks.rows), 0)
    return rows.reshape([-1, blocks.size, a.shape[1]])


def _rows_by_matrices(a: Any, matrices: Any, ends: Any) -> Any:
    """``[S, K]`` times ``[E, K, N]``: each row times the matrix of its group; zeros behind the last group."""
    if isinstance(a.shape[0], int) and a.shape[0] == 0:
        return a.new_zeros([0, matrices.shape[2]])
    blocks = _blocks(a.shape[0], ends)
    product = torch.bmm(_in_blocks(a, blocks), matrices.index_select(0, blocks.experts))
    rows = product.flatten(0, 1).index_select(0, blocks.places)
    return torch.where(blocks.is_grouped, rows, 0)


def _columns_by_rows(a: Any, b: Any, ends: Any) -> Any:
    """``[M, S]`` times ``[S, N]``, one product for each group of the shared dimension: ``[E, M, N]``."""
    zeros = a.new_zeros([ends.shape[0], a.shape[0], b.shape[1]])
    if isinstance(b.shape[0], int) and b.shape[0] == 0:
        return zeros
    blocks = _blocks(b.shape[0], ends)
    left = _in_blocks(a.transpose(0, 1), blocks).transpose(1, 2)
    products = torch.bmm(left, _in_blocks(b, blocks))
    return zeros.index_add(0, blocks.experts, products)


@decomposes(aten._grouped_mm.default)
def _grouped_mm(
    a: Tensor,
    b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Groups of the rows of ``a``, of the columns of ``b``, of the dimension they share, or of both: a batch."""
    if bias is not None:
        return NotImplemented
    match a.dim(), b.dim():
        case 2, 3:
            result = _rows_by_matrices(a, b, offs)
        case 3, 2:
            by_rows = _rows_by_matrices(b.transpose(0, 1), a.transpose(1, 2), offs)
            result = by_rows.transpose(0, 1)
        case 2, 2:
            result = _columns_by_rows(a, b, offs)
        case _:
            result = torch.bmm(a, b)
    return result if out_dtype is None else result.to(out_dtype)


@decomposes_named("torch.transformers.grouped_mm_fallback")
def _grouped_mm_of_transformers(a: Any, weight: Any, offs: Any) -> Any:
    """What transformers says where PyTorch's op is not to be had: the same product of rows by matrices."""
    return _rows_by_matrices(a, weight, offs)


@decomposes_named("torch.transformers.grouped_mm_fallback_backward")
def _grouped_mm_of_transformers_backward(a: Any, weight: Any, offs: Any, grad: Any) -> Any:
    """The gradients of the rows and of the matrices."""
    rows = _rows_by_matrices(grad, weight.transpose(1, 2), offs)
    return rows, _columns_by_rows(a.transpose(0, 1), grad, offs)
