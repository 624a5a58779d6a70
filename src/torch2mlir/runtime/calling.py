"""How a program is called: arguments from the caller's, state and seeds; results, and what is written back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy
import torch
from torch.utils import _pytree as pytree

from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.errors import InputError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.pytrees import unflattener
from torch2mlir.program import (
    ArgumentOutput,
    Check,
    ConstantOutput,
    FunctionInput,
    Output,
    SeedInput,
    Signature,
    StateInput,
    UserInput,
    UserOutput,
)
from torch2mlir.runtime.binding import Binder
from torch2mlir.runtime.element_views import for_program, from_program
from torch2mlir.runtime.lowered import TensorSpec
from torch2mlir.runtime.model_state import check_state
from torch2mlir.runtime.shared_memory import WrittenMemory
from torch2mlir.runtime.small_sizes import SizeCheck

_PYTHON_KINDS: dict[torch.dtype, tuple[type, type]] = {
    torch.bool: (bool, int),
    torch.int64: (int, int),
    torch.float64: (float, float | int),  # type: ignore[dict-item]
}
"""The dtype that a program takes a number as -> what that is in Python, and what TorchScript takes for it."""


def _number(name: str, value: Any, dtype: torch.dtype) -> torch.Tensor:
    """A number that a TorchScript program takes; tensors of one element are numbers to it."""
    is_one = isinstance(value, torch.Tensor) and value.numel() == 1
    number = value.item() if is_one or isinstance(value, numpy.generic) else value
    kind, taken = _PYTHON_KINDS[dtype]
    is_long = isinstance(number, int) and not -(2**63) <= number < 2**63
    if not isinstance(number, taken) or is_long:
        size = " of 64 bits" if is_long else ""
        raise InputError(f"input '{name}' should be a Python {kind.__name__}{size}, got {value!r}")
    return torch.tensor(kind(number), dtype=dtype)


class CallingConvention:
    """A program's signature at work.

    Args:
        signature: of the program.
        sizes: looks at sizes of 0 and 1, if there is a program to look at.
    """

    def __init__(self, signature: Signature, sizes: SizeCheck | None = None) -> None:
        self.signature = signature
        binder = Binder(signature, sizes)
        self.bind = binder.bound
        """The leaves of a call's arguments, and the values of the symbols; InputError of another program's call."""
        self.takes_kinds = binder.takes_kinds
        """Whether a call by position holds for others whose tensors are of the same kinds."""
        self.leaves = binder.leaves
        """The leaves alone, whose sizes are not looked at; InputError of another structure than at capture."""
        self._written = set[str]()
        for mutation in signature.mutations:
            if mutation.position is None:
                self._written.add(mutation.name)
        spec = signature.out_spec
        self._put_together = tuple if spec is None else unflattener(spec)
        self._container = _container(signature.out_spec, signature.outputs)
        self._memory = WrittenMemory(signature) if signature.mutations else None

    def check(self, leaves: Sequence[Any]) -> None:
        """Looks at a call's arguments before anything is computed.

        Raises:
            InputError: an index is outside of its range, or what is written shares memory with an argument.
        """
        if self.signature.preconditions:
            check_indices(self.signature, leaves)
        if self._memory is not None:
            self._memory.check(leaves)

    def is_weight(self, item: FunctionInput) -> bool:
        """Whether an argument is state that the program does not write to."""
        return isinstance(item, StateInput) and item.name not in self._written

    def argument(
        self, item: FunctionInput, leaves: Sequence[Any], spec: TensorSpec
    ) -> torch.Tensor:
        """An argument that is another one in every call, as the function ``spec`` takes it.

        Raises:
            InputError: the model's tensor has got another dtype or other sizes.
        """
        if isinstance(item, StateInput):
            tensor: torch.Tensor = item.tensor
            if tensor.dtype is not spec.dtype or tensor.shape != spec.shape:
                check_state(item, tensor)
            return for_program(tensor, spec.dtype)
        if isinstance(item, SeedInput):
            return item.draw()
        leaf = leaves[item.position]
        is_number = item.type is None and spec.shape == () and spec.dtype in _PYTHON_KINDS
        if isinstance(leaf, torch.Tensor) and leaf.dtype is spec.dtype and not is_number:
            return leaf
        if is_number:
            return _number(item.name, leaf, spec.dtype)
        return for_program(torch.as_tensor(leaf), spec.dtype)

    def updated(self, kept: Sequence[FunctionInput]) -> dict[int, int]:
        """Which of a function's arguments become which of its results, by position.

        Args:
            kept: the inputs that are its first arguments.
        """
        places = dict[str | int, int]()
        for place, item in enumerate(kept):
            if isinstance(item, UserInput):
                places[item.position] = place
            elif isinstance(item, StateInput):
                places[item.name] = place
        found = dict[int, int]()
        for result, mutation in enumerate(self.signature.mutations):
            key = mutation.name if mutation.position is None else mutation.position
            if key in places:
                found[places[key]] = result
        return found

    def result(
        self,
        results: Sequence[torch.Tensor],
        leaves: Sequence[Any],
        updated: Mapping[int, int] | None = None,
    ) -> Any:
        """What the caller gets of a function's results, once those that are mutations have been written back.

        Args:
            results: of the function.
            leaves: of the call's arguments.
            updated: the arguments that the engine may have updated in place, and the results that they became.

        Raises:
            InputError: something that the program asserts does not hold; nothing is written back.
        """
        if checks := self.signature.checks:
            check_results(checks, results, updated)
            results = results[: -len(checks)]
        if count := len(self.signature.mutations):
            self._write_back(results[:count], leaves)
        return self._returned(results[count:], leaves)

    def _write_back(self, mutated: Sequence[torch.Tensor], leaves: Sequence[Any]) -> None:
        states = {s.name: s.tensor for s in self.signature.state_inputs}
        with torch.no_grad():
            for mutation, value in zip(self.signature.mutations, mutated, strict=True):
                position = mutation.position
                target = states[mutation.name] if position is None else leaves[position]
                write(target, value)

    def _returned(self, returned: Sequence[torch.Tensor], given: Sequence[Any]) -> Any:
        if self._container is not None:
            make, wanted = self._container
            return make(
                [
                    v if v.dtype is d else from_program(v, d)
                    for v, d in zip(returned, wanted, strict=True)
                ]
            )
        values = iter(returned)
        leaves = list[Any]()
        for output in self.signature.outputs:
            if isinstance(output, ConstantOutput):
                leaves.append(output.value)
            elif isinstance(output, ArgumentOutput):
                leaves.append(given[output.position])
            else:
                value = next(values)
                leaves.append(
                    value.item()
                    if output.type is None
                    else from_program(value, _dtype(output.type))
                )
        return self._put_together(leaves)


def check_indices(signature: Signature, given: Sequence[Any]) -> None:
    """Looks at arguments that are indices, before anything is computed.

    Args:
        signature: of the program.
        given: the leaves of the call's arguments.

    Raises:
        InputError: an index is outside of its range, with its line of the model.
    """
    for condition in signature.preconditions:
        item = signature.inputs[condition.argument]
        assert isinstance(item, UserInput | StateInput)
        indices = given[item.position] if isinstance(item, UserInput) else item.tensor
        lowest, highest = condition.lowest, condition.highest
        if not indices.numel():
            continue
        least, most = torch.aminmax(indices)
        if lowest <= least.item() and most.item() <= highest:
            continue
        outside = (indices < lowest) | (indices > highest)
        if condition.ignored is not None:
            outside &= indices != condition.ignored
        if outside.any():
            found = indices[outside][0].item()
            raise InputError(
                f"{condition.message}; argument '{item.name}' has {found}",
                location=condition.location or None,
                hint="call with indices that are in range, as eager PyTorch wants them",
            )


def check_results(
    checks: Sequence[Check],
    results: Sequence[torch.Tensor],
    updated: Mapping[int, int] | None = None,
) -> None:
    """Looks at the last results of a function, which say whether what it asserts holds.

    Raises:
        InputError: the first that does not, with its line of the model, and whether the engine may have written to what
            is ``updated`` in place.
    """
    for check, holds in zip(checks, results[-len(checks) :], strict=True):
        if not holds:
            written = "; what the call updates in place may have been written to" if updated else ""
            raise InputError(
                check.message + written,
                location=check.location or None,
                hint="the elements of the arguments decide this: call with others, or have the model keep to them",
            )


def write(target: torch.Tensor, value: torch.Tensor) -> None:
    """Makes a result the elements of a tensor; it may be the tensor itself, updated in place.

    Call it without gradients.
    """
    if value is not target:
        target.copy_(from_program(value, target.dtype))
    elif not target.is_inference():
        torch.autograd.graph.increment_version(target)


def _container(
    spec: pytree.TreeSpec | None, outputs: Sequence[Output]
) -> tuple[Callable[[list[Any]], Any], list[torch.dtype]] | None:
    """For results that are a tensor, or a tuple or list of tensors: what makes them of tensors, and their dtypes.

    Going through the structure takes longer than a small model.
    """
    wanted = list[torch.dtype]()
    for output in outputs:
        type = output.type if isinstance(output, UserOutput) else None
        if type is None or type.dtype is None:
            return None
        wanted.append(dtypes.FROM_ELEMENT_TYPE[type.dtype])
    if spec is None:
        return tuple, wanted
    if spec.is_leaf():
        return itemgetter(0), wanted
    if spec.type in (tuple, list) and all(child.is_leaf() for child in spec.children()):
        return spec.type, wanted
    return None


def _dtype(type: ValueTensorType) -> torch.dtype | None:
    return None if type.dtype is None else dtypes.FROM_ELEMENT_TYPE[type.dtype]
