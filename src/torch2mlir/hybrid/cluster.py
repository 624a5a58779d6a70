"""A cluster in a module: a compiled function, and the same nodes in PyTorch for the calls it does not take."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.frontends.fx.shared_memory import is_tensor_node
from torch2mlir.hybrid.ways import Way

Compiled = Callable[..., Sequence[Any]]


class Cluster(torch.nn.Module):
    """Computes what a region of a graph computes.

    What the compiled function refuses runs in PyTorch and is counted: one call if its arguments are other ones than
    the cluster was captured for, all further calls if the engine cannot compile or run it.

    Attributes:
        region: the same in PyTorch.
        ops: the names of the ops in it.
        calls: how often it ran, compiled or not.
        fallbacks: how often it ran in PyTorch.
        reason: why it runs in PyTorch, if it does, or did the last time it fell back.
        way: who runs it when it runs compiled.
        rule: why in this way: the rule by which it was chosen, or that it was measured or asked for.
    """

    def __init__(
        self,
        region: GraphModule,
        compiled: Compiled,
        strided: Sequence[int],
        way: Way,
        compile_region: Callable[[GraphModule, Way], Compiled],
        rule: str,
    ) -> None:
        super().__init__()
        self.region = region
        self.way = way
        self.rule = rule
        self.ops = [
            str(node.target)
            for node in region.graph.nodes
            if node.op == "call_function"
            and node.target is not operator.getitem
            and is_tensor_node(node)
        ]
        self.calls = 0
        self.fallbacks = 0
        self.reason: str | None = None
        self._compiled: Compiled | None = compiled
        self._prepared: Compiled | None = None
        self._compile_region = compile_region
        output = next(n for n in reversed(region.graph.nodes) if n.op == "output")
        orders = [(index, _stride_order(output.args[0][index].meta["val"])) for index in strided]
        self._orders = [(index, order) for index, order in orders if order is not None]
        taken = [_dense_order(n.meta.get("val")) for n in region.graph.find_nodes(op="placeholder")]
        self._taken = [(index, order) for index, order in enumerate(taken) if order is not None]

    @property
    def compiled(self) -> Compiled | None:
        """The compiled function, or None if the cluster has been left to PyTorch."""
        return self._compiled

    def compiled_by(self, way: Way) -> Compiled:
        """The same in another way.

        Raises:
            Torch2MLIRError: it cannot be compiled in that way.
        """
        if way == self.way and self._compiled is not None:
            return self._compiled
        return self._compile_region(self.region, way)

    def compile_again(self, part: GraphModule) -> Compiled:
        """A part of the region, compiled as the cluster is.

        Raises:
            Torch2MLIRError: it cannot be compiled.
        """
        return self._compile_region(part, self.way)

    def run_by(self, way: Way, compiled: Compiled) -> None:
        """From now on it runs in this way, which was measured."""
        self.way, self._compiled, self.reason, self.rule = way, compiled, None, "measured"

    def leave_to_pytorch(self, reason: str, prepared: Compiled | None = None) -> None:
        """From now on PyTorch runs it, with its weights ``prepared`` if something does that."""
        self._compiled, self.reason, self._prepared = None, reason, prepared

    def refresh(self) -> None:
        """Takes all weights for changed."""
        for each in (self._compiled, self._prepared):
            if (refresh := getattr(each, "refresh", None)) is not None:
                refresh()

    def forward(self, *args: Any) -> Sequence[Any]:
        self.__dict__["calls"] += (
            1  # a module's own way to set an attribute takes as long as a small kernel
        )
        if self._compiled is not None:
            try:
                return self._as_strided(self._compiled(*args))
            except InputError as error:
                self.reason = error.message
            except Torch2MLIRError as error:
                self.leave_to_pytorch(error.message)
        args = self.as_captured(args)
        if self._prepared is not None:
            try:
                return self._as_strided(self._prepared(*args))
            except Exception as error:  # what is wrong with the call the region itself tells
                self.reason = f"with prepared weights: {error}"
        self.fallbacks += 1
        return self.region(*args)

    def as_captured(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Arguments that lie in memory as at capture, where that was densely: PyTorch's views may rest on it.

        What comes from another cluster does not, when it has gone through an engine.
        """
        values = list(args)
        for index, order in self._taken:
            if not _PERMUTE(values[index], order).is_contiguous():
                values[index] = _in_order(values[index], order)
        return tuple(values)

    def _as_strided(self, results: Sequence[Any]) -> Sequence[Any]:
        """The results with PyTorch's strides, where somebody may see them; engines give dense tensors."""
        if not self._orders:
            return results
        values = list(results)
        for index, order in self._orders:
            values[index] = _in_order(values[index], order)
        return values


def _stride_order(fake: torch.Tensor) -> list[int] | None:
    """The dimensions of a dense tensor from the outermost in memory, if they are permuted; else None."""
    order = _dense_order(fake)
    return None if order is None or order == sorted(order) else order


def _dense_order(fake: Any) -> list[int] | None:
    """The dimensions of a dense tensor from the outermost in memory; None if it has less than two, or is not dense."""
    if not isinstance(fake, torch.Tensor) or fake.dim() < 2:
        return None
    strides = [_hint(s) for s in fake.stride()]
    sizes = [_hint(s) for s in fake.shape]
    order = sorted(range(fake.dim()), key=lambda axis: (-strides[axis], axis))
    dense = 1
    for axis in reversed(order):
        if sizes[axis] != 1 and strides[axis] != dense:
            return None  # not dense: PyTorch itself would make such a result only as a view
        dense *= sizes[axis]
    return order


def _hint(size: int | torch.SymInt) -> int:
    if isinstance(size, int):
        return size
    return int(size.node.hint) if size.node.hint is not None else 2


def _in_order(tensor: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """The same elements, laid out with the dimensions in this order."""
    inverse = [order.index(axis) for axis in range(len(order))]
    return _PERMUTE(_PERMUTE(tensor, order).contiguous(), inverse)


_PERMUTE: Callable[..., torch.Tensor] = torch.Tensor.permute
"""A subclass may have another method of this name."""
