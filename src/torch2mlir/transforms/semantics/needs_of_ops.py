"""What each op needs of sizes that vary, as Python writes it: a rule an op, or a family of ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import INT64_MAX, Dim, KnownSize
from torch2mlir.transforms.typing.type_lattice import is_known_tensor

Types = Sequence[Attribute | None]
"""Of an op's results, of lists those of the members."""
Question = tuple[str, Sequence[KnownSize | None]]
"""It as Python writes it, and what it is about."""
Sizes = Sequence[KnownSize]
Rule = Callable[[Sizes, Sequence[Any], Types], Iterator[Question]]


def _length(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[start:end:step]`` is as long as its type says."""
    dim, *positions = arguments
    (length,) = (_size_of(type, dim) for type in types[:1])
    if length is not None:
        yield from _slice(sizes, dim, positions, length)


def _written_length(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[start:end:step]`` is as long as what is written to it."""
    source, dim, *positions = arguments
    length = _size_of(source.type, dim)
    if length is not None:
        yield from _slice(sizes, dim, positions, length)


def _slice(
    sizes: Sizes, dim: Any, positions: Sequence[Any], length: KnownSize
) -> Iterator[Question]:
    if isinstance(dim, int) and all(isinstance(each, int | Dim | None) for each in positions):
        size = sizes[dim]
        start, end, step = positions
        if not start and (end is None or end == INT64_MAX) and step == 1 and size == length:
            return
        shown = ":".join("" if each is None else f"{each}" for each in positions)
        yield f"len(range({size})[{shown}]) == {length}", [size, length, *positions]


def _size_of(type: Any, dim: Any) -> KnownSize | None:
    return type.sizes[dim] if isinstance(dim, int) and is_known_tensor(type) else None


def _place(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``x[place]`` is inside of the tensor."""
    dim, place = arguments[-2:]
    if isinstance(dim, int) and isinstance(place, int | Dim):
        size = sizes[dim]
        yield f"-({size}) <= {place} < {size}", [size, place]


def _part(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``narrow`` stays inside of the tensor."""
    dim, start, length = arguments
    if isinstance(dim, int) and isinstance(start, int | Dim) and isinstance(length, int | Dim):
        size = sizes[dim]
        first = f"({start} + {size} if {start} < 0 else {start})"
        yield f"0 <= {first} and 0 <= {length} <= {size} - {first}", [size, start, length]


def _squeezed(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Sizes that are left are not 1, those that are gone are."""
    given = arguments[0] if arguments else list(range(len(sizes)))
    asked = given if isinstance(given, list) else [given]
    result: Any = types[0]
    if not is_known_tensor(result) or not all(isinstance(dim, int) for dim in asked):
        return
    varying = [size for size in {sizes[dim] for dim in asked} if isinstance(size, Dim)]
    ones = sum(sizes[dim] == 1 for dim in asked)
    is_left = len(result.sizes) == len(sizes) - ones
    if not is_left and len(asked) > 1:  # which of them is gone is not said
        return
    for size in varying:
        yield f"{size} {'!=' if is_left else '=='} 1", [size]


def _padding_of(spatial: int, mode: str) -> Rule:
    """What is taken for padding is there.

    Args:
        spatial: how many dimensions are padded.
        mode: of ``torch.nn.functional.pad``.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        yield from _padding(sizes, arguments[0], spatial, mode)

    return rule


def _padded(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What ``pad`` of a mode takes for padding is there, and what one of a constant cuts off."""
    pads, mode = arguments[:2]
    if not isinstance(pads, list):
        return
    if mode in _LEAST:
        yield from _padding(sizes, pads, len(pads) // 2, mode)
    elif mode == "constant":
        for number, (low, high) in enumerate(zip(pads[::2], pads[1::2], strict=True)):
            if not all(isinstance(pad, int) and pad >= 0 for pad in (low, high)):
                size = sizes[-1 - number]
                yield f"{size} + min({low}, 0) + min({high}, 0) >= 0", [size, low, high]


def _padding(sizes: Sizes, pads: Any, spatial: int, mode: str) -> Iterator[Question]:
    if not isinstance(pads, list) or not all(isinstance(pad, int | Dim) for pad in pads):
        return
    first = int(len(sizes) == spatial + 2)  # a batch may be empty
    for dim in range(first, len(sizes) - spatial if mode != "circular" else 0):
        yield f"{sizes[dim]} > 0", [sizes[dim]]
    for number in range(spatial):
        low, high, size = pads[2 * number], pads[2 * number + 1], sizes[-1 - number]
        yield f"{size} >= {_LEAST[mode].format(low=low, high=high)}", [size, low, high]


_LEAST = {
    "reflect": "max({low}, {high}, 0) + 1",
    "replicate": "1",
    "circular": "max({low}, {high})",
}
"""By mode, the smallest size of a dimension that can be padded by so many elements before and behind it."""


def _windows(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """A window is not longer than its dimension."""
    dim, length, _ = arguments
    if isinstance(dim, int) and isinstance(length, int | Dim) and sizes:
        yield f"{length} <= {sizes[dim]}", [length, sizes[dim]]


def _strided(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """The last element that ``as_strided`` reads of a tensor in the order of memory is there."""
    lengths, strides, start = arguments
    if not all(isinstance(each, list) for each in (lengths, strides)):
        return
    places = [*lengths, *strides, start or 0]
    if not all(isinstance(each, int | Dim) for each in places) or 0 in lengths:
        return
    whole, last = dims.product(sizes), f"{start or 0}"
    for length, stride in zip(lengths, strides, strict=True):
        last += f" + ({length} - 1) * ({stride})"
    empty = "".join(f" or {length} == 0" for length in lengths if isinstance(length, Dim))
    yield f"{last} < {whole}{empty}", [*places, whole]


def _ranked(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """There are as many elements as are taken by rank."""
    count, dim = arguments[:2]
    if isinstance(dim, int) and isinstance(count, int | Dim) and sizes:
        yield f"{count} <= {sizes[dim]}", [count, sizes[dim]]


def _counted(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """``arange`` counts in the direction of its step."""
    start, end, *options = arguments
    step = options[0] if len(options) == 5 else 1
    if isinstance(start, int | Dim) and isinstance(end, int | Dim) and isinstance(step, int):
        yield f"{start} {'<=' if step > 0 else '>='} {end}", [start, end]


def _parts(count: str) -> Rule:
    """There are as many parts as the program takes.

    Args:
        count: of ``size`` and ``each``, how many.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        each, dim = arguments
        if isinstance(dim, int) and isinstance(each, int | Dim):
            size = sizes[dim]
            asked = count.format(size=f"({size})", each=f"({each})")
            yield f"{asked} == {len(types)}", [size, each]

    return rule


def _whole(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Parts are as long together as what they are parts of."""
    lengths, dim = arguments
    known = isinstance(lengths, list) and all(isinstance(each, int | Dim) for each in lengths)
    if not known or not isinstance(dim, int):
        return
    whole = dims.add(0, *lengths)
    if whole != sizes[dim]:
        yield f"{whole} == {sizes[dim]}", [*lengths, sizes[dim]]


def _filled(first: int, of_result: bool = True) -> Rule:
    """Dimensions have elements, in the operand and in the result.

    Args:
        first: of these dimensions, counted from the front, or from the end if it is negative.
        of_result: whether the result's have to.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        result: Any = types[0] if types else None
        made = result.sizes if of_result and is_known_tensor(result) else ()
        for size in (*sizes[first:], *made[first:]):
            yield f"{size} > 0", [size]

    return rule


def _pooled(spatial: int) -> Rule:
    """Dimensions other than a batch have elements, in the operand and in the result.

    Args:
        spatial: how many dimensions windows have.
    """
    return _filled(-spatial - 1)


def _reduced(place: int) -> Rule:
    """Dimensions that are reduced to one of their elements have some.

    Args:
        place: of the dimensions among the arguments; None are all.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        for dim in _dimensions(arguments[place], sizes):
            yield f"{sizes[dim]} > 0", [sizes[dim]]

    return rule


def _normed(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """The same where a norm takes the largest element, or powers below 0."""
    order = arguments[0]
    if isinstance(order, int | float) and not 0 <= order < math.inf:
        yield from _reduced(1)(sizes, arguments, types)


def _transformed(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Dimensions whose Fourier transform is taken have elements, in the operand and in the result."""
    lengths, asked = arguments[:2]
    for dim in _dimensions(asked, sizes):
        for size in (sizes[dim] if lengths is None else None, _size_of(types[0], dim)):
            if size is not None:
                yield f"{size} > 0", [size]


def _dimensions(asked: Any, sizes: Sizes) -> Sequence[int]:
    """Those that an argument says, if it is known: a number, a list, or None for all."""
    if asked is None:
        return range(len(sizes))
    found = asked if isinstance(asked, list) else [asked]
    return found if sizes and all(isinstance(dim, int) for dim in found) else ()


def _convolved(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Where there are pictures and channels, the pictures have elements."""
    dims = len(sizes) - 2
    pictures, channels = sizes[:2]
    for size in sizes[-dims:]:
        yield f"{size} > 0 or {pictures} == 0 or {channels} == 0", [size, pictures, channels]
    if isinstance(groups := arguments[-1], int | Dim):
        yield f"{groups} > 0", [groups]


def _covered(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """The window of a convolution is not longer than a picture with its padding."""
    weight, (padding, dilation) = _sizes_of(arguments[0]), arguments[3:5]
    is_transposed = len(arguments) > len(_OF_CONVOLUTIONS) and arguments[5] is not False
    if weight is None or padding == "same" or is_transposed:
        return
    for number, length in enumerate(weight[2:]):
        size = sizes[len(sizes) - len(weight) + 2 + number]
        added = 0 if padding == "valid" else _each(padding, number)
        step = _each(dilation, number)
        if isinstance(size, Dim) and all(isinstance(n, int) for n in (length, added, step)):
            yield f"{dims.add(size, 2 * added)} >= {step * (length - 1) + 1}", [size]


def _written_places(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """Some places are written: where there are none IREE divides by their number, which ends the process."""
    for size in _sizes_of(arguments[1]) or ():
        yield f"{size} > 0", [size]


def _transposed(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What a transposed convolution gives has elements."""
    weight, (stride, padding, further, _, dilation) = _sizes_of(arguments[0]), arguments[2:7]
    for number, length in enumerate(weight[2:] if weight is not None else ()):
        size = sizes[len(sizes) - len(weight) + 2 + number]  # type: ignore[arg-type]
        step, added, more, apart = (_each(n, number) for n in (stride, padding, further, dilation))
        if all(isinstance(n, int) for n in (step, added, more, apart)):
            more -= 2 * added
            yield f"({size} - 1) * {step} + {apart} * ({length} - 1) + {more} >= 0", [size, length]


_OF_CONVOLUTIONS = ("weight", "bias", "stride", "padding", "dilation", "groups")
"""Arguments behind the operand; ``_convolution`` has more of them, and fifth whether it is transposed."""


def _each(numbers: Any, place: int) -> Any:
    """One of the numbers of an argument that has one for each dimension, or one for all."""
    if not isinstance(numbers, list):
        return numbers
    return numbers[place if len(numbers) > 1 else 0]


def _members(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """A dimension is as long as it is taken apart."""
    (dim,) = arguments
    if isinstance(dim, int):
        yield f"{sizes[dim]} == {len(types)}", [sizes[dim]]


def _regrouped(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """The size that ``view`` and ``reshape`` find themselves is a whole number."""
    yield from _parted(dims.product(sizes), arguments[0])


def _unflattened(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """As :func:`_regrouped`, of one dimension."""
    dim, asked = arguments
    if isinstance(dim, int):
        yield from _parted(sizes[dim], asked)


def _parted(whole: KnownSize, asked: Any) -> Iterator[Question]:
    if not isinstance(asked, list) or not all(isinstance(each, int | Dim) for each in asked):
        return
    known = dims.product([size for size in asked if size != -1])
    if -1 in asked and known != 0 and dims.mod(whole, known) != 0:
        yield f"({whole}) % ({known}) == 0", [whole, known]


def _spread(rank: int) -> Rule:
    """A summand is spread over a product of matrices, and no more than that.

    Args:
        rank: of the product.
    """

    def rule(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
        one, other = (_sizes_of(each) for each in arguments[:2])
        if one is None or other is None:
            return
        rows, columns = one[: len(one) - (len(one) > 1)], other[1:]
        made = [*rows, *columns][-rank:] if len(one) < 3 else [one[0], one[1], other[2]][-rank:]
        if len(sizes) > len(made):
            yield f"{len(sizes)} <= {len(made)}", []
        for size, of_product in zip(reversed(sizes), reversed(made), strict=False):
            if size not in (1, of_product):
                yield f"{size} == 1 or {size} == {of_product}", [size, of_product]

    return rule


def _written_row(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What ``select_scatter`` writes is as large as the place it is written to, which is there."""
    source, dim, _ = arguments
    yield from _place(sizes, arguments, types)
    if isinstance(dim, int):
        yield from _same(_sizes_of(source), _without(sizes, dim))


def _written_diagonal(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What ``diagonal_scatter`` writes is as large as the diagonal."""
    source, offset, *axes = arguments
    if not isinstance(offset, int) or not all(isinstance(axis, int) for axis in axes):
        return
    low, high = (
        f"{sizes[axis]} - {moved}"
        for axis, moved in zip(axes, (max(-offset, 0), max(offset, 0)), strict=True)
    )
    *rest, length = _sizes_of(source) or [None]
    first, second = sorted(axis % len(sizes) for axis in axes)
    yield from _same(rest, _without(_without(sizes, second), first))
    if length is not None:
        yield f"{length} == max(min({low}, {high}), 0)", [length, *(sizes[axis] for axis in axes)]


def _added_rows(sizes: Sizes, arguments: Sequence[Any], types: Types) -> Iterator[Question]:
    """What ``index_add`` adds has a row for each index, which are as long as those it is added to."""
    dim, index, source = arguments[:3]
    added, places = _sizes_of(source), _sizes_of(index)
    if isinstance(dim, int) and added and sizes:
        yield from _same(_without(added, dim), _without(sizes, dim))
        if places:
            yield from _same([added[dim]], [places[0]])


def _same(sizes: Sequence[Any] | None, others: Sequence[Any]) -> Iterator[Question]:
    if sizes is None:
        return
    if len(sizes) != len(others):
        yield f"{len(sizes)} == {len(others)}", []
    for size, other in zip(sizes, others, strict=False):
        if size != other and size is not None:
            yield f"{size} == {other}", [size, other]


def _without(sizes: Sequence[Any], dim: int) -> list[Any]:
    dim %= len(sizes)
    return [*sizes[:dim], *sizes[dim + 1 :]]


def _sizes_of(value: Any) -> Sequence[Any] | None:
    type: Any = getattr(value, "type", None)
    return type.sizes if is_known_tensor(type) else None


FITTING: Mapping[str, Rule] = {
    "torch.aten.addmm": _spread(2),
    "torch.aten.addbmm": _spread(2),
    "torch.aten.addmv": _spread(1),
    "torch.aten.baddbmm": _spread(3),
    "torch.aten.diagonal_scatter": _written_diagonal,
    "torch.aten.select_scatter": _written_row,
    "torch.aten.index_add": _added_rows,
}
"""Ops whose kernels on fake tensors take operands that do not fit, as PyTorch's others do not."""
FILLED: Mapping[str, Rule] = {
    **{f"torch.aten.grid_sampler{kind}": _filled(2, False) for kind in ("", "_2d", "_3d")},
    **{
        f"torch.aten.{kind}{overload}": _filled(1)
        for kind in (
            *(f"upsample_nearest{n}d" for n in (1, 2, 3)),
            *(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
            *("upsample_linear1d", "upsample_bilinear2d", "upsample_bicubic2d"),
            *("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "upsample_trilinear3d"),
        )
        for overload in ("", ".vec")
    },
    **{f"torch.aten.adaptive_avg_pool{n}d": _filled(-n) for n in (1, 2, 3)},
    **{f"torch.aten._adaptive_avg_pool{n}d": _filled(-n) for n in (2, 3)},
    **{f"torch.aten.adaptive_max_pool{n}d": _filled(1) for n in (1, 2, 3)},
    **{f"torch.aten.{kind}_pool{n}d": _pooled(n) for n in (1, 2, 3) for kind in ("avg", "max")},
    **{f"torch.aten.max_pool{n}d_with_indices": _pooled(n) for n in (1, 2, 3)},
    "torch.aten.im2col": _filled(-3, False),
    **{f"torch.aten.max_unpool{n}d": _filled(1, False) for n in (2, 3)},
    **{
        f"torch.aten.fft_{inverse}{kind}fft{many}": _transformed
        for inverse in ("", "i")
        for kind in ("", "r", "h")
        for many in ("", "2", "n")
    },
    "torch.aten.linalg_vector_norm": _normed,
    **{
        f"torch.aten.{name}": _reduced(0)
        for name in (
            *("amax", "amin", "aminmax", "argmax", "argmin", "max.dim", "min.dim"),
            *("median.dim", "nanmedian.dim", "mode"),
        )
    },
    **{
        f"torch.aten.{nan}quantile{overload}": _filled(0, False)
        for nan in ("", "nan")
        for overload in ("", ".scalar")
    },
}
"""Ops that PyTorch refuses for empty tensors; its kernels on fake ones ask sizes that are taken for 2 or more."""
REFUSED: Mapping[str, Rule] = {**FITTING, **FILLED}
"""Ops that PyTorch refuses where its kernels on fake tensors do not."""
CONVOLUTION = "torch.aten.convolution"
_CHUNKS = "({each} if {size} == 0 else -(-{size} // -(-{size} // {each})))"
_SPLIT = "(1 if {size} == 0 else -(-{size} // {each}))"
_SLICE, _SELECT = "torch.aten.slice.Tensor", "torch.aten.select.int"
OF_OPERANDS = {
    "torch.aten.arange.start",
    "torch.aten.arange.start_step",
    "torch.aten.narrow",
    "torch.aten.pad",
    "torch.aten.reshape",
    "torch.aten.select_scatter",
    "torch.aten.slice_scatter",
    "torch.aten.unflatten.int",
    "torch.aten.unfold",
    "torch.aten.view",
    *(f"torch.aten.{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)),
}
"""Ops whose needs say nothing of their results."""
_SQUEEZE = "torch.aten.squeeze.dims"
AT_CONTRACT = {_SLICE, _SELECT, _SQUEEZE}
"""Core ops, which are still there at the contract."""
RULES: Mapping[str, Rule] = {
    **FITTING,
    _SLICE: _length,
    _SELECT: _place,
    "torch.aten.slice_scatter": _written_length,
    "torch.aten.narrow": _part,
    "torch.aten.squeeze": _squeezed,
    "torch.aten.squeeze.dim": _squeezed,
    _SQUEEZE: _squeezed,
    **{f"torch.aten.reflection_pad{n}d": _padding_of(n, "reflect") for n in (1, 2, 3)},
    **{f"torch.aten.replication_pad{n}d": _padding_of(n, "replicate") for n in (1, 2, 3)},
    "torch.aten.pad": _padded,
    "torch.aten.unflatten.int": _unflattened,
    "torch.aten.view": _regrouped,
    "torch.aten.reshape": _regrouped,
    "torch.aten.unfold": _windows,
    "torch.aten.as_strided": _strided,
    **{f"torch.aten.conv{n}d{kind}": _covered for n in (1, 2, 3) for kind in ("", ".padding")},
    **{f"torch.aten._convolution{kind}": _covered for kind in ("", ".deprecated")},
    "torch.aten.conv_transpose1d": _transposed,
    **{f"torch.aten.conv_transpose{n}d.input": _transposed for n in (2, 3)},
    "torch.aten.scatter.src": _written_places,
    "torch.aten.topk": _ranked,
    "torch.aten.kthvalue": _ranked,
    "torch.aten.arange.start": _counted,
    "torch.aten.arange.start_step": _counted,
    "torch.aten.chunk": _parts(_CHUNKS),
    "torch.aten.unsafe_chunk": _parts(_CHUNKS),
    "torch.aten.split.Tensor": _parts(_SPLIT),
    "torch.aten.unsafe_split.Tensor": _parts(_SPLIT),
    "torch.aten.split_with_sizes": _whole,
    "torch.aten.unsafe_split_with_sizes": _whole,
    "torch.aten.split.sizes": _whole,
    "torch.aten.unbind.int": _members,
}
"""Op -> what it needs of the sizes of its first operand, of its other operands and of its results' types."""
AS_CAPTURED: Mapping[str, Rule] = {**RULES, **FILLED}
"""The same of the ops that a program was captured with, and not of those that decompositions use."""
OF_ELEMENTS: Mapping[str, Rule] = {**AS_CAPTURED, CONVOLUTION: _convolved}
"""What is asked of sizes that elements decide."""
