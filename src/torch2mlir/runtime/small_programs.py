"""Which programs compute so little that handing parts of it to other threads takes longer than they save."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.placing import ops_in
from torch2mlir.runtime.lowered import LoweredFunction

_MOST = 1 << 18
"""Elements that are read or written and products that are added up: some 30 us of one core.

An MLP of eight layers of 64 comes to a quarter of it, which two threads take twice as long for as one.
"""
_PRODUCTS = ("matmul", "gemm", "dot", "contract", "mmt4d", "vecmat", "matvec")
_UNKNOWN = {"for", "while", "while_loop", "loop", "scan", "lstm", "gru", "rnn", "attention"}
"""Ops that do more than their operands tell."""


def is_small(function: LoweredFunction) -> bool:
    """Whether one thread is enough for a program, in any dialect."""
    return does_at_most(_MOST, function)


def does_at_most(most: int, function: LoweredFunction) -> bool:
    """Whether a program reads, writes and adds up so many elements at most; of unknown sizes nobody knows."""
    work = 0
    for op in ops_in(function.entry):
        kind = op.name.rpartition(".")[2].lower()
        shapes = [_shape(v) for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        if kind in _UNKNOWN or any(size < 0 for shape in shapes for size in shape):
            return False
        work += sum(map(math.prod, shapes)) + _products(kind, op, shapes)
        if work > most:
            return False
    return True


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def _products(kind: str, op: Operation, shapes: Sequence[tuple[int, ...]]) -> int:
    """How many products are added up: ``m * k * n`` of matrices, and no fewer than there are in a convolution."""
    if len(shapes) < 3:
        return 0
    first, second, *_, result = map(math.prod, shapes)
    if "conv" in kind:
        return result * second // min((size for size in shapes[1] if size > 1), default=1)
    is_generic = kind == "generic" and "reduction" in str(op.properties["iterator_types"])
    if is_generic or any(word in kind for word in _PRODUCTS):
        return math.isqrt(first * second * result)
    return 0
