"""What a TorchScript program asks of the memory of its tensors, answered as for arguments that lie as at capture.

Values have no strides: an op of the dialect that asks for them would be told those of a contiguous tensor, which
``x.t()`` is not. So what leads to the tensor is run once, on tensors without elements, and calls with arguments of
other strides are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.program import Layout, Program, UserInput, entry_function
from torch2mlir.transforms.decompositions import find_overload
from torch2mlir.transforms.folding.constants import constant, insert_before, int_before, list_before
from torch2mlir.transforms.semantics.calls import Call

_OFFSET = "torch.aten.storage_offset"
_ASK = frozenset(
    (
        *("torch.aten.is_contiguous", "torch.aten.is_contiguous.memory_format", _OFFSET),
        *("torch.aten.stride", "torch.aten.stride.int"),
    )
)
"""Ops whose results are numbers that tell how a tensor lies in memory."""


class _Unknown(Exception):
    """Nobody knows how a tensor lies."""


def answer_layouts(program: Program, examples: Sequence[Any]) -> None:
    """Puts the answers in the place of such ops, and notes of which arguments they are.

    Args:
        program: of a method.
        examples: its example arguments, tensors among them.

    Raises:
        CaptureError: the strides of a tensor depend on what is not known before a call.
    """
    function = entry_function(program.module, program.func_name)
    asking = [op for op in function.walk() if op.name in _ASK]
    if not asking:
        return
    memory = _Memory(function, examples)
    asks_for_offsets = any(op.name == _OFFSET for op in asking)
    for op in asking:
        try:
            _replace(op, memory.result(op))
        except _Unknown as unknown:
            raise CaptureError(
                "a TorchScript program asks how a tensor lies in memory, which is not known before a call",
                op=op.name,
                location=describe(op.location) or None,
                hint="capture the model before it was scripted, or leave the question out",
            ) from unknown
    inputs = program.signature.inputs
    for place, tensor in memory.arguments.items():
        item = inputs[place]
        if isinstance(item, UserInput):
            offset = int(tensor.storage_offset()) if asks_for_offsets else None
            program.signature.layouts[item.position] = Layout(
                tensor.stride(), offset, is_asked=True
            )


class _Memory:
    """Tensors without elements in the place of those of a function.

    Attributes:
        arguments: those of the function's arguments that were looked at.
    """

    def __init__(self, function: FuncOp, examples: Sequence[Any]) -> None:
        self._examples = examples
        self.arguments = dict[int, torch.Tensor]()
        self._block = function.body.block
        self._values = Values()
        self._known = dict[SSAValue, Any]()

    def result(self, op: Operation) -> Any:
        """What an op of one result gives.

        Raises:
            _Unknown: its operands are not known.
        """
        overload = find_overload(op.name)
        if not isinstance(op, RegistryOp) or overload is None:
            raise _Unknown
        call = Call.of(op, op.schema, self._values)
        args, kwargs = call.rebuild([self._tensor(leaf) for leaf in call.leaves])
        return overload(*args, **kwargs)

    def _tensor(self, value: Any) -> Any:
        if not isinstance(value, SSAValue):  # a size, or a number that elements decide
            raise _Unknown
        if value not in self._known:
            made = self._argument(value) if isinstance(value, BlockArgument) else self._made(value)
            self._known[value] = made
        return self._known[value]

    def _argument(self, value: BlockArgument) -> torch.Tensor:
        type = value.type
        is_known = isinstance(type, t.ValueTensorType) and type.dtype is not None
        if value.block is not self._block or not is_known:
            raise _Unknown
        sizes = type.sizes  # type: ignore[attr-defined]
        if sizes is None or not all(isinstance(size, int) for size in sizes):
            raise _Unknown
        dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype]  # type: ignore[attr-defined]
        made = torch.empty(sizes, dtype=dtype, device="meta")
        example = self._examples[value.index] if value.index < len(self._examples) else None
        if isinstance(example, torch.Tensor):
            whole = torch.empty(example.untyped_storage().nbytes(), dtype=dtype, device="meta")
            made = whole.as_strided(example.shape, example.stride(), example.storage_offset())
        self.arguments[value.index] = made
        return made

    def _made(self, value: SSAValue) -> Any:
        op = value.owner
        if not isinstance(op, Operation) or len(op.results) != 1:
            raise _Unknown
        return self.result(op)


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
