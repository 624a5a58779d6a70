"""Pools over one to three dimensions, in terms of the two-dimensional ones of the core set, and their gradients.

A window is a product of intervals: sums and maxima over it are taken along one dimension (or two) after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

import torch
from torch import Tensor
from torch.types import Number

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten
prims = torch.ops.prims


def _each(option: Sequence[int], count: int) -> list[Any]:
    """An option of a window, given for each dimension or once for all."""
    listed = [option] if isinstance(option, int) else list(option)
    return listed * count if len(listed) == 1 else listed


def computed_in(x: Tensor) -> Tensor:
    """Half precision adds up in float32, as PyTorch does on CPU."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _batched(x: Tensor, spatial: int) -> Tensor:
    return x if x.dim() == spatial + 2 else x.unsqueeze(0)


# windows that slide


def _counts(size: int, count: int, window: tuple[int, int, int], with_padding: bool) -> Tensor:
    """How many elements each of ``count`` windows along a dimension has; rank 1."""
    kernel, stride, padding = window
    starts = torch.arange(count) * stride - padding
    ends = (starts + kernel).clamp(max=size + padding)
    if not with_padding:
        starts, ends = starts.clamp(min=0), ends.clamp(max=size)
    return ends - starts


def _divisors(
    x: Tensor,
    counts: Sequence[Any],
    windows: Sequence[tuple[int, int, int]],
    ceil_mode: bool,
    with_padding: bool,
    override: int | None,
) -> Tensor | Number:
    """What sums of windows over the last dimensions of ``x`` are divided by: a number, or a tensor of their rank."""
    if override is not None:
        return override
    padded = any(padding for _, _, padding in windows)
    if not ceil_mode and (with_padding or not padded):
        return prod(kernel for kernel, _, _ in windows)
    total: Any = 1
    spatial = len(windows)
    for axis, (count, window) in enumerate(zip(counts, windows, strict=True)):
        along = _counts(x.shape[axis - spatial], count, window, with_padding)
        total = total * along.view([-1] + [1] * (spatial - 1 - axis))
    return total


def _windows(
    kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], spatial: int
) -> list[tuple[int, int, int]]:
    """Kernel, stride and padding of each dimension; no stride means the kernel's size."""
    options = (_each(option, spatial) for option in (kernel, stride or kernel, padding))
    return list(zip(*options, strict=True))


def _divided(total: Any, divisor: Any) -> Any:
    """Integers round towards zero."""
    mode = None if total.dtype.is_floating_point else "trunc"
    return aten.div(total, divisor, rounding_mode=mode) if mode else total / divisor


@decomposes(aten.avg_pool3d.default)
def _avg_pool3d(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Sums over planes, sums of these over depth, divided by the number of elements."""
    windows = _windows(kernel, stride, padding, 3)
    total = _window_sums(_batched(computed_in(x), 3), windows, ceil_mode)
    divisor = _divisors(x, total.shape[2:], windows, ceil_mode, count_include_pad, divisor_override)
    mean = _divided(total, divisor).to(x.dtype)
    return mean if x.dim() == 5 else mean.squeeze(0)


def _window_sums(x: Tensor, windows: Sequence[tuple[int, int, int]], ceil_mode: bool) -> Tensor:
    """The sum of each window over the last two or three dimensions of ``[N, C, ..]``."""
    kernels, strides, paddings = (list(option) for option in zip(*windows, strict=True))
    plane = [kernels[-2:], strides[-2:], paddings[-2:]]
    if len(windows) == 2:
        return aten.avg_pool2d(x, *plane, ceil_mode, True, 1)
    n, c, depth, height, width = x.shape
    planes = aten.avg_pool2d(x.reshape(n, c * depth, height, width), *plane, ceil_mode, True, 1)
    height, width = planes.shape[-2:]
    columns = planes.reshape(n, c, depth, height * width)
    along = [[kernels[0], 1], [strides[0], 1], [paddings[0], 0]]
    sums = aten.avg_pool2d(columns, *along, ceil_mode, True, 1)
    return sums.reshape(n, c, sums.shape[2], height, width)


@decomposes(aten.max_pool3d_with_indices.default)
def _max_pool3d_with_indices(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of planes, maxima of these over depth: the first place of the whole window, as PyTorch has it."""
    k, s, p, d = (_each(o, 3) for o in (kernel, stride or kernel, padding, dilation))
    n, c, depth, height, width = _batched(x, 3).shape
    planes, inner = aten.max_pool2d_with_indices(
        x.reshape(n, c * depth, height, width), k[1:], s[1:], p[1:], d[1:], ceil_mode
    )
    rows, columns = planes.shape[-2:]
    values, outer = aten.max_pool2d_with_indices(
        planes.reshape(n, c, depth, rows * columns),
        [k[0], 1],
        [s[0], 1],
        [p[0], 0],
        [d[0], 1],
        ceil_mode,
    )
    flat = outer.reshape(n, c, -1)
    within = torch.gather(inner.reshape(n, c, depth * rows * columns), 2, flat)
    plane = torch.div(flat, rows * columns, rounding_mode="floor")
    places = plane * (height * width) + within
    sizes = [*x.shape[:-3], values.shape[2], rows, columns]
    return values.reshape(sizes), places.reshape(sizes)


@decomposes(aten.avg_pool2d_backward.default, aten.avg_pool3d_backward.default)
def _avg_pool_backward(
    grad: Tensor,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Every element gets the shares of the windows it is in: window sums of the shares, spread by the stride."""
    spatial = _spatial(x, kernel)
    windows = _windows(kernel, stride, padding, spatial)
    counts = grad.shape[-spatial:]
    divisor = _divisors(x, counts, windows, ceil_mode, count_include_pad, divisor_override)
    shares = _batched(computed_in(grad) / divisor, spatial)
    for axis, (size, step, pad) in enumerate(windows):
        shares = _spread(shares, axis - spatial, x.shape[axis - spatial], size, step, pad)
    sums = _window_sums(shares, [(size, 1, 0) for size, _, _ in windows], False)
    return sums.reshape(x.shape).to(x.dtype)


def _spatial(x: Tensor, option: Sequence[int]) -> int:
    """How many dimensions a pool is over: the gradients' schemas list an option for each, or one for all."""
    return len(option) if len(option) > 1 else x.dim() - 2


def _spread(x: Tensor, dim: int, size: int, kernel: int, stride: int, padding: int) -> Tensor:
    """``stride - 1`` zeros after every element and zeros around: window ``i`` now ends at element ``i``."""
    dim = dim % x.dim()
    behind = 2 * (x.dim() - 1 - dim)
    apart = aten.constant_pad_nd(
        x.unsqueeze(dim + 1), [0, 0] * (x.dim() - 1 - dim) + [0, stride - 1]
    )
    apart = apart.reshape([*x.shape[:dim], x.shape[dim] * stride, *x.shape[dim + 1 :]])
    around = aten.constant_pad_nd(apart, [0] * behind + [kernel - 1, kernel - 1])
    return aten.slice(around, dim, padding, padding + size + kernel - 1)


def _back_to_maxima(spatial: int) -> Callable[..., Any]:
    """The gradient of a maximum over windows of so many dimensions: places come last, options do not matter."""

    def backward(grad: Tensor, x: Tensor, *options: Any) -> Tensor:
        zeros = torch.zeros_like(x).flatten(-spatial)
        places, flows = options[-1].flatten(-spatial), grad.flatten(-spatial)
        return zeros.scatter_add(-1, places, flows).reshape(x.shape)

    return backward


decomposes(
    aten.max_pool2d_with_indices_backward.default,
    aten.adaptive_max_pool2d_backward.default,
    aten.fractional_max_pool2d_backward.default,
)(_back_to_maxima(2))
decomposes(
    aten.max_pool3d_with_indices_backward.default,
    aten.adaptive_max_pool3d_backward.default,
    aten.fractional_max_pool3d_backward.default,
)(_back_to_maxima(3))


# windows that share a size out evenly


def _shared_out(size: int, count: int) -> tuple[Any, Any, Any]:
    """First places and lengths of the ``count`` windows of an adaptive pool, and the length of the longest.

    Window ``i`` is ``floor(i * size / count)`` to ``ceil((i + 1) * size / count)``.
    """
    numbers = torch.arange(count)
    starts = torch.div(numbers * size, count, rounding_mode="floor")
    ends = torch.div((numbers + 1) * size + (count - 1), count, rounding_mode="floor")
    if isinstance(size, int) and isinstance(count, int):
        longest = max(
            (-(-(i + 1) * size // count) - i * size // count for i in range(count)), default=1
        )
    else:
        longest = (size + count - 1) // count + 1
    return starts, ends - starts, longest


def _divides(size: int, count: int) -> bool:
    """Whether windows are known to be equal and apart."""
    return count == 1 or isinstance(size, int) and isinstance(count, int) and size % count == 0


def _gathered(x: Tensor, dim: int, count: int) -> tuple[Any, Any, Any, Any]:
    """The elements of the windows along ``dim`` as ``[.., window, element, ..]``.

    Also which of them are a window's own, and first places and lengths, of ranks that broadcast to windows.
    """
    size = x.shape[dim]
    starts, lengths, longest = _shared_out(size, count)
    offsets = torch.arange(longest)
    places = (starts.unsqueeze(1) + offsets).clamp(max=size - 1)
    behind = [1] * (x.dim() - 1 - dim)
    elements = torch.index_select(x, dim, places.reshape(-1))
    elements = elements.reshape([*x.shape[:dim], count, longest, *x.shape[dim + 1 :]])
    own = (offsets < lengths.unsqueeze(1)).view([count, longest, *behind])
    return elements, own, starts.view([count, *behind]), lengths.view([count, *behind])


def _shared_sums(x: Tensor, dim: int, count: int) -> Tensor:
    """The sum of each window of an adaptive pool."""
    elements, own, _, _ = _gathered(x, dim, count)
    return torch.where(own, elements, 0).sum(dim + 1)


def _shared_means(x: Tensor, dim: int, count: int) -> Tensor:
    """The mean of each window of an adaptive pool."""
    size = x.shape[dim]
    if _divides(size, count):
        split = [*x.shape[:dim], count, size // count, *x.shape[dim + 1 :]]
        return x.reshape(split).mean(dim + 1)
    elements, own, _, lengths = _gathered(x, dim, count)
    return torch.where(own, elements, 0).sum(dim + 1) / lengths


def _shared_maxima(x: Tensor, dim: int, count: int) -> tuple[Any, Any]:
    """The maximum of each window of an adaptive pool and its place along ``dim``."""
    size = x.shape[dim]
    if _divides(size, count):
        behind = [1] * (x.dim() - 1 - dim)
        split = [*x.shape[:dim], count, size // count, *x.shape[dim + 1 :]]
        values, places = x.reshape(split).max(dim + 1)
        starts = (torch.arange(count) * (size // count)).view([count, *behind])
    else:
        elements, own, starts, _ = _gathered(x, dim, count)
        lowest = -inf if x.dtype.is_floating_point else torch.iinfo(x.dtype).min
        values, places = torch.where(own, elements, lowest).max(dim + 1)
    return values, places + starts


@decomposes(aten._adaptive_avg_pool2d.default, aten._adaptive_avg_pool3d.default)
def _adaptive_avg_pool(x: Tensor, output_size: Sequence[int]) -> Tensor:
    """Means of means: the windows of each dimension are the same for all elements of the others."""
    result, spatial = computed_in(x), len(output_size)
    if all(count == 1 for count in output_size):
        return result.mean(list(range(-spatial, 0)), keepdim=True).to(x.dtype)
    for dim, count in enumerate(output_size, x.dim() - spatial):
        result = _shared_means(result, dim, count)
    return result.to(x.dtype)


@decomposes(aten._adaptive_avg_pool2d_backward.default)
def _adaptive_avg_pool2d_backward(grad: Tensor, x: Tensor) -> Tensor:
    return _adaptive_avg_pool_backward(grad, x, 2)


@decomposes(aten._adaptive_avg_pool3d_backward.default)
def _adaptive_avg_pool3d_backward(grad: Tensor, x: Tensor) -> Tensor:
    return _adaptive_avg_pool_backward(grad, x, 3)


def _adaptive_avg_pool_backward(grad: Tensor, x: Tensor, spatial: int) -> Tensor:
    """Shares of the windows an element is in; these are again those of an adaptive pool, from ``grad`` to ``x``."""
    result = computed_in(grad)
    for dim in range(x.dim() - spatial, x.dim()):
        size, count = x.shape[dim], grad.shape[dim]
        if _divides(size, count):
            apart = (result / (size // count)).unsqueeze(dim + 1)
            sizes = [*result.shape[:dim], count, size // count, *result.shape[dim + 1 :]]
            result = apart.expand(sizes).flatten(dim, dim + 1)
        else:
            _, lengths, _ = _shared_out(size, count)
            shares = result / lengths.view([count] + [1] * (x.dim() - 1 - dim))
            result = _shared_sums(shares, dim, size)
    return result.to(x.dtype)


@decomposes(aten.adaptive_max_pool2d.default, aten.adaptive_max_pool3d.default)
def _adaptive_max_pool(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor | None]:
    """From the last dimension to the first, so that the first of equal maxima in row-major order is found."""
    values, places, below = x, None, 1
    spatial = len(output_size)
    for dim, count in reversed(list(enumerate(output_size, x.dim() - spatial))):
        values, along = _shared_maxima(values, dim, count)
        inner = 0 if places is None else _at(places, dim, along)
        places = along * below + inner
        below = below * x.shape[dim]
    return values, places


def _at(x: Tensor, dim: int, places: Tensor) -> Tensor:
    """``x.gather(dim, places)`` in memory order: what comes after ``dim`` has equal sizes in both."""
    behind: Any = prod(x.shape[dim + 1 :])
    columns = torch.arange(behind).view([1, *x.shape[dim + 1 :]])
    flat = (places * behind + columns).flatten(dim)
    return torch.gather(x.flatten(dim), dim, flat).reshape(places.shape)


# windows at random places


@decomposes(aten.fractional_max_pool2d.default)
def _fractional_max_pool2d(
    x: Tensor, kernel: Sequence[int], output_size: Sequence[int], samples: Tensor
) -> tuple[Tensor, Tensor]:
    """The samples of a plane are those of its width and its height."""
    return _fractional_max_pool(x, kernel, output_size, samples.flip(-1))


@decomposes(aten.fractional_max_pool3d.default)
def _fractional_max_pool(
    x: Tensor, kernel: Sequence[int], output_size: Sequence[int], samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Maxima of windows that start at pseudorandom places, given by a sample per plane and dimension.

    Graham, Fractional Max-Pooling, https://arxiv.org/abs/1412.6071; places as PyTorch computes them on CPU.
    """
    spatial = len(kernel)
    source = _batched(x, spatial)
    n, c = source.shape[:2]
    sizes = source.shape[2:]
    places: Any = 0
    for axis, (size, window, count) in enumerate(zip(sizes, kernel, output_size, strict=True)):
        starts = _fractional_starts(samples[..., axis].reshape(n, c, 1), size, window, count)
        along = starts.unsqueeze(-1) + torch.arange(window)
        shape = [1] * (2 * spatial)
        shape[axis], shape[spatial + axis] = count, window
        places = places * size + along.view([n, c, *shape])
    flat = places.expand([n, c, *output_size, *kernel]).reshape(
        n, c, prod(output_size), prod(kernel)
    )
    elements = torch.gather(source.flatten(2), 2, flat.flatten(2)).reshape(flat.shape)
    values, best = elements.max(-1)
    indices = torch.gather(flat, 3, best.unsqueeze(-1))
    shape = [*x.shape[: x.dim() - spatial], *output_size]
    return values.reshape(shape), indices.reshape(shape)


def _fractional_starts(sample: Tensor, size: int, window: int, count: int) -> Tensor:
    """``floor((i + u) * alpha) - floor(u * alpha)``, the last window at the end."""
    last = torch.full_like(sample, 0, dtype=torch.int64) + (size - window)
    if count == 1:
        return last
    alpha = (size - window) / (count - 1)
    numbers = torch.arange(count - 1, dtype=sample.dtype)
    starts = ((numbers + sample) * alpha).long() - (sample * alpha).long()
    return torch.cat([starts, last], -1)
