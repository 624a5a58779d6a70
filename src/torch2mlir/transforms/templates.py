"""Traced decompositions: what stands for a call of an op, wherever the same call comes again in this process.

A model is lowered more than once: for several dialects, by each engine that is measured, for further sizes of calls.
Tracing its decompositions is a third of that where sizes vary, and gives the same graphs each time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from xdsl.ir import SSAValue

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import is_static
from torch2mlir.frontends.fx.questions import Asked
from torch2mlir.program import Decision
from torch2mlir.transforms.decompositions.own_ops import PYTORCHS
from torch2mlir.transforms.decompositions.registry import has_users_own, is_users_own
from torch2mlir.transforms.semantics.calls import Call
from torch2mlir.transforms.semantics.fake import FakeWorld

MOST_KEPT = 256
"""Of so many calls, some 0.1 MB each; beyond, the one that has not been asked for longest is forgotten."""
_LARGE = 1 << 14
"""Bytes of constants that are not kept."""


@dataclass(frozen=True)
class Template:
    """A traced decomposition: nodes over placeholders, ready to be imported anywhere the same call stands."""

    nodes: Sequence[Node]
    placeholders: Sequence[Node]
    results: Sequence[Any]
    attributes: Mapping[str, torch.Tensor | GraphModule]
    questions: Sequence[Any]
    """What it needs of sizes, as PyTorch asked it."""
    learned: Sequence[str]
    """Symbols of sizes that depend on elements: each place where the template is expanded has its own."""


@dataclass(frozen=True)
class Traced:
    """What came of tracing a call.

    Attributes:
        template: None where the op stays as it is.
        asked: what the decomposition's code asked about sizes.
        world: in which it was traced, and whose symbols are in the template and the questions.
    """

    template: Template | None
    asked: Sequence[Asked]
    world: FakeWorld


class _Kept:
    """What was traced in this process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._traced = OrderedDict[Hashable, Traced]()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Traced | None:
        with self._lock:
            found = self._traced.get(key)
            if found is not None:
                self._traced.move_to_end(key)
            return found

    def keep(self, key: Hashable, traced: Traced) -> None:
        with self._lock:
            self._traced[key] = traced
            while len(self._traced) > MOST_KEPT:
                self._traced.popitem(last=False)


_KEPT = _Kept()


def traced_once(
    trace: Callable[[], Traced],
    overload: OpOverload,
    function: Callable[..., Any],
    call: Call,
    needs: Sequence[Decision],
    world: FakeWorld,
) -> Traced:
    """What comes of tracing a call, or came of it when the same was known of sizes.

    Args:
        trace: traces it in the world.
        overload: the op.
        function: its decomposition.
        call: of it.
        needs: what the op needs of sizes.
        world: that the call is to be traced in.
    """
    is_ours = overload.namespace in PYTORCHS and not is_users_own(function)
    if not is_ours or has_users_own() or torch._C._len_torch_function_stack():
        return trace()  # somebody's own code may read anything
    is_fixed = _has_no_symbols(call)
    key = (
        overload,
        function,
        call.key,
        _modes(),
        None if is_fixed else (frozenset(map(_said, needs)), world.assumptions()),
    )
    if (known := _KEPT.get(key)) is not None:
        return known
    traced = trace()
    if traced.template is None or _may_be_kept(traced.template):
        _KEPT.keep(key, traced)
        if not is_fixed:
            world.forget()  # or what is learned of sizes later would be taken for known here
    return traced


def _may_be_kept(template: Template) -> bool:
    tensors = (each for each in template.attributes.values() if isinstance(each, torch.Tensor))
    return not template.learned and sum(each.nbytes for each in tensors) < _LARGE


def _has_no_symbols(call: Call) -> bool:
    return all(
        isinstance(leaf, SSAValue)
        and isinstance(leaf.type, t.AnyTensorType)
        and leaf.type.sizes is not None
        and is_static(leaf.type.sizes)
        for leaf in call.leaves
    )


def _modes() -> Hashable:
    """The modes of PyTorch that decompositions, its own or ours, may ask for."""
    return (
        torch.get_default_dtype(),
        torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu"),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_inference_mode_enabled(),
    )


def _said(decision: Decision) -> Hashable:
    return decision.asked, decision.answer
