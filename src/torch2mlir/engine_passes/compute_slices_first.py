"""``compute-slices-first``: a part of a tensor that is read by position is copied out of it before.

IREE 3.13 reads the part where it lies, and takes its elements to follow each other there: every element of
``x[:, 0][i]`` is the first one. It does so where the distance between them is only known at run time, a size of the
whole tensor behind its first.

A part that leaves elements of a row out, every second or all but one, it refuses to read so (``x[:, ::2].flip(1)``);
of an argument of two dimensions it reads columns.
Where the whole is a wider copy of something, of 16 bits in 32, it computes the copy where the part is read and forgets
the steps: ``x.float()[::2] * 2`` is twice the first half. What is read by steps is computed before.

A column that is multiplied as a row, ``x[:, 2] @ m``, it takes for elements that follow each other: of StableHLO
always, a convolution of the column too, else with data tiling.

It refuses a part of one element that gets more dimensions than the tensor has it is taken from, ``x[:1][:, None]`` of a
vector: IREE takes the part in that shape at once, an op that its own verifier refuses.

A part that a scatter puts into its whole, ``x.index_add(0, i, x[:3])``, it reads while it updates the whole where it
lies, also from behind a barrier: such a part is copied.

Two elements of a tensor that is computed from parts, ``y = x[:2] * x[2:]`` and then ``y[0] * y[1]``, it computes where
they are used, each from parts of parts; if ``x`` is a wider copy of what is given, its compiler does not end and takes
all memory. Such a tensor is computed before. Integers are multiplied like this on TOSA, ``x.prod()``.

Its compiler does not end either where an element of a wider copy in another shape is broadcast, as
``x.float().flatten()[0] * y`` of half floats: such an element is computed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.contract.element_types import bit_width
from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import iree_linalg_ext, linalg, stablehlo, tosa
from torch2mlir.dialects.tensors import element_of, integers, shape_of
from torch2mlir.engine_passes.copies import Copies
from torch2mlir.engine_passes.kept_apart import hide, keep_apart
from torch2mlir.engine_passes.op_kinds import (
    JOINS,
    LITERALS,
    LOOKUPS,
    RESHAPES,
    REVERSALS,
    SLICES,
    TRANSPOSES,
    is_elementwise,
)
from torch2mlir.engine_passes.own_written_arguments import destinations
from torch2mlir.engine_passes.read_places import permutation_of

_BY_POSITION = LOOKUPS | REVERSALS
"""Ops that read elements by positions they compute, or that IREE makes such reads of."""
_PRODUCTS = frozenset(
    {
        *(stablehlo.DotGeneralOp.name, "stablehlo.dot", tosa.MatMulOp.name),
        *("linalg.matmul", "linalg.batch_matmul", "linalg.matvec", "linalg.vecmat", "linalg.dot"),
        *("linalg.batch_matvec", "linalg.batch_vecmat", "linalg.mmt4d", "linalg.pack"),
    }
)
_SCATTERS = (stablehlo.ScatterOp.name, tosa.ScatterOp.name, iree_linalg_ext.ScatterOp.name)


class ComputeSlicesFirstPass(PassForOps):
    """See the module's docstring."""

    name = "compute-slices-first"
    looks_for = SLICES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.walk() if isinstance(each, FuncOp)]
        for function in functions:
            _compute_slices(function)


def _compute_slices(function: FuncOp) -> None:
    slices = [each for each in function.walk() if each.name in SLICES]
    copies = Copies(function)
    for each in slices:
        whole, part = each.operands[0], each.results[0]
        is_spread = _has_unknown_distances(whole) or _leaves_elements_out(each)
        if _is_put_into(part, whole):
            copies.replace(part)
        elif is_spread and _is_read_by_position(part) or _is_column_of_a_product(whole, part):
            keep_apart(part)
        elif set(shape_of(part)) <= {1} and _gets_dimensions(part, len(shape_of(whole))):
            hide(part)
        elif set(shape_of(part)) <= {1} and _is_wider_copy_in_another_shape(whole):
            keep_apart(part)
    for whole in dict.fromkeys([*_read_by_steps(slices), *_read_by_elements(slices)]):
        keep_apart(whole)


def _read_by_steps(slices: Iterable[Operation]) -> Iterator[SSAValue]:
    """What is computed, and read with elements left out between those of a part."""
    for each in slices:
        op = each.operands[0].owner
        if _has_steps(each) and isinstance(op, Operation) and op.name not in LITERALS:
            yield each.operands[0]


def _read_by_elements(slices: Iterable[Operation]) -> Iterator[SSAValue]:
    """What is computed from parts, and read one element here and another there."""
    parts = [each.results[0] for each in slices]
    elements = Counter(_memory(part) for part in parts if set(shape_of(part)) <= {1})
    for whole, count in elements.items():
        if count > 1 and _is_computed_from_parts(whole):
            yield whole


def _has_unknown_distances(whole: SSAValue) -> bool:
    """Whether the distance in memory between elements along some dimension is only known at run time."""
    if isinstance(whole.type, TensorType) and DYNAMIC_INDEX in whole.type.get_shape()[1:]:
        return True
    op = whole.owner  # which is a part of something itself, perhaps
    is_part = isinstance(op, Operation) and op.name in SLICES | RESHAPES
    return is_part and _has_unknown_distances(op.operands[0])  # type: ignore[union-attr]


def _leaves_elements_out(op: Operation) -> bool:
    """Whether elements of a part are further apart in memory than they are in a row of the whole, by steps."""
    if _has_steps(op):
        return True
    whole, part = shape_of(op.operands[0]), shape_of(op.results[0])
    turned = op.operands[0].owner
    if isinstance(turned, Operation) and turned.name in TRANSPOSES and len(part) == len(whole):
        last = list(permutation_of(turned)).index(len(whole) - 1)  # of what is in memory
        if part[last] == 1 and whole[last] != 1:
            return True
    if len(whole) < 2 or not part or part[-1] != 1 or whole[-1] == 1:
        return False
    # one of several columns; the first of every two is the first column of pairs where a dialect has no steps
    return len(whole) > 2 or not _is_argument(op.operands[0])


def _is_argument(value: SSAValue) -> bool:
    return isinstance(value.owner, Block) and isinstance(value.owner.parent_op(), FuncOp)


def _has_steps(op: Operation) -> bool:
    steps = op.properties.get("strides") or op.properties.get("static_strides")
    return steps is not None and any(step != 1 for step in integers(steps))


def _is_read_by_position(value: SSAValue) -> bool:
    return any(use.name in _BY_POSITION for use in _users(value))


def _is_column_of_a_product(whole: SSAValue, part: SSAValue) -> bool:
    """Whether one of several columns is multiplied or convolved, perhaps as a row."""
    sizes = shape_of(part)
    if set(sizes) <= {1} or sizes[-1] != 1 or shape_of(whole)[-1] == 1:
        return False
    seen, waiting = {part}, [part]
    while waiting:
        for use in waiting.pop().uses:
            if use.operation.name in _PRODUCTS or "conv" in use.operation.name.rpartition(".")[2]:
                return True
            if use.operation.name in RESHAPES | TRANSPOSES:
                waiting += {*use.operation.results} - seen
                seen.update(use.operation.results)
    return False


def _is_computed_from_parts(value: SSAValue) -> bool:
    """Whether elements are computed from corresponding ones of parts of something."""
    seen, waiting = {value}, [value]
    while waiting:
        op = waiting.pop().owner
        if not isinstance(op, Operation):
            continue
        if op.name in SLICES:
            return True
        is_followed = op.name in RESHAPES | JOINS or is_elementwise(op.name)
        if is_followed or isinstance(op, linalg.GenericOp):
            waiting += {*op.operands} - seen
            seen.update(op.operands)
    return False


def _is_wider_copy_in_another_shape(whole: SSAValue) -> bool:
    """Whether it is another shape of what is computed, element by element, from something of fewer bits."""
    is_reshaped = False
    while isinstance(whole.owner, Operation) and whole.owner.name in SLICES | RESHAPES:
        is_reshaped |= whole.owner.name in RESHAPES
        whole = whole.owner.operands[0]
    seen, waiting = {whole}, [whole] if is_reshaped else []
    while waiting:
        value = waiting.pop()
        op = value.owner
        if not isinstance(op, Operation) or not isinstance(value.type, TensorType):
            continue
        if is_elementwise(op.name) or isinstance(op, linalg.GenericOp):
            operands = [each for each in op.operands if isinstance(each.type, TensorType)]
            if any(bit_width(element_of(each)) < bit_width(element_of(value)) for each in operands):
                return True
            waiting += {*operands} - seen
            seen.update(operands)
    return False


def _is_put_into(part: SSAValue, whole: SSAValue) -> bool:
    """Whether a part is what a scatter updates the whole with, where it lies."""
    updated = _memory(whole)
    return any(
        _memory(destination) == updated
        for use in _users(part)
        if use.name in _SCATTERS
        for destination in destinations(use)
        if destination is not part
    )


def _memory(value: SSAValue) -> SSAValue:
    """What a part, or another shape, is of."""
    while isinstance(value.owner, Operation) and value.owner.name in SLICES | RESHAPES:
        value = value.owner.operands[0]
    return value


def _gets_dimensions(part: SSAValue, most: int) -> bool:
    """Whether an element is read, by itself or broadcast, as a tensor of more dimensions than this."""
    seen, waiting = {part}, [part]
    while waiting:
        for use in waiting.pop().uses:
            for each in use.operation.results:
                if each in seen or not isinstance(each.type, TensorType):
                    continue
                shape = shape_of(each)
                if set(shape) <= {1}:
                    if len(shape) > most:
                        return True
                    seen.add(each)
                    waiting.append(each)
    return False


def _users(value: SSAValue) -> Iterator[Operation]:
    """What uses a value, or the same memory by another shape."""
    for use in value.uses:
        yield use.operation
        if use.operation.name in RESHAPES and use.index == 0:
            yield from _users(use.operation.results[0])
