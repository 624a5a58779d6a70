"""How non-core ops become core ones: PyTorch's own decompositions, and ours where it has none that fits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import torch._refs  # registers the reference decompositions
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._ops import OpOverload, OpOverloadPacket

from torch2mlir.transforms.core_ops import CORE_OPS, IDENTITIES

aten = torch.ops.aten
prims = torch.ops.prims

Decomposition = Callable[..., Any]
_OURS: dict[OpOverload, Decomposition] = {}


def decomposes(*overloads: OpOverload) -> Callable[[Decomposition], Decomposition]:
    """Registers a function of tensors as the decomposition of operators; it replaces PyTorch's."""

    def register(function: Decomposition) -> Decomposition:
        for overload in overloads:
            _OURS[overload] = function
        table.cache_clear()
        return function

    return register


def find_overload(op_name: str) -> OpOverload | None:
    """PyTorch's operator for ``torch.aten.add.Tensor``, or None if the installed PyTorch has no such operator."""
    _, namespace, name, *overload = op_name.split(".")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    chosen = ".".join(overload) or "default"
    if not isinstance(packet, OpOverloadPacket) or chosen not in packet.overloads():
        return None
    found: OpOverload = getattr(packet, chosen)
    return found


def op_name(overload: OpOverload) -> str:
    """``torch.aten.add.Tensor`` for PyTorch's operator."""
    schema = overload._schema
    suffix = f".{schema.overload_name}" if schema.overload_name else ""
    return f"torch.{schema.name.replace('::', '.')}{suffix}"


@lru_cache(maxsize=1)
def table() -> dict[Any, Decomposition]:
    """Operator -> decomposition for everything that is not core; ours first, then PyTorch's."""
    known = dict[Any, Decomposition](decomposition_table)
    known.update(core_aten_decompositions())
    known.update(_prims_as_aten())
    known.update(_OURS)
    return {
        op: function
        for op, function in known.items()
        if isinstance(op, OpOverload) and op_name(op) not in CORE_OPS | IDENTITIES
    }


def find_decomposition(overload: OpOverload) -> Decomposition | None:
    """The function that computes an operator from others, or None."""
    known = table().get(overload)
    if known is not None:
        return known
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    if overload.has_kernel_for_dispatch_key(composite):
        return overload.decompose
    return None


# prims that PyTorch's reference decompositions end in, as the ATen ops they are

_PRIM_ELEMENTWISE = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil cos cosh"
    " eq erf exp expm1 floor fmod ge gt isnan le log log10 log1p log2 lt maximum minimum mul ne neg pow reciprocal"
    " remainder round rsqrt sign sin sinh sqrt sub tan tanh trunc"
)


def _prims_as_aten() -> dict[OpOverload, Decomposition]:
    found = dict[OpOverload, Decomposition]()
    for name in _PRIM_ELEMENTWISE.split():
        prim = getattr(prims, name, None)
        if prim is not None:
            found[prim.default] = getattr(aten, name)
    return found


@decomposes(prims.div.default)
def _div(a: Any, b: Any) -> Any:
    """``prims.div`` truncates integers where ``aten.div`` promotes to float."""
    integer = not torch.is_tensor(a) or not (a.dtype.is_floating_point or a.dtype.is_complex)
    return aten.div(a, b, rounding_mode="trunc") if integer else aten.div(a, b)


@decomposes(prims.where.default)
def _where(condition: Any, on_true: Any, on_false: Any) -> Any:
    return aten.where(condition, on_true, on_false)


@decomposes(prims.broadcast_in_dim.default)
def _broadcast_in_dim(a: Any, shape: Any, dims: Any) -> Any:
    for dim in range(len(shape)):
        if dim not in dims:
            a = aten.unsqueeze(a, dim)
    return aten.expand(a, shape)


@decomposes(prims.sum.default)
def _sum(a: Any, dims: Any, *, output_dtype: Any = None) -> Any:
    return aten.sum.dim_IntList(a, dims, False, dtype=output_dtype or a.dtype)


@decomposes(prims.amax.default)
def _amax(a: Any, dims: Any, *, output_dtype: Any = None) -> Any:
    return aten.amax(a, dims)


@decomposes(prims.amin.default)
def _amin(a: Any, dims: Any, *, output_dtype: Any = None) -> Any:
    return aten.amin(a, dims)


@decomposes(prims.transpose.default)
def _transpose(a: Any, permutation: Any) -> Any:
    return aten.permute(a, permutation)


@decomposes(prims.view_of.default)
def _view_of(a: Any) -> Any:
    return aten.alias(a)


# ops PyTorch leaves whole, or decomposes for one CPU kernel


@decomposes(aten.scaled_dot_product_attention.default)
def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``softmax(scale * query @ key.T + mask) @ value``; half precision computes in float32.

    A row whose keys are all masked gives zeros, as PyTorch's: its maximum is clamped to the lowest finite number, so
    its exponentials vanish, and the sum of any other row is at least ``exp(0)``.
    """
    dtype = query.dtype
    computed = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    query, key, value = (x.to(computed) for x in (query, key, value))
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query * scale, key.transpose(-2, -1))
    if is_causal:
        rows, columns = (torch.arange(n, device=scores.device) for n in scores.shape[-2:])
        scores = torch.where(rows.unsqueeze(1) >= columns, scores, -torch.inf)
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, -torch.inf)
        else:
            scores = scores + attn_mask
        lowest = torch.finfo(computed).min
        exponentials = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=lowest))
        weights = exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1.0)
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value).to(dtype)


@decomposes(aten.var.correction, prims.var.default)
def _var(a: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False, **_: Any) -> Any:
    """Mean of squared deviations, divided by ``n - correction``. https://pytorch.org/docs/stable/generated/torch.var.html"""
    return _var_mean(a, dim, correction=correction, keepdim=keepdim)[0]


@decomposes(aten.var_mean.correction)
def _var_mean(a: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    dims = list(dim) if dim else list(range(a.dim()))
    count: Any = 1
    for axis in dims:
        count = count * a.shape[axis]
    computed = a.float() if a.dtype in (torch.float16, torch.bfloat16) else a
    mean = computed.mean(dims, keepdim=True)
    deviation = computed - mean
    squares = deviation.abs() ** 2 if deviation.is_complex() else deviation * deviation
    # torch.sum of the squares over n - correction; the sum and the mean are the same where there is no correction
    correction = 1 if correction is None else correction
    if correction == 0:
        variance = squares.mean(dims, keepdim=keepdim)
    else:
        divisor = count - correction
        if isinstance(divisor, torch.SymInt | torch.SymFloat):
            divisor = torch.sym_max(divisor, 0)
        else:
            divisor = max(divisor, 0)
        variance = squares.sum(dims, keepdim=keepdim) / divisor
    if not keepdim:
        mean = mean.squeeze(dims)
    real = variance.dtype if not a.is_complex() else variance.dtype
    return variance.to(real if computed is a else a.dtype), mean.to(a.dtype)


@decomposes(aten._native_batch_norm_legit_no_training.default)
def _batch_norm_inference(
    input: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> Any:
    """One affine step per channel: ``input * scale + shift`` with both computed from the statistics alone."""
    scale = torch.rsqrt(variance + eps)
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    channels = [1, -1] + [1] * (input.dim() - 2)
    out = input * scale.view(channels).to(input.dtype) + shift.view(channels).to(input.dtype)
    empty = input.new_empty(0)
    return out, empty, empty


@decomposes(aten.batch_norm.default)
def _batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    """In inference the affine step at once; in training PyTorch's own form, which updates the statistics."""
    if not training:
        return _batch_norm_inference(input, weight, bias, mean, variance, momentum, eps)[0]
    return aten.native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps)[0]


@decomposes(aten.split_with_sizes.default)
def _split_with_sizes(a: Any, sizes: Any, dim: int = 0) -> Any:
    parts, start = [], 0
    for size in sizes:
        parts.append(aten.slice(a, dim, start, start + size))
        start = start + size
    return parts


@decomposes(aten.split.Tensor)
def _split(a: Any, size: Any, dim: int = 0) -> Any:
    length = a.shape[dim]
    count = max((length + size - 1) // size, 1)
    return [
        aten.slice(a, dim, index * size, min((index + 1) * size, length)) for index in range(count)
    ]


@decomposes(aten._to_copy.default)
def _to_copy(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return (
        aten.view(a, a.shape) if dtype in (None, a.dtype) else prims.convert_element_type(a, dtype)
    )


@decomposes(aten.any.default, aten.any.dim)
def _any(a: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return aten.any.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


@decomposes(aten.all.default, aten.all.dim)
def _all(a: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return aten.all.dims(a, list(range(a.dim())) if dim is None else [dim], keepdim)


@decomposes(aten.sum.default)
def _sum_all(a: Any, *, dtype: Any = None) -> Any:
    return aten.sum.dim_IntList(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.mean.default)
def _mean_all(a: Any, *, dtype: Any = None) -> Any:
    return aten.mean.dim(a, list(range(a.dim())), False, dtype=dtype)


@decomposes(aten.squeeze.dim)
def _squeeze_dim(a: Any, dim: int) -> Any:
    return aten.squeeze.dims(a, [dim])


@decomposes(aten.squeeze.default)
def _squeeze(a: Any) -> Any:
    return aten.squeeze.dims(a, [i for i, size in enumerate(a.shape) if size == 1])


@decomposes(aten._unsafe_view.default, aten.reshape.default, aten.view_copy.default)
def _reshape(a: Any, size: Any) -> Any:
    """Contiguity is no concern of a value tensor: a reshape is a view."""
    return aten.view(a.contiguous(), size)


@decomposes(aten.arange.default)
def _arange(end: Any, **options: Any) -> Any:
    return aten.arange.start_step(0, end, 1, **options)


@decomposes(aten.arange.start)
def _arange_start(start: Any, end: Any, **options: Any) -> Any:
    return aten.arange.start_step(start, end, 1, **options)


@decomposes(aten.full_like.default)
def _full_like(a: Any, value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros_like.default, aten.empty_like.default)
def _zeros_like(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.ones_like.default)
def _ones_like(a: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(a.shape, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_full.default)
def _new_full(a: Any, size: Any, value: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, value, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_zeros.default, aten.new_empty.default)
def _new_zeros(a: Any, size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 0, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.new_ones.default)
def _new_ones(a: Any, size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 1, dtype=dtype or a.dtype, device=a.device)


@decomposes(aten.zeros.default, aten.empty.memory_format)
def _zeros(size: Any, *, dtype: Any = None, **_: Any) -> Any:
    """An uninitialised tensor may hold anything: zeros are what every engine agrees on."""
    return aten.full(size, 0, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.ones.default)
def _ones(size: Any, *, dtype: Any = None, **_: Any) -> Any:
    return aten.full(size, 1, dtype=dtype or torch.get_default_dtype(), device="cpu")


@decomposes(aten.copy.default)
def _copy(a: Any, source: Any, non_blocking: bool = False) -> Any:
    return aten.expand(_to_copy(source, dtype=a.dtype), a.shape)


@decomposes(aten.max.default)
def _max(a: Any) -> Any:
    return aten.amax(a, list(range(a.dim())))


@decomposes(aten.min.default)
def _min(a: Any) -> Any:
    return aten.amin(a, list(range(a.dim())))


@decomposes(prims.prod.default)
def _prod(a: Any, dims: Any, *, output_dtype: Any = None) -> Any:
    for dim in sorted(dims, reverse=True):
        a = aten.prod.dim_int(a, dim, dtype=output_dtype or a.dtype)
    return a


@decomposes(prims.exp2.default)
def _exp2(a: Any) -> Any:
    return aten.pow.Scalar(2.0, a)


@decomposes(prims.erfc.default)
def _erfc(a: Any) -> Any:
    return 1 - aten.erf(a)


@decomposes(prims.signbit.default)
def _signbit(a: Any) -> Any:
    """Negative, or minus zero."""
    if not a.dtype.is_floating_point:
        return a < 0
    return (a < 0) | ((a == 0) & (1 / a < 0))


@decomposes(prims.fmax.default)
def _fmax(a: Any, b: Any) -> Any:
    """The larger; a number beats NaN."""
    return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, torch.maximum(a, b)))


@decomposes(prims.fmin.default)
def _fmin(a: Any, b: Any) -> Any:
    """The smaller; a number beats NaN."""
    return torch.where(torch.isnan(a), b, torch.where(torch.isnan(b), a, torch.minimum(a, b)))


@decomposes(prims.hypot.default)
def _hypot(a: Any, b: Any) -> Any:
    return torch.sqrt(a * a + b * b)


@decomposes(
    aten.bitwise_left_shift.Tensor,
    aten.bitwise_left_shift.Tensor_Scalar,
    aten.__lshift__.Tensor,
    aten.__lshift__.Scalar,
    prims.shift_left.default,
)
def _left_shift(a: Any, b: Any) -> Any:
    """``a * 2**b``; bits leave at the top as they do in a product."""
    return a * _power_of_two(a, b)


@decomposes(
    aten.bitwise_right_shift.Tensor,
    aten.bitwise_right_shift.Tensor_Scalar,
    aten.__rshift__.Tensor,
    aten.__rshift__.Scalar,
    prims.shift_right_arithmetic.default,
)
def _right_shift(a: Any, b: Any) -> Any:
    """``a // 2**b``: rounding down is what keeping the sign bit does."""
    return torch.div(a, _power_of_two(a, b), rounding_mode="floor")


def _power_of_two(a: Any, b: Any) -> Any:
    return torch.pow(2, b).to(a.dtype) if torch.is_tensor(b) else 2 ** int(b)


@decomposes(aten._trilinear.default)
def _trilinear(
    a: Any,
    b: Any,
    c: Any,
    expand1: Any,
    expand2: Any,
    expand3: Any,
    sumdim: Any,
    unroll_dim: int = 1,
) -> Any:
    """The product of three tensors broadcast along the given new dimensions, summed."""
    factors = []
    for factor, new in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in sorted(new):
            factor = factor.unsqueeze(dim)
        factors.append(factor)
    product = factors[0] * factors[1] * factors[2]
    return product.sum(list(sumdim)) if sumdim else product


@decomposes(aten.diagonal.default)
def _diagonal(a: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Every ``columns + 1``-th element of the flattened matrix."""
    dim1, dim2 = dim1 % a.dim(), dim2 % a.dim()
    outer = [d for d in range(a.dim()) if d not in (dim1, dim2)]
    rows, columns = a.shape[dim1], a.shape[dim2]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    if length == 0:
        return a.new_zeros([*(a.shape[d] for d in outer), 0])
    start = offset if offset >= 0 else -offset * columns
    flat = aten.permute(a, [*outer, dim1, dim2]).flatten(-2)
    return aten.slice(flat, -1, start, start + (length - 1) * (columns + 1) + 1, columns + 1)


@decomposes(aten.as_strided.default)
def _as_strided(a: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Elements of the flattened tensor at ``offset + sum(index * stride)``; ``a`` is contiguous."""
    places = torch.full([], storage_offset or 0, dtype=torch.int64, device=a.device)
    for count, step in zip(size, stride, strict=True):
        places = places.unsqueeze(-1) + torch.arange(count, device=a.device) * step
    return aten.index_select(a.reshape(-1), 0, places.reshape(-1)).reshape(size)


@decomposes(aten.slice_scatter.default)
def _slice_scatter(
    a: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Any:
    """What is before, the source, what is after; steps go PyTorch's way."""
    if step != 1:
        return decomposition_table[aten.slice_scatter.default](a, source, dim, start, end, step)
    size = a.shape[dim]
    start = 0 if start is None else max(start + size, 0) if start < 0 else min(start, size)
    end = start + source.shape[dim]
    before, after = aten.slice(a, dim, 0, start), aten.slice(a, dim, end, size)
    return aten.cat([part for part in (before, source, after) if part.shape[dim] != 0], dim)


@decomposes(aten.select_scatter.default)
def _select_scatter(a: Any, source: Any, dim: int, index: Any) -> Any:
    index = index + a.shape[dim] if index < 0 else index
    return _slice_scatter(a, source.unsqueeze(dim), dim, index, index + 1)
