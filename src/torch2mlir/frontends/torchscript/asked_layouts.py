"""What a TorchScript program asks of the memory of its tensors, answered as for arguments that lie as at capture.

Values have no strides: an op of the dialect that asks for them would be told those of a contiguous tensor, which
``x.t()`` is not. So what leads to the tensor is run once, on copies of the example arguments, before anything is
simplified away. Where the question is still there afterwards, calls with arguments of other strides are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.dialects.weights import WeightAttr
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.torchscript.example_args import TensorPlaceholder
from torch2mlir.frontends.weights import TorchSource
from torch2mlir.program import Layout
from torch2mlir.transforms.decompositions import find_overload
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before, list_before
from torch2mlir.transforms.semantics.calls import Call

_OFFSET = "torch.aten.storage_offset"
_NUMBER = "torch2mlir.asked"
"""Of an op that asks: the number of its answer."""
_IS_CONTIGUOUS = "torch.aten.is_contiguous"
_ASK = frozenset(
    (
        *(_IS_CONTIGUOUS, "torch.aten.is_contiguous.memory_format", _OFFSET),
        *("torch.aten.stride", "torch.aten.stride.int"),
    )
)
"""Ops whose results are numbers that tell how a tensor lies in memory."""
_SAME = (
    core.CopyToNonValueTensorOp,
    core.CopyToValueTensorOp,
    core.TensorStaticInfoCastOp,
)
"""Ops whose result is their operand, for whoever asks about its memory."""


class _Undetermined(Exception):
    """Nobody knows how a tensor lies."""


class AskedLayouts:
    """What one method of a program asks.

    Args:
        function: of the method, as imported, without calls.
        examples: its example arguments, tensors among them.
    """

    def __init__(self, function: FuncOp, examples: Sequence[Any]) -> None:
        self._examples = examples
        self._answers = list[tuple[Any, frozenset[int]]]()
        asking = [op for op in function.walk() if op.name in _ASK]
        if not asking:
            return
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            for number, op in enumerate(asking):
                op.attributes[_NUMBER] = IntAttr(number)
                memory = _Memory(function, examples)
                try:
                    answer = memory.answer(op)
                except _Undetermined as reason:
                    answer = reason
                self._answers.append((answer, frozenset(memory.arguments)))

    def answer(self, function: FuncOp) -> Mapping[int, Layout]:
        """Puts the answers in the place of what still asks.

        Args:
            function: of the method, simplified.

        Returns:
            Place of an argument -> how it has to lie in every call.

        Raises:
            CaptureError: the strides of a tensor depend on what is not known before a call.
        """
        found = dict[int, Layout]()
        for op in [op for op in function.walk() if op.name in _ASK]:
            number = op.attributes.get(_NUMBER)
            is_known = isinstance(number, IntAttr)
            answer, arguments = self._answers[number.data] if is_known else (_Undetermined(), ())  # type: ignore[union-attr]
            if isinstance(answer, _Undetermined):
                raise CaptureError(
                    f"a TorchScript program asks how a tensor lies in memory, which is not known before a call{answer}",
                    op=op.name,
                    location=describe(op.location) or None,
                    hint="capture the model before it was scripted, or leave the question out",
                ) from answer
            for place in arguments:
                found[place] = _layout(self._examples[place], op.name == _OFFSET, found.get(place))
            _replace(op, answer)
        return found


def _layout(example: Any, asks_for_offset: bool, known: Layout | None) -> Layout:
    """How an argument lies as in the example; ``known`` is what is known already."""
    asks_for_offset = asks_for_offset or (known is not None and known.offset is not None)
    if isinstance(example, TensorPlaceholder):
        sizes = [dims.symbol(each) if isinstance(each, str) else each for each in example.shape]
        strides = [dims.product(sizes[place + 1 :]) for place in range(len(sizes))]
        return Layout(strides, 0 if asks_for_offset else None, is_asked=True)
    offset = int(example.storage_offset()) if asks_for_offset else None
    return Layout(example.stride(), offset, is_asked=True)


class _Memory:
    """Tensors in the place of those of a function.

    Attributes:
        arguments: the places of those of the function's arguments that were looked at.
    """

    def __init__(self, function: FuncOp, examples: Sequence[Any]) -> None:
        self._examples = examples
        self.arguments = set[int]()
        self._block = function.body.block
        self._slots = _slots(function)
        self._values = Values()
        self._known = dict[SSAValue, Any]()

    def answer(self, op: Operation) -> Any:
        """What an op that asks is told.

        Raises:
            _Undetermined: nobody knows.
        """
        varies = any(isinstance(each, TensorPlaceholder) for each in self._examples)
        if varies and op.name == _IS_CONTIGUOUS and self._is_contiguous(op.operands[0]):
            return True
        (answer,) = self._results(op)
        return answer

    def _is_contiguous(self, value: SSAValue) -> bool:
        """Whether a tensor lies in order whatever its sizes are: an argument, or a copy that is to."""
        op = value.owner
        while isinstance(op, _SAME):
            value = op.operands[0]
            op = value.owner
        if isinstance(value, BlockArgument) and value.block is self._block:
            self.arguments.add(value.index)
            return True
        is_copy = isinstance(op, Operation) and op.name == "torch.aten.contiguous"
        return is_copy and self._values.of(op.operands[1]) == 0  # type: ignore[union-attr]

    def _results(self, op: Operation) -> Sequence[Any]:
        overload = find_overload(op.name)
        if not isinstance(op, RegistryOp) or overload is None:
            raise _Undetermined
        try:
            call = Call.of(op, op.schema, self._values)
            args, kwargs = call.rebuild([self._leaf(leaf) for leaf in call.leaves])
            found = overload(*args, **kwargs)
        except _Undetermined:
            raise
        except Exception as error:  # PyTorch's own, of what the example does not lead to
            raise _Undetermined(f": {error}") from error
        return found if len(op.results) > 1 else [found]

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, Unknown):
            value = value.value
        if not isinstance(value, SSAValue):  # a size
            raise _Undetermined
        if value not in self._known:
            self._known[value] = self._computed(value)
        return self._known[value]

    def _computed(self, value: SSAValue) -> Any:
        if isinstance(value, BlockArgument):
            return self._argument(value)
        op = value.owner
        if isinstance(op, _SAME):
            return self._leaf(op.operands[0])
        if (held := self._held(op)) is not None:
            return held
        if not isinstance(op, Operation) or op.regions:
            raise _Undetermined
        return self._results(op)[op.results.index(value)]

    def _argument(self, value: BlockArgument) -> Any:
        example = self._examples[value.index] if value.index < len(self._examples) else None
        if value.block is not self._block or example is None:
            raise _Undetermined
        if not isinstance(example, torch.Tensor):
            if isinstance(example, TensorPlaceholder):
                raise _Undetermined
            return example
        self.arguments.add(value.index)
        memory = example.untyped_storage().clone()
        like = (example.storage_offset(), example.shape, example.stride())
        return torch.empty(0, dtype=example.dtype).set_(memory, *like)

    def _held(self, op: Any) -> torch.Tensor | None:
        """The tensor of the model that an op gives."""
        if op.name == "torch.global_slot.get":
            return self._slots.get(op.properties["slot"].string_value())
        return _weight(op)


def _slots(function: FuncOp) -> Mapping[str, torch.Tensor]:
    """Name of a slot -> the tensor of the model that is in it at first."""
    module = function.parent_op()
    found = dict[str, torch.Tensor]()
    for op in module.walk() if isinstance(module, ModuleOp) else ():
        if op.name == "torch.initialize.global_slots":
            names = [each.string_value() for each in op.properties["slotSymNames"].data]  # type: ignore[attr-defined]
            for name, value in zip(names, op.operands, strict=True):
                tensor = _weight(value.owner)
                if tensor is not None:
                    found[name] = tensor
    return found


def _weight(op: Any) -> torch.Tensor | None:
    for attribute in getattr(op, "properties", {}).values():
        if isinstance(attribute, WeightAttr) and isinstance(attribute.source.data, TorchSource):
            return attribute.source.data.tensor.detach()
    return None


def _replace(op: Operation, answer: Any) -> None:
    result = op.results[0]
    if isinstance(answer, bool):
        known = constant(answer, t.bool_type)
        insert_before(op, known)
        result.replace_all_uses_with(known.results[0])
    elif isinstance(answer, int):
        result.replace_all_uses_with(int_before(op, answer))
    else:
        members = [int_before(op, each) for each in answer]
        result.replace_all_uses_with(list_before(op, members, result.type))
    op.detach()
    op.erase()
