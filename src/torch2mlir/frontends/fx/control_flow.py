"""Higher-order operators with bodies, as ``torch.prim.If`` and ``torch.prim.Loop`` with regions.

Bodies are imported in place and refer to outer values directly, as in Torch-MLIR. ``scan`` and ``map`` are loops that
read a slice by its run-time position and write into a result made before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule, Node
from xdsl.ir import Attribute, Block, Region, SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

MOST_TRIPS = 2**63 - 1
"""The trip count of a loop that only its condition ends."""

_SIZE_ARITHMETIC = {
    "add": "aten.add.int",
    "mul": "aten.mul.int",
    "floordiv": "aten.floordiv.int",
    "mod": "aten.remainder.int",
    "max": "prim.max.int",
    "min": "prim.min.int",
}


def cond(importer: GraphImporter, node: Node) -> Sequence[SSAValue]:
    """``cond(predicate, true, false, operands)``."""
    predicate, on_true, on_false, operands = node.args
    values = _operands(importer, operands)
    regions = list[Region]()
    types = list[Attribute]()
    for branch in (on_true, on_false):
        block = Block()
        inner = importer.nested(block)
        results = inner.inline(importer.body(branch), values)
        inner.insert(core.PrimIfYieldOp.create(operands=results))
        regions.append(Region(block))
        found = [result.type for result in results]
        if regions[1:] and found != types:
            raise CaptureError(f"the branches give {types} and {found}")
        types = found
    op = core.PrimIfOp.create(
        operands=[_as_bool(importer, importer.operand(predicate))],
        result_types=types,
        regions=regions,
    )
    importer.insert(op)
    return op.results


def while_loop(importer: GraphImporter, node: Node) -> Sequence[SSAValue]:
    """``while_loop(condition, body, carried, additional)``: the condition is computed before and at its end."""
    condition, body, carried, additional = node.args
    initial, outer = _operands(importer, carried), _operands(importer, additional)

    def holds(inside: GraphImporter, values: Sequence[SSAValue]) -> SSAValue:
        (result,) = inside.inline(importer.body(condition), [*values, *outer])
        return _as_bool(inside, result)

    def step(
        inside: GraphImporter, _: SSAValue, values: Sequence[SSAValue]
    ) -> tuple[SSAValue, Sequence[SSAValue]]:
        results = inside.inline(importer.body(body), [*values, *outer])
        return holds(inside, results), results

    trips = importer.constants.scalar(MOST_TRIPS)
    return _loop(importer, trips, holds(importer, initial), initial, step)


def scan(importer: GraphImporter, node: Node) -> Sequence[SSAValue]:
    """``scan(combine, initial, inputs, additional)``: what is carried at the end, then the outputs of all steps."""
    combine, initial, inputs, additional = node.args
    carried, stacked = _operands(importer, initial), _operands(importer, inputs)
    return _over_slices(importer, node, combine, carried, stacked, additional)


def map_impl(importer: GraphImporter, node: Node) -> Sequence[SSAValue]:
    """``map_impl(function, inputs, additional)``: the outputs for all slices."""
    function, inputs, additional = node.args
    return _over_slices(importer, node, function, [], _operands(importer, inputs), additional)


def _over_slices(
    importer: GraphImporter,
    node: Node,
    body: Any,
    carried: Sequence[SSAValue],
    stacked: Sequence[SSAValue],
    additional: Any,
) -> Sequence[SSAValue]:
    """A loop over the first dimension of ``stacked``; what the body returns beyond ``carried`` is stacked again."""
    outer, count = _operands(importer, additional), len(carried)
    fakes = node.meta["val"][count:]
    buffers = [_buffer(importer, fake) for fake in fakes]
    first = t.known_sizes(stacked[0])[0]
    assert first is not None
    trips = size_operand(importer, first)

    def step(
        inside: GraphImporter, position: SSAValue, values: Sequence[SSAValue]
    ) -> tuple[SSAValue, Sequence[SSAValue]]:
        at = _position(inside, position)
        slices = [_take(inside, x, at) for x in stacked]
        results = inside.inline(importer.body(body), [*values[:count], *slices, *outer])
        pairs = zip(values[count:], results[count:], strict=True)
        written = [_put(inside, buffer, at, value) for buffer, value in pairs]
        return inside.constants.scalar(True), [*results[:count], *written]

    return _loop(importer, trips, importer.constants.scalar(True), [*carried, *buffers], step)


Step = Callable[
    ["GraphImporter", SSAValue, Sequence[SSAValue]], tuple[SSAValue, Sequence[SSAValue]]
]
"""Imports a loop's body: from the iteration's number and the carried values to whether to go on, and with what."""


def _loop(
    importer: GraphImporter,
    trips: SSAValue,
    condition: SSAValue,
    initial: Sequence[SSAValue],
    step: Step,
) -> Sequence[SSAValue]:
    types = [value.type for value in initial]
    block = Block(arg_types=[t.int_type, *types])
    inside = importer.nested(block)
    go_on, values = step(inside, block.args[0], block.args[1:])
    for type, value in zip(types, values, strict=True):
        if value.type != type:
            raise CaptureError(f"a loop carries {type} and its body gives {value.type}")
    inside.insert(core.PrimLoopConditionOp.create(operands=[go_on, *values]))
    op = core.PrimLoopOp.create(
        operands=[trips, condition, *initial], result_types=types, regions=[Region(block)]
    )
    importer.insert(op)
    return op.results


def _operands(importer: GraphImporter, values: Any) -> list[SSAValue]:
    return [importer.operand(value) for value in values]


def _emit(
    importer: GraphImporter, name: str, operands: Sequence[SSAValue], type: Attribute
) -> SSAValue:
    op = core.build(f"torch.{name}", operands, [type])
    importer.insert(op)
    return op.results[0]


def _as_bool(importer: GraphImporter, value: SSAValue) -> SSAValue:
    """A condition as ``!torch.bool``."""
    if value.type == t.bool_type:
        return value
    return _emit(importer, "aten.Bool.Tensor", [value], t.bool_type)


def size_operand(importer: GraphImporter, size: KnownSize) -> SSAValue:
    """A size as ``!torch.int``."""
    if isinstance(size, int):
        return importer.constants.scalar(size)
    if size.op == "symbol":
        return importer.symbols[size.name]
    operands = [size_operand(importer, operand) for operand in size.operands()]
    result = operands[0]
    for operand in operands[1:]:
        result = _emit(importer, _SIZE_ARITHMETIC[size.op], [result, operand], t.int_type)
    return result


def _buffer(importer: GraphImporter, fake: torch.Tensor) -> SSAValue:
    """A tensor to be written slice by slice."""
    type = importer.type_of(fake)
    sizes = importer.list_of([size_operand(importer, size) for size in type.sizes])  # type: ignore[attr-defined]
    scalar = importer.constants.scalar
    zero: Any = False if fake.dtype is torch.bool else 0.0 if fake.is_floating_point() else 0
    code = dtypes.SCALAR_TYPE[fake.dtype]
    none = scalar(None)
    return _emit(importer, "aten.full", [sizes, scalar(zero), scalar(code), none, none, none], type)


def _position(importer: GraphImporter, position: SSAValue) -> SSAValue:
    """A number as a tensor of one index."""
    type = t.vtensor((1,), dtypes.element_type(torch.int64))
    scalar = importer.constants.scalar
    one, none = importer.list_of([scalar(1)]), scalar(None)
    code = scalar(dtypes.SCALAR_TYPE[torch.int64])
    return _emit(importer, "aten.full", [one, position, code, none, none, none], type)


def _take(importer: GraphImporter, x: SSAValue, at: SSAValue) -> SSAValue:
    """The slice of the first dimension at a position."""
    sizes, dtype = t.known_sizes(x), t.tensor_of(x).dtype
    zero = importer.constants.scalar(0)
    one = t.vtensor((1, *sizes[1:]), dtype)
    row = _emit(importer, "aten.index_select", [x, zero, at], one)
    over = importer.list_of([zero])
    return _emit(importer, "aten.squeeze.dims", [row, over], t.vtensor(sizes[1:], dtype))


def _put(importer: GraphImporter, x: SSAValue, at: SSAValue, value: SSAValue) -> SSAValue:
    """``x`` with one slice of its first dimension replaced."""
    scalar = importer.constants.scalar
    one = t.vtensor((1, *t.known_sizes(value)), t.tensor_of(value).dtype)
    row = _emit(importer, "aten.unsqueeze", [value, scalar(0)], one)
    indices = importer.list_of([at])
    return _emit(importer, "aten.index_put", [x, indices, row, scalar(False)], x.type)


HIGHER_ORDER: dict[str, Callable[[GraphImporter, Node], Sequence[SSAValue]]] = {
    "cond": cond,
    "while_loop": while_loop,
    "scan": scan,
    "map_impl": map_impl,
}
"""Name of a higher-order operator -> what imports its call."""


def bodies(module: GraphModule) -> list[GraphModule]:
    """A graph module and all the bodies in it."""
    return [m for m in module.modules() if isinstance(m, GraphModule)]
