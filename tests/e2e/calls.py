"""A compiled function called three times against eager PyTorch: results, and everything that a call must leave alone.

Around every call the arguments, the weights and buffers and the constants are compared bit by bit: what eager leaves as
it is must stay as it is, what eager writes must agree with eager's. The results of one call are still the same after
the next, and share no memory with what was lent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests.e2e.agreement import assert_agrees, same_bits

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Tensors = Mapping[str, torch.Tensor]


@dataclass
class Comparison:
    """A compiled function beside its eager original.

    Attributes:
        compiled: the function.
        eager: the original, with a state of its own.
        state: what the compiled function holds: its parameters, buffers and constants by name.
        eager_state: eager's.
        loose: factor on the dtype's tolerance.
        signed_zeros: whether the sign of zeros counts.
    """

    compiled: Callable[..., Any]
    eager: Callable[..., Any]
    state: Tensors = field(default_factory=dict)
    eager_state: Tensors = field(default_factory=dict)
    loose: float = 1.0
    signed_zeros: bool = True

    def call(self, arguments: Sequence[Arguments]) -> None:
        """Calls both with each of the arguments in turn and compares.

        Raises:
            AssertionError: they differ, or a call changed what it should not; says at which call.
        """
        earlier: list[tuple[Any, Any]] = []
        for number, (args, kwargs) in enumerate(arguments, 1):
            try:
                results = self._one_call(args, kwargs)
                for before, kept in earlier:
                    _assert_untouched(before, kept, "a result of an earlier call")
            except AssertionError as difference:
                raise AssertionError(f"call {number}: {difference}") from difference
            earlier.append((results, deepcopy(results)))

    def _one_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ours, theirs = (args, kwargs), deepcopy((args, kwargs))
        before = _Snapshot(theirs, self.eager_state)
        held = _Snapshot(ours, self.state)
        with torch.no_grad():
            expected = self.eager(*theirs[0], **theirs[1])
        # a weight that eager returns is its own leaf; a compiled function returns the value
        expected = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, expected)
        actual = self.compiled(*args, **kwargs)
        assert_agrees(actual, expected, self.loose, self.signed_zeros)
        before.compare(held, theirs, ours, self)
        _assert_own_memory(actual, [*_tensors(ours), *self.state.values()])
        return actual


class _Snapshot:
    """Copies of everything a call is lent."""

    def __init__(self, arguments: Arguments, state: Tensors) -> None:
        self.arguments = [copy(tensor) for tensor in _tensors(arguments)]
        self.state = {name: copy(tensor) for name, tensor in state.items()}

    def compare(
        self, held: _Snapshot, theirs: Arguments, ours: Arguments, comparison: Comparison
    ) -> None:
        """What this snapshot of eager's and ``held`` of ours have become: the same."""
        values = zip(self.arguments, _tensors(theirs), held.arguments, _tensors(ours), strict=True)
        for number, each in enumerate(values):
            _assert_same_change(f"argument {number}", each, comparison)
        for name, after in comparison.state.items():
            eager_after = comparison.eager_state.get(name)
            before = held.state[name]
            was = before if eager_after is None else self.state[name]
            each = (was, was if eager_after is None else eager_after, before, after)
            _assert_same_change(f"'{name}'", each, comparison)


def copy(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's elements, layout and strides as they are now."""
    with torch.no_grad():
        return tensor.detach().clone(memory_format=torch.preserve_format)


def _assert_same_change(name: str, each: Sequence[torch.Tensor], comparison: Comparison) -> None:
    """Eager's tensor before and after a call, then ours before and after it."""
    eager_before, eager_after, before, after = each
    assert after.stride() == eager_after.stride() or after.numel() < 2, (
        f"{name} has strides {after.stride()}, PyTorch's {eager_after.stride()}"
    )
    if same_bits(eager_before, eager_after):
        assert same_bits(before, after), (
            f"{name} was changed by the call, and eager leaves it alone"
        )
    else:
        try:
            assert_agrees(after, eager_after, comparison.loose, comparison.signed_zeros)
        except AssertionError as difference:
            raise AssertionError(f"{name} after the call: {difference}") from difference


def _assert_untouched(value: Any, kept: Any, what: str) -> None:
    for one, other in zip(_tensors(value), _tensors(kept), strict=True):
        assert same_bits(one, other), f"{what} was overwritten"


def _assert_own_memory(results: Any, lent: Sequence[torch.Tensor]) -> None:
    """A result shares memory with nothing that was lent and with no other result."""
    seen = {tensor.untyped_storage().data_ptr(): "an argument or a weight" for tensor in lent}
    for number, result in enumerate(_tensors(results)):
        pointer = result.untyped_storage().data_ptr()
        if result.numel():
            assert pointer not in seen, f"result {number} shares memory with {seen[pointer]}"
            seen[pointer] = f"result {number}"


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
