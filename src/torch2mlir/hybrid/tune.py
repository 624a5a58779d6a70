"""One run of a graph in parts, looked at closely: is a cluster right, what does it cost, and what does PyTorch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

from torch2mlir.hybrid.cluster import Cluster
from torch2mlir.hybrid.config import Config

_TOLERANCE = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-3,
    torch.complex64: 1e-3,
    torch.float16: 2e-2,
    torch.bfloat16: 5e-2,
}
"""The largest error, relative to the largest element, that other orders of summation may make over many ops."""

_RUNS = 3
_NOISE = 1.05
"""A cluster is slower if it takes longer than PyTorch by more than what measurements vary by."""


@dataclass
class Segment:
    """A part of a run.

    Attributes:
        name: of a cluster, or of a run of ops in PyTorch.
        is_compiled: whether it was compiled code that ran.
        ops: how many ops it has.
        seconds: what it took.
        pytorch_seconds: what PyTorch takes for a cluster.
    """

    name: str
    is_compiled: bool
    ops: int
    seconds: float
    pytorch_seconds: float | None = None

    def within(self, graph: str) -> Segment:
        """The same, with the name its cluster has among those of several graphs."""
        return replace(self, name=graph + self.name) if self.name.startswith("cluster_") else self


@dataclass
class Examination:
    """What one run of a graph showed.

    Attributes:
        results: what the graph returned.
        segments: its parts in the order they ran.
    """

    results: Any = None
    segments: list[Segment] = field(default_factory=list)


def examine(module: GraphModule, inputs: Sequence[Any], config: Config) -> Examination:
    """Runs a graph in parts. Clusters that differ from PyTorch, or with ``tune`` are slower, are left to PyTorch.

    Args:
        module: of ``partition``.
        inputs: its arguments; it may write to them.
        config: whether to verify and to tune.
    """
    examiner = _Examiner(module, config)
    with torch.no_grad():
        results = examiner.run(*inputs)
    return Examination(results, examiner.segments)


class _Examiner(Interpreter):
    def __init__(self, module: GraphModule, config: Config) -> None:
        super().__init__(module)
        self.config = config
        self.segments = list[Segment]()

    def run_node(self, n: Node) -> Any:
        if n.op == "call_module":
            cluster = self.fetch_attr(str(n.target))
            if isinstance(cluster, Cluster):
                args, _ = self.fetch_args_kwargs_from_env(n)
                return self._cluster(str(n.target), cluster, args)
        start = time.perf_counter()
        result = super().run_node(n)
        if n.op == "call_function":
            self._in_pytorch(str(n.target), time.perf_counter() - start)
        return result

    def _in_pytorch(self, name: str, seconds: float) -> None:
        if self.segments and not self.segments[-1].is_compiled:
            last = self.segments[-1]
            last.ops, last.seconds = last.ops + 1, last.seconds + seconds
            last.name = last.name if name in last.name else f"{last.name}, {name}"
        else:
            self.segments.append(Segment(name, False, 1, seconds))

    def _cluster(self, name: str, cluster: Cluster, args: Sequence[Any]) -> Any:
        results = cluster(*args)
        if cluster.compiled is not None and self.config.verify:
            problem = difference(results, cluster.region(*args))
            if problem is not None:
                cluster.leave_to_pytorch(f"differs from PyTorch: {problem}")
        compiled = _seconds(lambda: cluster(*args))
        pytorch = compiled
        if cluster.compiled is not None:
            pytorch = _seconds(lambda: cluster.region(*args))
            if self.config.tune and compiled > pytorch * _NOISE:
                cluster.leave_to_pytorch(
                    f"slower than PyTorch: {compiled * 1e3:.3g} ms against {pytorch * 1e3:.3g}"
                )
        is_compiled = cluster.compiled is not None
        taken = compiled if is_compiled else pytorch
        self.segments.append(Segment(name, is_compiled, len(cluster.ops), taken, pytorch))
        cluster.calls = cluster.fallbacks = 0
        return results if is_compiled else cluster.region(*args)


def _seconds(call: Callable[[], Any]) -> float:
    """The shortest of a few runs."""
    best = float("inf")
    for _ in range(_RUNS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def difference(actual: Any, expected: Any) -> str | None:
    """What is different about results, beyond rounding; None if nothing is."""
    left, spec = pytree.tree_flatten(list(actual))
    right, other = pytree.tree_flatten(list(expected))
    if spec != other:
        return "another structure of results"
    for a, b in zip(left, right):
        problem = _tensor_difference(a, b) if isinstance(b, torch.Tensor) else None
        if not isinstance(b, torch.Tensor) and a != b:
            problem = f"{a!r} instead of {b!r}"
        if problem is not None:
            return problem
    return None


def _tensor_difference(a: torch.Tensor, b: torch.Tensor) -> str | None:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} {list(a.shape)} instead of {b.dtype} {list(b.shape)}"
    if a.numel() == 0:
        return None
    tolerance = _TOLERANCE.get(b.dtype)
    if tolerance is None:
        return None if torch.equal(a, b) else "other whole numbers"
    wide = torch.complex128 if b.is_complex() else torch.float64
    a, b = a.to(wide), b.to(wide)
    finite = torch.isfinite(b)
    if not torch.equal(torch.isfinite(a), finite) or not torch.equal(
        torch.nan_to_num(a[~finite]), torch.nan_to_num(b[~finite])
    ):
        return "infinities or NaN in other places"
    error, largest = (a - b)[finite].abs(), b[finite].abs()
    if error.numel() and float(error.max()) > tolerance * max(float(largest.max()), 1e-30):
        return f"an error of {float(error.max()):.3g} where the largest element is {float(largest.max()):.3g}"
    return None
