"""The normal form of a call: what is decided between the backend contract and every conversion, once for all targets.

A conversion finds in the operands of a core op

- element types explicit: tensors have the type that the op computes in, by PyTorch's promotion;
- broadcasting explicit: operands of elementwise ops have the sizes of the result, as the target says that (``spread``):
  by an op, a view that loops read for nothing, or the rank alone where the target's own ops repeat what has size 1;
- dimensions counted from the front, those of reductions listed and sorted;
- starts of slices and places of selects counted from the front, and inside;
- options of windows given for each dimension, strides too.

It works on the operands as the walk over a function has them, so that a call that needs nothing costs one look-up, and
conversions by hand (of Python's arithmetic at run time, of loops) come through it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Protocol

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from torch2mlir.contract.core_ops import BINARY, ORDERED, UNARY
from torch2mlir.contract.element_types import (
    as_element,
    bit_width,
    is_complex,
    is_integer,
    widened,
)
from torch2mlir.contract.positions import from_front, start_from_front
from torch2mlir.contract.promotion import promote, scalar_dtype
from torch2mlir.dialects.torch.dims import Dim, KnownSize


class Typed(Protocol):
    """A tensor: sizes and element type."""

    @property
    def sizes(self) -> tuple[KnownSize, ...]: ...
    @property
    def rank(self) -> int: ...
    @property
    def dtype(self) -> Attribute: ...


class Form(Protocol):
    """What normalizing asks of the conversion: the type of the op's result, how the target casts and broadcasts."""

    @property
    def out(self) -> Any: ...
    def cast(self, x: Any, dtype: Attribute) -> Any: ...
    def operand(self, value: Any, dtype: Attribute) -> Any: ...
    def spread(self, x: Any, sizes: Sequence[KnownSize]) -> Any: ...
    def static(self, value: object, what: str) -> int: ...
    def fail(self, reason: str, hint: str | None = None) -> NoReturn: ...


Operands = list[Any]
Rule = Callable[[Form, Operands], None]
"""Changes the operands of a call in place."""


def normalize(form: Form, name: str, operands: Operands) -> Operands:
    """The operands of a call of a core op in normal form; of any other op they stay as they are.

    Args:
        form: the conversion, at this op.
        name: the op's, ``torch.aten.add.Tensor``.
        operands: as the walk has them; tensors, Python numbers, sizes, lists of these.
    """
    for rule in RULES.get(name, ()):
        rule(form, operands)
    return operands


def _is_tensor(operand: object) -> bool:
    return hasattr(operand, "sizes")


# element types


def _cast_to(form: Form, operands: Operands, dtype: Attribute) -> None:
    for place, operand in enumerate(operands):
        if _is_tensor(operand) and operand.dtype != dtype:
            operands[place] = form.cast(operand, dtype)


def of_the_result(form: Form, operands: Operands) -> None:
    """All tensors are of the type of the result."""
    _cast_to(form, operands, form.out.dtype)


def numbers_of_the_result(form: Form, operands: Operands) -> None:
    """Numbers are of the type of the result, as PyTorch's kernels take them: 0.7 in bf16 is 0.6992, -4 in uint8 252."""
    operands[:] = (_as_element(form, operand) for operand in operands)


def _as_element(form: Form, operand: Any) -> Any:
    dtype = form.out.dtype
    if isinstance(operand, int | float):
        return as_element(operand, dtype)
    if _changes_numbers(dtype) and _is_known_at_run_time(operand):
        return form.operand(operand, dtype)
    return operand


def _changes_numbers(dtype: Attribute) -> bool:
    """Whether numbers are computed with in a wider type if they are not converted: half floats, narrow integers."""
    return widened(dtype) != dtype or (is_integer(dtype) and 1 < bit_width(dtype) < 64)


def _is_known_at_run_time(operand: object) -> bool:
    """Whether an operand is a number, or a size, that only the running program has."""
    return isinstance(operand, Dim) or (hasattr(operand, "dtype") and not _is_tensor(operand))


def second_as_it_is(form: Form, operands: Operands) -> None:
    """As ``of_the_result``, but a number of another type beside 16-bit floats, a tensor of rank 0, is of f32.

    PyTorch's kernels multiply by such a number, and divide by it, in f32; the first operand is rounded.
    """
    dtype = form.out.dtype
    if is_integer(dtype):
        numbers_of_the_result(form, operands)
    x, y = operands[:2]
    operands[0] = x if _is_tensor(x) else _as_element(form, x)
    if widened(dtype) != dtype and _is_tensor(x) and _is_tensor(y) and y.rank == 0:
        operands[:2] = form.cast(x, dtype), y if y.dtype == dtype else form.cast(y, widened(dtype))
    else:
        of_the_result(form, operands)


def of_booleans(form: Form, operands: Operands) -> None:
    """All tensors are of booleans."""
    _cast_to(form, operands, i1)


def promoted(form: Form, operands: Operands) -> None:
    """All tensors are of the type that PyTorch promotes them, and numbers beside them, to."""
    tensors = [(o.dtype, o.rank) for o in operands if _is_tensor(o)]
    numbers = [getattr(o, "dtype", None) or scalar_dtype(o) for o in operands if not _is_tensor(o)]
    _cast_to(form, operands, promote(tensors, numbers))


def ordered(form: Form, operands: Operands) -> None:
    """No operand is complex: such numbers are neither less nor greater than others."""
    if any(_is_tensor(operand) and is_complex(operand.dtype) for operand in operands):
        form.fail(
            "complex numbers have no order, and eager PyTorch refuses the op as well",
            "compare x.abs(), x.real or x.imag",
        )


def of_one_type(*places: int) -> Rule:
    """Tensors at these places have one type, as PyTorch's kernels want it, which promote nothing here."""

    def rule(form: Form, operands: Operands) -> None:
        given = [operands[place] for place in places if place < len(operands)]
        types = {str(each.dtype) for each in given if _is_tensor(each)}
        if len(types) > 1:
            form.fail(
                f"it takes tensors of one dtype, not of {' and '.join(sorted(types))}; eager PyTorch refuses them too",
                "convert one: x.to(y.dtype)",
            )

    return rule


def branches_of_the_result(form: Form, operands: Operands) -> None:
    """``where``: a boolean condition, and branches of the type of the result."""
    condition = [operands[0]]
    of_booleans(form, condition)
    of_the_result(form, operands)
    operands[0] = condition[0]


def parts_of_the_result(form: Form, operands: Operands) -> None:
    """``cat``: a list of tensors of the type of the result."""
    operands[0] = list(operands[0])
    of_the_result(form, operands[0])


# sizes


def of_the_result_sizes(form: Form, operands: Operands) -> None:
    """All tensors are of the sizes of the result."""
    _spread_over(form, operands, range(len(operands)))


def _spread_over(form: Form, operands: Operands, places: Iterable[int]) -> None:
    sizes = form.out.sizes
    for place in places:
        operand = operands[place]
        if _is_tensor(operand) and operand.sizes != sizes:
            operands[place] = form.spread(operand, sizes)


def _added(form: Form, operands: Operands) -> None:
    """``addmm``: what is added to the product."""
    _spread_over(form, operands, [0])


# dimensions


def _from_front(dim: int, rank: int) -> int:
    """Rank 0 counts as rank 1, as in PyTorch."""
    return dim % max(rank, 1)


def axis(place: int) -> Rule:
    """The dimension at a place of the operands, if it is given."""

    def rule(form: Form, operands: Operands) -> None:
        if operands[place] is not None:
            operands[place] = _from_front(operands[place], _rank(form, operands[0]))

    return rule


def _rank(form: Form, first: Any) -> int:
    """The rank of a first operand; of a list of tensors, that of the result."""
    rank: int = first.rank if _is_tensor(first) else form.out.rank
    return rank


def _axes(form: Form, operands: Operands) -> None:
    """The dimensions to reduce; none of rank 0, an empty list for no reduction at all."""
    x, over = operands[:2]
    if over is None:
        over = range(x.rank)
    over = [over] if isinstance(over, int) else over
    operands[1] = sorted(_from_front(dim, x.rank) for dim in over) if x.rank else []


def _axes_or_all(form: Form, operands: Operands) -> None:
    """The same, where PyTorch takes an empty list for all dimensions."""
    if isinstance(operands[1], Sequence) and not operands[1]:
        operands[1] = None
    _axes(form, operands)


def _order(form: Form, operands: Operands) -> None:
    """``permute``: the order of dimensions."""
    operands[1] = [_from_front(dim, operands[0].rank) for dim in operands[1]]


def _reversed_axes(form: Form, operands: Operands) -> None:
    """``flip``: the dimensions to reverse."""
    x = operands[0]
    operands[1] = sorted(_from_front(dim, x.rank) for dim in operands[1] if x.rank)


# positions


def _slice(form: Form, operands: Operands) -> None:
    """``slice``: start and step; the result says how many elements there are."""
    x, dim, start, _, step = operands
    step = form.static(step, "the step of a slice")
    length = form.out.sizes[dim]
    start = start_from_front(0 if start is None else start, x.sizes[dim], length, step)
    operands[2:] = [start, None, step]


def _select(form: Form, operands: Operands) -> None:
    """``select``: the place."""
    x, dim, index = operands
    operands[2] = from_front(index, x.sizes[dim])


# options of windows


def for_each(values: Sequence[int] | int, count: int) -> list[int]:
    """An option of a window, given for each dimension or once for all."""
    listed = [values] if isinstance(values, int) else list(values)
    return listed * count if len(listed) == 1 else listed


def pool(*options: int) -> Rule:
    """Kernel, stride (the kernel's size unless given), padding, dilation at places of the operands, for the plane."""

    def rule(form: Form, operands: Operands) -> None:
        operands[options[1]] = operands[options[1]] or operands[options[0]]
        for place in options:
            operands[place] = for_each(operands[place], 2)

    return rule


def _convolution(form: Form, operands: Operands) -> None:
    """Stride, padding, dilation and the padding of the output, for each dimension in space."""
    count = operands[1].rank - 2
    for place in (3, 4, 5, 7):
        operands[place] = for_each(operands[place], count)


# which op has which

_OF_THE_OPERAND = {
    f"torch.aten.{name}" for name in ["abs", "isinf", "isnan", "logical_not", "signbit"]
}
"""Ops computed in the type of their operand, as it is."""
_COMPARISONS = {
    f"torch.aten.{name}.{overload}"
    for name in ["eq", "ne", "lt", "le", "gt", "ge"]
    for overload in ("Tensor", "Scalar")
}
_LOGICAL = {f"torch.aten.logical_{name}" for name in ("and", "or", "xor")}


def _rules() -> dict[str, tuple[Rule, ...]]:
    arithmetic = (UNARY | BINARY) - _OF_THE_OPERAND - _COMPARISONS - _LOGICAL
    repeated = of_the_result_sizes
    rounding = (numbers_of_the_result, of_the_result, repeated)
    rules: dict[str, tuple[Rule, ...]] = dict.fromkeys(arithmetic, rounding)
    rules |= dict.fromkeys(_OF_THE_OPERAND, (repeated,))
    rules |= dict.fromkeys(_COMPARISONS, (promoted, repeated))
    rules |= dict.fromkeys(_LOGICAL, (of_booleans, repeated))
    by_numbers = ["mul.Tensor", "mul.Scalar", "div.Tensor", "div.Scalar"]
    by_numbers += ["div.Tensor_mode", "div.Scalar_mode"]
    named: dict[str, tuple[Rule, ...]] = {
        **dict.fromkeys(by_numbers, (second_as_it_is, repeated)),
        "clamp": (of_the_result, repeated),
        "clamp.Tensor": (of_the_result, repeated),
        "where.self": (branches_of_the_result, repeated),
        "complex": (repeated,),
        "mm": (of_one_type(0, 1),),
        "bmm": (of_one_type(0, 1),),
        "addmm": (of_one_type(0, 1, 2), _added),
        "linear": (of_one_type(0, 1, 2),),
        "cat": (parts_of_the_result, axis(1)),
        "sum.dim_IntList": (_axes_or_all, of_the_result),
        "mean.dim": (_axes_or_all, of_the_result),
        "amax": (_axes_or_all,),
        "amin": (_axes_or_all,),
        "any.dims": (_axes, of_booleans),
        "all.dims": (_axes, of_booleans),
        "prod.dim_int": (axis(1), of_the_result),
        "cumsum": (axis(1), of_the_result),
        "max.dim": (axis(1),),
        "min.dim": (axis(1),),
        "argmax": (axis(1),),
        "argmin": (axis(1),),
        "sort.stable": (axis(2),),
        "softmax.int": (axis(1),),
        "_softmax": (axis(1),),
        "log_softmax.int": (axis(1),),
        "_log_softmax": (axis(1),),
        "gather": (axis(1),),
        "index_select": (axis(1),),
        "index_put": (of_one_type(0, 2),),
        "scatter.src": (axis(1), of_one_type(0, 3)),
        "scatter.value": (axis(1),),
        "scatter_add": (axis(1), of_one_type(0, 3)),
        "scatter_reduce.two": (axis(1), of_one_type(0, 3)),
        "permute": (_order,),
        "flip": (_reversed_axes,),
        "slice.Tensor": (axis(1), _slice),
        "select.int": (axis(1), _select),
        "max_pool2d_with_indices": (pool(1, 2, 3, 4),),
        "avg_pool2d": (pool(1, 2, 3),),
        "convolution": (of_one_type(0, 1, 2), _convolution),
    }
    rules |= {f"torch.aten.{name}": given for name, given in named.items()}
    return rules | {name: (ordered, *rules.get(name, ())) for name in ORDERED}


RULES: dict[str, tuple[Rule, ...]] = _rules()
"""Op -> what brings its operands into normal form."""
