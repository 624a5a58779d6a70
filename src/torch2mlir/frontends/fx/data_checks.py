"""What elements must be for a program to be right: checked in a run, where eager PyTorch looks at them.

A captured program has one rank and one size for what elements decide, and goes on as if they had been these. Negative
counts, too few numbers for a mask and a maximum of nothing are errors in eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true
from xdsl.ir import SSAValue

from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.transforms.decompositions.scatter import dimension_of_turns

if TYPE_CHECKING:
    from torch2mlir.frontends.fx.importer import GraphImporter

aten = torch.ops.aten
_INT64, _BOOL = (dtypes.element_type(dtype) for dtype in (torch.int64, torch.bool))
_MASKS = (torch.bool, torch.uint8)
_SQUEEZES = (aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims)


def squeezed_by_data(node: Node) -> list[int]:
    """The dimensions that a ``squeeze`` drops for some elements and keeps for others: PyTorch takes them for kept."""
    if node.target not in _SQUEEZES:
        return []
    sizes = _fake(node.args[0]).shape
    over: Any = node.args[1] if len(node.args) > 1 else range(len(sizes))
    return [
        dim
        for dim in ([over] if isinstance(over, int) else over)
        if sizes and _depends(sizes[dim]) and not statically_known_true(sizes[dim] != 1)
    ]


class _Checks:
    """Writes the checks of a call.

    Args:
        importer: of the graph.
        node: the call.
        result: of it.
    """

    def __init__(self, importer: GraphImporter, node: Node, result: SSAValue) -> None:
        self.importer, self.node, self.result = importer, node, result
        self.scalar = importer.constants.scalar

    def squeeze(self) -> None:
        """The dimensions are kept that capture has kept."""
        for dim in squeezed_by_data(self.node):
            message = (
                f"squeeze of dimension {dim}, which is 1 in this call and was captured as another size: elements "
                "decide it; reshape to the rank that is meant"
            )
            self._size_is_not(1, self.node.args[0], dim, message)

    def of_elements(self) -> None:
        """There is an element to take."""
        sizes = _fake(self.node.args[0]).shape
        over: Any = self.node.args[1:2] or range(len(sizes))
        for dim in over:
            if sizes and _depends(sizes[dim]) and not statically_known_true(sizes[dim] != 0):
                message = (
                    f"{_name(self.node)} of nothing: dimension {dim} has no element in this call"
                )
                self._size_is_not(0, self.node.args[0], dim, message)

    def repeats(self) -> None:
        """The counts are not negative, and their sum is the size that the rest of the program needs."""
        counts = self.node.args[self.node.target is aten.repeat_interleave.self_Tensor]
        if not isinstance(counts, Node):
            return
        self._not_negative(counts)
        size = self.node.kwargs.get("output_size")
        if isinstance(size, int):
            message = f"the counts of {_name(self.node)} do not give its output_size, {size}"
            self._hold("eq.Scalar", self._repeated(counts), self.scalar(size), message)
        if size is None:
            self._count_is_size(self._repeated(counts), self._repeated_dim() or 0)

    def _repeated_dim(self) -> int | None:
        """Along which dimension ``repeat_interleave`` repeats; None for all elements in a row."""
        args = self.node.args
        if self.node.target is aten.repeat_interleave.Tensor:
            return 0
        return args[2] if len(args) > 2 else self.node.kwargs.get("dim")  # type: ignore[return-value]

    def _repeated(self, counts: Node) -> SSAValue:
        """How long what is repeated becomes: one count is that of every element."""
        own = self.node.target is aten.repeat_interleave.Tensor
        if own or not statically_known_true(_fake(counts).numel() == 1):
            return self._sum(counts)
        given, dim = self.importer.operand(self.node.args[0]), self._repeated_dim()
        size = (
            self._int("numel", given)
            if dim is None
            else self._int("size.int", given, self.scalar(dim))
        )
        return self._number("mul.Scalar", self._sum(counts), size)

    def found(self) -> None:
        """As many elements are found as the rest of the program needs."""
        if self.node.target is aten.masked_select.default:
            self._count_is_size(self._selected(*self.node.args[:2]), 0)
            return
        nonzero = self.node.target is aten.nonzero.default
        masks: Any = [(0, self.node.args[0])] if nonzero else _masks(self.node)
        for dim, mask in masks:
            self._count_is_size(self._sum(mask), dim)

    def _selected(self, given: Any, mask: Any) -> SSAValue:
        """How many elements a mask selects of a tensor that it is broadcast with."""
        count, sizes = self._sum(mask), _fake(mask).shape
        operand, shape = self.importer.operand(given), _fake(given).shape
        for dim in range(1, len(shape) + 1):
            if dim > len(sizes) or (
                statically_known_true(sizes[-dim] == 1)
                and not statically_known_true(shape[-dim] == 1)
            ):
                size = self._int("size.int", operand, self.scalar(-dim))
                count = self._number("mul.Scalar", count, size)
        return count

    def bins(self) -> None:
        """The numbers that are counted are not negative."""
        self._not_negative(self.node.args[0])

    def divisor(self) -> None:
        """No integer is divided by 0.

        Raises:
            CaptureError: all are, in every call.
        """
        result, (_, other) = _fake(self.node), self.node.args[:2]
        if result.dtype.is_floating_point or result.dtype.is_complex:
            return
        message = f"{_name(self.node)} divides an integer by 0"
        fake = other.meta.get("val") if isinstance(other, Node) else other
        if isinstance(fake, torch.SymInt) and free_unbacked_symbols(fake):
            apart = self._emit("ne.int", t.bool_type, self.importer.operand(other), self.scalar(0))
            self.importer.runtime_assert(apart, message)
        elif isinstance(fake, torch.Tensor):
            apart = self._emit(
                "ne.Scalar", self._like(other, _BOOL), self.importer.operand(other), self.scalar(0)
            )
            every = self._emit("all", t.vtensor((), _BOOL), apart) if fake.dim() else apart
            if statically_known_true(result.numel() > 0):
                self._assert(every, message)
                return
            # of no element nothing is divided, by whatever number
            divided = self._int("numel", self.result)
            wrong = self._number("logical_not", every)
            self._hold(
                "eq.Scalar", self._number("mul.Scalar", wrong, divided), self.scalar(0), message
            )
        elif isinstance(fake, int) and fake == 0 and result.numel():
            raise CaptureError(message, hint="PyTorch refuses it too, in every call")

    def masked_values(self) -> None:
        """There are as many values as a mask selects, and positions beside it, or one for all."""
        x, indices, values = self.node.args[:3]
        given: Any = [index for index in indices if index is not None]  # type: ignore[union-attr]
        masks = [index for index in given if _fake(index).dtype in _MASKS]
        if len(masks) != 1:
            return
        of_each: Any = [None if index is None else _fake(index) for index in indices]  # type: ignore[union-attr]
        self._one_for_each(
            masks[0], values, dimension_of_turns(_fake(x), of_each, _fake(values)), "values"
        )
        for index in given:
            if index is not masks[0]:
                self._one_for_each(masks[0], index, _fake(index).dim() - 1, "positions")

    def _one_for_each(self, mask: Node, of: Any, dim: int, named: str) -> None:
        """A dimension has as many as a mask selects; a single one, or no such dimension, is for all."""
        if dim < 0 or _depends(size := _fake(of).shape[dim]) or statically_known_true(size == 1):
            return
        wanted = self._int("size.int", self.importer.operand(of), self.scalar(dim))
        message = f"{_name(self.node)} has another number of {named} than its mask selects places"
        self._hold("eq.Scalar", self._sum(mask), wanted, message)

    def masked_source(self) -> None:
        """There are as many numbers as a mask selects places, or more."""
        _, mask, source = self.node.args[:3]
        of_mask, there = (self._int("numel", self.importer.operand(of)) for of in (mask, source))
        taken = self._number("mul.Scalar", self._sum(mask), self._int("numel", self.result))
        there = self._int("mul.int", there, of_mask)
        message = "masked_scatter has fewer numbers than its mask selects places"
        self._hold("le.Scalar", taken, there, message)

    # words

    def _count_is_size(self, count: SSAValue, dim: int) -> None:
        """What elements count is the size of the result, where capture has put that size in their place.

        Raises:
            CaptureError: that size is an expression.
        """
        if _depends(_fake(self.node).shape[dim]):
            return
        size = self.importer.size_of(_fake(self.node).shape[dim])
        wanted = (
            self.scalar(size) if isinstance(size, int) else self.importer.symbols.get(str(size))
        )
        if wanted is None:
            raise CaptureError(
                f"elements decide a size that the rest of the program needs to be {size}",
                hint="write the program so that this size stands alone",
            )
        message = f"a size that elements decide is to be {size}: the rest of the program needs it"
        self._hold("eq.Scalar", count, wanted, message)

    def _size_is_not(self, size: int, of: Any, dim: int, message: str) -> None:
        found = self._int("size.int", self.importer.operand(of), self.scalar(dim))
        other = self._emit("ne.int", t.bool_type, found, self.scalar(size))
        self.importer.runtime_assert(other, message)

    def _not_negative(self, of: Any) -> None:
        x = self._emit(
            "ge.Scalar", self._like(of, _BOOL), self.importer.operand(of), self.scalar(0)
        )
        every = self._emit("all", t.vtensor((), _BOOL), x)
        self._assert(every, f"{_name(self.node)} of a negative number")

    def _sum(self, of: Any) -> SSAValue:
        """Of integers, or how many elements of another tensor are not zero."""
        x = self.importer.operand(of)
        if _fake(of).dtype is not torch.int64:
            x = self._emit("ne.Scalar", self._like(of, _BOOL), x, self.scalar(0))
        axes = self.importer.operand(list(range(_fake(of).dim())), "int[]")
        return self._number("sum.dim_IntList", x, axes, self.scalar(False), self.scalar(None))

    def _hold(self, comparison: str, number: SSAValue, other: SSAValue, message: str) -> None:
        self._assert(self._emit(comparison, t.vtensor((), _BOOL), number, other), message)

    def _assert(self, holds: SSAValue, message: str) -> None:
        condition = self._emit("Bool.Tensor", t.bool_type, holds)
        self.importer.runtime_assert(condition, message)

    def _like(self, of: Any, dtype: Any) -> Any:
        return t.vtensor(tuple(map(self.importer.size_of, _fake(of).shape)), dtype)

    def _int(self, name: str, *operands: SSAValue) -> SSAValue:
        return self._emit(name, t.int_type, *operands)

    def _number(self, name: str, *operands: SSAValue) -> SSAValue:
        return self._emit(name, t.vtensor((), _INT64), *operands)

    def _emit(self, name: str, type: Any, *operands: SSAValue) -> SSAValue:
        op = core.build(f"torch.aten.{name}", operands, [type])
        self.importer.insert(op)
        return op.results[0]


def _fake(node: Any) -> torch.Tensor:
    fake: torch.Tensor = node.meta["val"]
    return fake


def _depends(size: Any) -> bool:
    """Whether elements decide a size."""
    return bool(free_unbacked_symbols(size))


def _masks(node: Node) -> list[tuple[int, Node]]:
    """The mask of a call with no other index beside it, and its place; PyTorch captures no other dynamic ones."""
    given: Any = [(i, index) for i, index in enumerate(node.args[1]) if index is not None]  # type: ignore[arg-type]
    return given if len(given) == 1 and _fake(given[0][1]).dtype in _MASKS else []


def _name(node: Node) -> str:
    return str(node.target).partition(".")[2]


_DIVISIONS = {
    "div": ("Tensor_mode", "Scalar_mode"),
    "floor_divide": ("default", "Tensor", "Scalar"),
    "remainder": ("Tensor", "Scalar", "Scalar_Tensor"),
    "fmod": ("Tensor", "Scalar"),
}
"""Ops that divide integers, and the overloads that do so."""
_CHECKS: Mapping[Any, Callable[[_Checks], None]] = {
    **dict.fromkeys(_SQUEEZES, _Checks.squeeze),
    **dict.fromkeys((aten.max.default, aten.min.default), _Checks.of_elements),
    **dict.fromkeys((aten.median.default, aten.nanmedian.default), _Checks.of_elements),
    **dict.fromkeys((aten.max.dim, aten.min.dim, aten.mode.default), _Checks.of_elements),
    **dict.fromkeys((aten.median.dim, aten.nanmedian.dim), _Checks.of_elements),
    aten.repeat_interleave.Tensor: _Checks.repeats,
    aten.repeat_interleave.self_Tensor: _Checks.repeats,
    **dict.fromkeys((aten.index.Tensor, aten.nonzero.default), _Checks.found),
    aten.masked_select.default: _Checks.found,
    **{
        getattr(getattr(aten, name + written), overload): _Checks.divisor
        for name, overloads in _DIVISIONS.items()
        for written in ("", "_")
        for overload in overloads
        if overload in getattr(aten, name + written).overloads()
    },
    aten.bincount.default: _Checks.bins,
    aten.index_put.default: _Checks.masked_values,
    aten.index_put_.default: _Checks.masked_values,
    aten.masked_scatter.default: _Checks.masked_source,
    aten.masked_scatter_.default: _Checks.masked_source,
}


def check_elements(importer: GraphImporter, node: Node, result: SSAValue) -> None:
    """Writes what is to be checked of a call whose result has just been imported, if anything is."""
    check = _CHECKS.get(node.target)
    if check is not None:
        check(_Checks(importer, node, result))
