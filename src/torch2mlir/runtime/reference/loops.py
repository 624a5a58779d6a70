"""Loop nests: the body of a ``linalg`` op, run on whole arrays instead of once per element.

A nest runs box by box. Inside a box every value of the body is an array with one axis per loop (of size 1
where the value does not change along that loop), so that the scalar ops of the body are the array ops of
the other files. Three kinds of loops need care:

- a reduction whose body combines the output with something that does not depend on it (a sum, a maximum)
  computes that something for the whole box and reduces it at once;
- any other reduction (an argmax, a running formula) is done in order, one index after the other, on all
  parallel indices at once;
- a body with control flow of its own is done element by element, unless that is a loop with as many rounds for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.interpreter import ReferenceInterpreter, op_name
from torch2mlir.runtime.reference.values import Array, fit

BOX_ELEMENTS = 1 << 22
"""How many points of an iteration space are in flight at once; bounds the memory a body's values take."""

Box = tuple[range, ...]
"""One range of indices per loop."""
Linear = tuple[tuple[int, ...], int]
"""The coefficient of every loop's index, and the constant."""


# Where a loop nest reads and writes


def linear(expr: AffineExpr, loops: int) -> Linear | None:
    """An affine expression as coefficients; None when it has a division or a remainder."""
    match expr:
        case AffineConstantExpr():
            return (0,) * loops, expr.value
        case AffineDimExpr():
            return tuple(int(d == expr.position) for d in range(loops)), 0
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            left, right = linear(expr.lhs, loops), linear(expr.rhs, loops)
            if left and right:
                total = tuple(a + b for a, b in zip(left[0], right[0], strict=True))
                return total, left[1] + right[1]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            left, right = linear(expr.lhs, loops), linear(expr.rhs, loops)
            if left and right:
                for (coefficients, constant), (others, factor) in ((left, right), (right, left)):
                    if not any(others):
                        return tuple(c * factor for c in coefficients), constant * factor
    return None


_BINARY: dict[AffineBinaryOpKind, Callable[[Any, Any], Any]] = {
    AffineBinaryOpKind.Add: lambda a, b: a + b,
    AffineBinaryOpKind.Mul: lambda a, b: a * b,
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
}


def evaluate(expr: AffineExpr, dims: Sequence[Array], symbols: Sequence[Array] = ()) -> Any:
    """An affine expression on arrays."""
    match expr:
        case AffineConstantExpr():
            return expr.value
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
        case AffineBinaryOpExpr():
            left = evaluate(expr.lhs, dims, symbols)
            return _BINARY[expr.kind](left, evaluate(expr.rhs, dims, symbols))
    raise EngineError(f"an indexing map may not contain {expr}")


def loop_bounds(arrays: Sequence[Array], maps: Sequence[AffineMap]) -> tuple[int, ...]:
    """The size of every loop: that of the operand dimensions its index alone addresses.

    Raises:
        EngineError: two operands disagree about a loop, or none determines it.
    """
    bounds: dict[int, int] = {}
    for number, (array, map_) in enumerate(zip(arrays, maps, strict=True)):
        if array.ndim != len(map_.results):
            raise EngineError(f"operand {number} has rank {array.ndim}, its map {map_}")
        for axis, expr in enumerate(map_.results):
            if isinstance(expr, AffineDimExpr):
                size = bounds.setdefault(expr.position, array.shape[axis])
                if size != array.shape[axis]:
                    raise EngineError(
                        f"operand {number} has {array.shape[axis]} elements in dimension {axis}, "
                        f"where loop d{expr.position} of the nest has {size} rounds"
                    )
    loops = maps[0].num_dims if maps else 0
    if missing := [d for d in range(loops) if d not in bounds]:
        raise EngineError(f"no operand determines the size of loop d{missing[0]}")
    return tuple(bounds[d] for d in range(loops))


def index_arrays(box: Box) -> tuple[Array, ...]:
    """The index of every loop, along its own axis."""
    return tuple(
        np.arange(r.start, r.stop, dtype=np.int64).reshape(
            [-1 if a == d else 1 for a in range(len(box))]
        )
        for d, r in enumerate(box)
    )


def view(array: Array, map_: AffineMap, box: Box, writeable: bool = False) -> Array:
    """An operand as the loops of a box see it: one axis per loop, of size 1 where its index is not used.

    Raises:
        EngineError: the map leaves the operand.
    """
    forms = [linear(expr, len(box)) for expr in map_.results]
    used = map_.used_dims()
    shape = tuple(len(r) if d in used else 1 for d, r in enumerate(box))
    if 0 in shape:
        return np.empty(shape, array.dtype)
    if None in forms:
        if writeable:
            raise EngineError(f"an output cannot be written through {map_}")
        indices = index_arrays(box)
        picked = array[tuple(evaluate(expr, indices) for expr in map_.results)]
        return picked.reshape((1,) * (len(box) - picked.ndim) + picked.shape)
    starts, strides = [], [0] * len(box)
    for axis, (coefficients, constant) in enumerate(cast("list[Linear]", forms)):
        ends = [(c * r.start, c * (r.stop - 1)) for c, r in zip(coefficients, box, strict=True)]
        lowest = constant + sum(min(pair) for pair in ends)
        highest = constant + sum(max(pair) for pair in ends)
        if lowest < 0 or highest >= array.shape[axis]:
            raise EngineError(
                f"{map_} addresses {lowest} to {highest} of the {array.shape[axis]} elements "
                f"in dimension {axis} of an operand"
            )
        starts.append(slice(constant + sum(pair[0] for pair in ends), None))
        for d, coefficient in enumerate(coefficients):
            strides[d] += coefficient * array.strides[axis]
    corner = array[tuple(starts)] if starts else array
    return as_strided(corner, shape, strides, writeable=writeable)


# What a body does


def _wide_sum(ufunc: np.ufunc, array: Array, axes: tuple[int, ...]) -> Array:
    """Sums and products of floats are taken in double precision and rounded once."""
    wide = np.float64 if array.dtype.kind == "f" else array.dtype
    return ufunc.reduce(array, axis=axes, keepdims=True, dtype=wide)


def _narrow(ufunc: np.ufunc, array: Array, axes: tuple[int, ...]) -> Array:
    return ufunc.reduce(array, axis=axes, keepdims=True)


def _of_bits(ufunc: np.ufunc, of_bool: np.ufunc, array: Array, axes: tuple[int, ...]) -> Array:
    """A reduction that means another one on booleans (``i1`` addition is exclusive or)."""
    if array.dtype == np.bool_:
        return of_bool.reduce(array, axis=axes, keepdims=True)
    return ufunc.reduce(array, axis=axes, keepdims=True, dtype=array.dtype)


def _unsigned(ufunc: np.ufunc, array: Array, axes: tuple[int, ...]) -> Array:
    if array.dtype == np.bool_:
        return _narrow(ufunc, array, axes)
    chosen = ufunc.reduce(array.view(f"u{array.itemsize}"), axis=axes, keepdims=True)
    return np.asarray(chosen).view(array.dtype)


REDUCERS: dict[str, Callable[[Array, tuple[int, ...]], Array]] = {
    "arith.addf": partial(_wide_sum, np.add),
    "arith.mulf": partial(_wide_sum, np.multiply),
    "complex.add": partial(_wide_sum, np.add),
    "complex.mul": partial(_wide_sum, np.multiply),
    "arith.maximumf": partial(_narrow, np.maximum),
    "arith.minimumf": partial(_narrow, np.minimum),
    "arith.maxnumf": partial(_narrow, np.fmax),
    "arith.minnumf": partial(_narrow, np.fmin),
    "arith.addi": partial(_of_bits, np.add, np.logical_xor),
    "arith.muli": partial(_of_bits, np.multiply, np.logical_and),
    "arith.maxsi": partial(_of_bits, np.maximum, np.logical_and),
    "arith.minsi": partial(_of_bits, np.minimum, np.logical_or),
    "arith.maxui": partial(_unsigned, np.maximum),
    "arith.minui": partial(_unsigned, np.minimum),
    "arith.andi": partial(_narrow, np.bitwise_and),
    "arith.ori": partial(_narrow, np.bitwise_or),
    "arith.xori": partial(_narrow, np.bitwise_xor),
}
"""Combining op -> how an array is reduced with it along some axes."""


@dataclass
class Plan:
    """What the body of a nest needs; found once per op."""

    body: list[Operation]
    """The ops to run on a box, without those that combine an output with its new elements."""
    yielded: tuple[SSAValue, ...]
    combined: list[tuple[Operation, int] | None]
    """For every output the op that combines it and the operand of that op that is new, if there is one."""
    reads_output: list[bool]
    """For every output whether the body reads what it held before."""
    element_by_element: bool
    """Whether the body has control flow, which decides for one element at a time."""


def make_plan(block: Block, outputs: Sequence[BlockArgument]) -> Plan:
    """Finds out which outputs of a body are plain reductions."""
    last = cast(Operation, block.last_op)
    # The body of a linalg.map may have no arguments for the outputs.
    known = [*outputs, *[None] * (len(last.operands) - len(outputs))]
    combined = [_combiner(o, r) for o, r in zip(known, last.operands, strict=True)]
    skipped = {found[0] for found in combined if found} if all(combined) else set()
    inner = [op for op in block.ops if op is not last and op not in skipped]
    return Plan(
        inner,
        tuple(last.operands),
        combined if skipped else [None] * len(combined),
        [output is not None and output.first_use is not None for output in known],
        any(_decides(op, block) for op in inner),
    )


def _decides(op: Operation, body: Block) -> bool:
    """Whether an op of a body runs other ops than it would for another element."""
    if not op.regions:
        return False
    if op_name(op) != "scf.for" or any(_varies(bound, body) for bound in op.operands[:3]):
        return True
    return any(_decides(inner, body) for inner in op.regions[0].block.ops)


def _varies(value: SSAValue, body: Block) -> bool:
    """Whether a value is computed in a body."""
    block: Block | None = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is not None and (block is body or body.is_ancestor(block))


def _combiner(output: BlockArgument | None, result: SSAValue) -> tuple[Operation, int] | None:
    """The op that makes ``result`` out of ``output`` and something else.

    Neither has another use, so when this holds for every output nothing else depends on any of them.
    """
    op = result.owner
    if output is None or not isinstance(op, Operation) or op_name(op) not in REDUCERS:
        return None
    if output not in op.operands or not (output.has_one_use() and result.has_one_use()):
        return None
    return op, 1 if op.operands[0] is output else 0


# Running it


def boxes(bounds: Sequence[int], one_at_a_time: Sequence[bool]) -> Iterator[Box]:
    """Cuts an iteration space into boxes in row-major order."""
    sizes = [1 if single else bound for bound, single in zip(bounds, one_at_a_time, strict=True)]
    for loop in range(len(sizes)):
        excess = math.prod(sizes) / BOX_ELEMENTS
        if excess <= 1:
            break
        sizes[loop] = max(1, int(sizes[loop] / excess))
    cuts = [
        [range(start, min(start + size, bound)) for start in range(0, bound, max(size, 1))]
        for bound, size in zip(bounds, sizes, strict=True)
    ]
    return product(*cuts)


def run_body(
    interpreter: ReferenceInterpreter,
    body: Sequence[Operation],
    values: Mapping[Any, Array],
    box: Box,
) -> None:
    """Runs the ops of a body on a box; their results join ``values``, in the interpreter's innermost scope."""
    interpreter.set_values(values.items())
    interpreter.iteration.append(index_arrays(box))
    try:
        for op in body:
            results = interpreter.run_op(op, interpreter.get_values(op.operands))
            interpreter.set_values(zip(op.results, results, strict=True))
    finally:
        interpreter.iteration.pop()


@dataclass
class Nest:
    """A loop nest over arrays: where its operands are read and written, and which loops reduce."""

    op: Operation
    block: Block
    inputs: Sequence[Array]
    input_maps: Sequence[AffineMap]
    outputs: Sequence[Array]
    output_maps: Sequence[AffineMap]
    reduction: Sequence[bool]
    bounds: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        maps = [*self.input_maps, *self.output_maps]
        self.bounds = loop_bounds([*self.inputs, *self.outputs], maps)


def run_nest(interpreter: ReferenceInterpreter, nest: Nest) -> tuple[Array, ...]:
    """Runs a loop nest and returns its outputs; the given ones are left as they are."""
    plan = interpreter.plans.get(nest.op)
    if plan is None:
        plan = make_plan(nest.block, nest.block.args[len(nest.inputs) :])
        interpreter.plans[nest.op] = plan
    reduces = any(nest.reduction)
    in_order = reduces and None in plan.combined
    single = [plan.element_by_element or (in_order and reducing) for reducing in nest.reduction]
    todo = list(boxes(nest.bounds, single))
    if len(todo) == 1 and not reduces and (whole := _whole(interpreter, nest, plan, todo[0])):
        return whole
    results = [np.array(output, order="C") for output in nest.outputs]
    for box in todo:
        windows = [
            view(result, map_, box, writeable=True)
            for result, map_ in zip(results, nest.output_maps, strict=True)
        ]
        # What a body reads may not change while its results are written.
        before = [
            np.array(window) if read else window
            for window, read in zip(windows, plan.reads_output, strict=True)
        ]
        values = _run_box(interpreter, nest, plan, before, box)
        for window, value in zip(windows, values, strict=True):
            window[...] = value
    return tuple(results)


def _run_box(
    interpreter: ReferenceInterpreter, nest: Nest, plan: Plan, before: Sequence[Array], box: Box
) -> list[Array]:
    """The new contents of the outputs' windows, of which ``before`` holds the old."""
    operands = [view(a, m, box) for a, m in zip(nest.inputs, nest.input_maps, strict=True)]
    values = dict(zip(nest.block.args, [*operands, *before], strict=False))
    interpreter.push_scope("nest")
    try:
        run_body(interpreter, plan.body, values, box)
        yielded = []
        for number, combined in enumerate(plan.combined):
            if combined is None:
                yielded.append(interpreter.get_values([plan.yielded[number]])[0])
                continue
            op, new = combined
            element = interpreter.get_values([op.operands[new]])[0]
            pair = [before[number], before[number]]
            pair[new] = _reduce(op, element, nest.reduction, box)
            yielded.append(interpreter.run_op(op, tuple(pair))[0])
        return yielded
    finally:
        interpreter.pop_scope()


def _reduce(op: Operation, element: Array, reduction: Sequence[bool], box: Box) -> Array:
    """Reduces the reduction loops of a box to one element each."""
    axes = tuple(d for d, reducing in enumerate(reduction) if reducing)
    if not axes:
        return element
    full = [len(r) if d in axes else None for d, r in enumerate(box)]
    element = element.reshape((1,) * (len(box) - element.ndim) + element.shape)
    shape = [size or have for size, have in zip(full, element.shape, strict=True)]
    reduced = REDUCERS[op_name(op)](np.broadcast_to(element, shape), axes)
    return fit(reduced, op.results[0].type)


def _whole(
    interpreter: ReferenceInterpreter, nest: Nest, plan: Plan, box: Box
) -> tuple[Array, ...] | None:
    """The outputs of a nest that is one box and only writes permuted elements: no copies are made."""
    orders = []
    for map_ in nest.output_maps:
        order = [e.position for e in map_.results if isinstance(e, AffineDimExpr)]
        if sorted(order) != list(range(len(box))) or len(order) != len(map_.results):
            return None
        orders.append(order)
    windows = [view(o, m, box) for o, m in zip(nest.outputs, nest.output_maps, strict=True)]
    shape = tuple(len(r) for r in box)
    return tuple(
        np.broadcast_to(value, shape).transpose(order)
        for value, order in zip(
            _run_box(interpreter, nest, plan, windows, box), orders, strict=True
        )
    )


def over_indices(interpreter: ReferenceInterpreter, op: Operation, shape: Sequence[int]) -> Array:
    """What an op's region, whose arguments are indices, yields at every index of ``shape``."""
    block = op.regions[0].block
    plan = interpreter.plans.get(op)
    if plan is None:
        plan = interpreter.plans[op] = make_plan(block, ())
    parts = list(boxes(shape, [plan.element_by_element] * len(shape)))
    result: Array | None = None
    for box in parts:
        interpreter.push_scope("indices")
        try:
            values = zip(block.args, index_arrays(box), strict=True)
            run_body(interpreter, plan.body, dict(values), box)
            value = interpreter.get_values(plan.yielded)[0]
        finally:
            interpreter.pop_scope()
        if len(parts) == 1:
            return np.broadcast_to(value, tuple(shape))
        if result is None:
            result = np.empty(tuple(shape), value.dtype)
        result[tuple(slice(r.start, r.stop) for r in box)] = value
    return fit(np.zeros(tuple(shape)), plan.yielded[0].type) if result is None else result
