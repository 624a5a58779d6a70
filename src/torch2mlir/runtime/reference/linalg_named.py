"""The named ``linalg`` ops: elementwise, matrix products, convolutions, poolings.

A convolution's or pooling's indexing is spelled in its name (``conv_2d_nchw_fchw``: input, filter), a
letter per dimension: n batch, g group, c input channel, f output channel, m channel multiplier, d h w space.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ComplexType, IndexType, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference.arith import apply, convert
from torch2mlir.runtime.reference.contraction import contract
from torch2mlir.runtime.reference.interpreter import (
    IMPLEMENTATIONS,
    ReferenceInterpreter,
    attribute,
    implements,
    integers,
)
from torch2mlir.runtime.reference.linalg_generic import indexing_maps, split_operands
from torch2mlir.runtime.reference.loops import REDUCERS, loop_bounds, view
from torch2mlir.runtime.reference.values import Array, element_type, fit

# Elementwise


class ByKind(NamedTuple):
    """The scalar op of a named op for floats, integers and complex numbers; None where there is none."""

    on_floats: str | None
    on_integers: str | None = None
    on_complex: str | None = None

    def of(self, type_: Attribute) -> str:
        """The op for an element type."""
        match element_type(type_):
            case IntegerType() | IndexType():
                name = self.on_integers
            case ComplexType():
                name = self.on_complex
            case _:
                name = self.on_floats
        if name is None:
            raise EngineError(f"not defined for elements of type {element_type(type_)}")
        return name


NAMED = {
    "abs": ByKind("math.absf", "math.absi"),
    "add": ByKind("arith.addf", "arith.addi", "complex.add"),
    "ceil": ByKind("math.ceil"),
    "div": ByKind("arith.divf", "arith.divsi", "complex.div"),
    "div_unsigned": ByKind(None, "arith.divui"),
    "erf": ByKind("math.erf"),
    "exp": ByKind("math.exp", None, "complex.exp"),
    "floor": ByKind("math.floor"),
    "log": ByKind("math.log", None, "complex.log"),
    "max": ByKind("arith.maximumf", "arith.maxsi"),
    "max_signed": ByKind("arith.maximumf", "arith.maxsi"),
    "max_unsigned": ByKind("arith.maximumf", "arith.maxui"),
    "min": ByKind("arith.minimumf", "arith.minsi"),
    "min_signed": ByKind("arith.minimumf", "arith.minsi"),
    "min_unsigned": ByKind("arith.minimumf", "arith.minui"),
    "mul": ByKind("arith.mulf", "arith.muli", "complex.mul"),
    "negf": ByKind("arith.negf", None, "complex.neg"),
    "powf": ByKind("math.powf"),
    "round": ByKind("math.round"),
    "rsqrt": ByKind("math.rsqrt"),
    "sqrt": ByKind("math.sqrt"),
    "sub": ByKind("arith.subf", "arith.subi", "complex.sub"),
    "tanh": ByKind("math.tanh"),
}


def _compute(kind: str, type_: Attribute, values: list[Array]) -> Array:
    match kind:
        case "copy":
            return values[0]
        case "select":
            return np.where(*values)
        case "square":
            return apply(NAMED["mul"].of(type_), type_, values[0], values[0])
        case "reciprocal":
            return fit(1 / values[0], type_)
    return apply(NAMED[kind].of(type_), type_, *values)


def _is_unsigned(op: Operation) -> bool:
    """Whether an op's ``cast`` attribute says that its integer inputs have no sign."""
    return "cast_unsigned" in str(attribute(op, "cast") or "")


def _cast_inputs(op: Operation, inputs: list[Array]) -> list[Array]:
    """The inputs in the element type of the output."""
    target = op.results[0].type
    return [
        convert(array, operand.type, target, _is_unsigned(op))
        for array, operand in zip(inputs, op.operands, strict=False)
    ]


def _elementwise(kind: str, _: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    inputs, (init,) = split_operands(op, arguments)
    values = _cast_inputs(op, inputs)
    if kind == "select":
        values[0] = inputs[0]
    return np.broadcast_to(_compute(kind, op.results[0].type, values), init.shape)


for _kind in [*NAMED, "copy", "select", "square", "reciprocal"]:
    IMPLEMENTATIONS[f"linalg.{_kind}"] = partial(_elementwise, _kind)


@implements("linalg.elementwise")
def elementwise(_: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    """An elementwise op by its ``kind``, with indexing maps for transposes and broadcasts."""
    found = re.search(r"elementwise_kind<\s*(\w+)\s*>", str(attribute(op, "kind")))
    if not found:
        raise EngineError(f"unknown kind {attribute(op, 'kind')}")
    inputs, (init,) = split_operands(op, arguments)
    maps = indexing_maps(op) or [AffineMap.identity(init.ndim)] * len(arguments)
    box = tuple(range(bound) for bound in loop_bounds(arguments, maps))
    values = _cast_inputs(op, inputs)
    if found[1] == "select":
        values[0] = inputs[0]
    views = [view(array, map_, box) for array, map_ in zip(values, maps, strict=False)]
    result = np.array(init)
    view(result, maps[-1], box, writeable=True)[...] = _compute(found[1], op.results[0].type, views)
    return result


@implements("linalg.fill")
def fill(_: ReferenceInterpreter, op: Operation, value: Array, init: Array) -> Array:
    """One value everywhere."""
    (converted,) = _cast_inputs(op, [value])
    return np.broadcast_to(converted.reshape(()), init.shape)


@implements("linalg.softmax")
def softmax(_: ReferenceInterpreter, op: Operation, source: Array, init: Array) -> Array:
    """``exp(x - max) / sum`` along a dimension."""
    (axis,) = integers(op, "dimension")
    exponential = np.exp(source - source.max(axis, keepdims=True))
    return fit(exponential / exponential.sum(axis, keepdims=True), op.results[0].type)


# Matrix products

PRODUCTS = {
    "matmul": "mk,kn->mn",
    "matmul_transpose_a": "km,kn->mn",
    "matmul_transpose_b": "mk,nk->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "matvec": "mk,k->m",
    "vecmat": "k,kn->n",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "dot": "k,k->",
    "mmt4d": "mkxz,nkyz->mnxy",
    "batch_mmt4d": "bmkxz,bnkyz->bmnxy",
    "quantized_matmul": "mk,kn->mn",
    "quantized_batch_matmul": "bmk,bkn->bmn",
    "contract": "",
}
"""A letter per loop, as in ``einsum``; ``indexing_maps`` on the op itself take precedence."""


def _letter_maps(equation: str) -> list[AffineMap]:
    terms = re.split(",|->", equation)
    loops = sorted(set("".join(terms)))
    return [
        AffineMap(len(loops), 0, tuple(AffineExpr.dimension(loops.index(s)) for s in term))
        for term in terms
    ]


def _factors(op: Operation, inputs: list[Array]) -> tuple[Array, Array]:
    """The two factors in the output's element type, less their zero points when there are any."""
    if len(inputs) == 2:
        narrow = all(array.dtype.kind in "iub" for array in inputs) and not _is_unsigned(op)
        left, right = inputs if narrow else _cast_inputs(op, inputs)
        return left, right
    left, right, left_zero, right_zero = _cast_inputs(op, inputs)
    return left - left_zero, right - right_zero


def _product(equation: str, _: ReferenceInterpreter, op: Operation, *arguments: Array) -> Array:
    inputs, (init,) = split_operands(op, arguments)
    left, right = _factors(op, inputs)
    left_map, right_map, init_map = indexing_maps(op) or _letter_maps(equation)
    return contract(left, left_map, right, right_map, init, init_map, op.results[0].type)


for _name, _equation in PRODUCTS.items():
    IMPLEMENTATIONS[f"linalg.{_name}"] = partial(_product, _equation)


# Convolutions and poolings

SPACE = "dhw"
CONVOLUTIONS = {
    "conv": "1d 1d_ncw_fcw 1d_nwc_wcf 2d 2d_nchw_fchw 2d_nhwc_hwcf 2d_nhwc_fhwc 2d_ngchw_fgchw "
    "2d_ngchw_gfchw 2d_nhwgc_gfhwc 3d 3d_ncdhw_fcdhw 3d_ndhwc_dhwcf",
    "depthwise_conv": "1d_ncw_cw 1d_nwc_wc 1d_nwc_wcm 2d_nchw_chw 2d_nhwc_hwc 2d_nhwc_hwcm "
    "3d_ncdhw_cdhw 3d_ndhwc_dhwc 3d_ndhwc_dhwcm",
}
POOLINGS = {
    "ncw": "max sum",
    "nwc": "max min sum max_unsigned min_unsigned",
    "nchw": "max sum",
    "nhwc": "max min sum max_unsigned min_unsigned",
    "ncdhw": "max sum",
    "ndhwc": "max min sum",
}


class Layout(NamedTuple):
    """The dimensions of a convolution's operands, a letter each."""

    source: str
    window: str
    result: str


def convolution_layout(name: str) -> Layout:
    """Reads a convolution's name without its dialect: ``conv_2d_nhwc_hwcf`` has the result ``nhwf``."""
    match = re.fullmatch(r"(depthwise_)?conv_(\d)d(?:_([a-z]+)_([a-z]+))?(?:_q)?", name)
    if not match:
        raise EngineError(f"unknown convolution {name}")
    depthwise, rank, source, window = match.groups()
    if source is None:
        space = SPACE[-int(rank) :]
        return Layout(space, space, space)
    if depthwise:
        return Layout(source, window, source + ("m" if "m" in window else ""))
    return Layout(source, window, source.replace("c", "f"))


def _sliding_maps(op: Operation, layout: Layout) -> list[AffineMap]:
    """The indexing maps of source, window and result; space in the source is ``out * stride + in * dilation``."""
    inner = [f"window {s}" for s in layout.window if s in SPACE]
    summed = [s for s in layout.window if s not in SPACE and s not in layout.result]
    loops = [*layout.result, *summed, *inner]
    space = [s for s in layout.source if s in SPACE]
    strides = integers(op, "strides") or [1]
    dilations = integers(op, "dilations") or [1]
    step = dict(zip(space, strides * len(space) if len(strides) == 1 else strides, strict=False))
    spread = dict(
        zip(space, dilations * len(space) if len(dilations) == 1 else dilations, strict=False)
    )

    def loop(name: str) -> AffineExpr:
        return AffineExpr.dimension(loops.index(name))

    def of(letters: str, in_space: dict[str, AffineExpr]) -> AffineMap:
        return AffineMap(
            len(loops), 0, tuple(in_space[s] if s in in_space else loop(s) for s in letters)
        )

    sliding = {s: loop(s) * step[s] + loop(f"window {s}") * spread[s] for s in space}
    return [
        of(layout.source, sliding),
        of(layout.window, {s: loop(f"window {s}") for s in space}),
        of(layout.result, {}),
    ]


def _convolution(
    layout: Layout, _: ReferenceInterpreter, op: Operation, *arguments: Array
) -> Array:
    inputs, (init,) = split_operands(op, arguments)
    source, window = _factors(op, inputs)
    source_map, window_map, init_map = _sliding_maps(op, layout)
    return contract(source, source_map, window, window_map, init, init_map, op.results[0].type)


def _pooling(
    layout: Layout, kind: str, _: ReferenceInterpreter, op: Operation, *arguments: Array
) -> Array:
    (source, window), (init,) = split_operands(op, arguments)
    type_ = op.results[0].type
    maps = _sliding_maps(op, layout)
    box = tuple(range(bound) for bound in loop_bounds([source, window, init], maps))
    name = (NAMED["add"] if kind == "sum" else NAMED[kind]).of(type_)
    values = view(convert(source, op.operands[0].type, type_, _is_unsigned(op)), maps[0], box)
    axes = tuple(range(init.ndim, len(box)))
    best = fit(REDUCERS[name](values, axes), type_).reshape(init.shape)
    return apply(name, type_, init, best)


for _family, _layouts in CONVOLUTIONS.items():
    for _layout in _layouts.split():
        _name = f"{_family}_{_layout}"
        _run = partial(_convolution, convolution_layout(_name))
        IMPLEMENTATIONS |= {f"linalg.{_name}": _run, f"linalg.{_name}_q": _run}
for _dims, _kinds in POOLINGS.items():
    _window = "".join(s for s in _dims if s in SPACE)
    for _kind in _kinds.split():
        IMPLEMENTATIONS[f"linalg.pooling_{_dims}_{_kind}"] = partial(
            _pooling, Layout(_dims, _window, _dims), _kind
        )
