"""Calls the ``lazy`` device has no graph node for, recorded in a node it has.

The device's nodes are C++ classes; none can be added from Python. One of them is wide enough to carry any call: the
gradients of a convolution. Recording it looks at nothing, takes three tensors and lists of integers, and promises as
third result a tensor of the shape ``bias_sizes`` and the dtype of the first tensor. So a call becomes

    convolution_backward(like, operands, last_operand, bias_sizes=shape, stride=[code, position], groups=-1)

where ``code`` stands for the call with its constants and ``position`` for one of its results. More than two operands
are linked to a list by nodes of the same kind. The importer writes the call itself in place of its carrier. PyTorch, if
it ever ran such a graph, refuses a convolution with these arguments: it cannot give wrong values.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

LINK = 0
"""Code of a node that appends an operand to a list of them."""

MEMBER = 1
"""Code of a node that stands for one more result of the call whose first result it takes."""

_FIRST_CALL = 2
_GROUPS = -1
_MASK = [False, False, True]


@dataclass(frozen=True)
class TensorType:
    """What is known of a tensor before it is computed."""

    dtype: torch.dtype
    shape: torch.Size

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor."""
        return cls(tensor.dtype, tensor.shape)


@dataclass(frozen=True)
class Operand:
    """The place of a tensor among the arguments of a call."""

    position: int


@dataclass(frozen=True, eq=False)
class Call:
    """A call with its constants; :class:`Operand` where it takes tensors.

    Attributes:
        code: the number it has in graphs.
        target: what is called.
        leaves: its arguments, flat.
        spec: their structure, positional and keyword arguments.
        operands: how many tensors it takes.
    """

    code: int
    target: OpOverload
    leaves: tuple[Any, ...]
    spec: pytree.TreeSpec
    operands: int

    def arguments(self, operands: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with these operands."""
        leaves = [
            operands[leaf.position] if isinstance(leaf, Operand) else leaf for leaf in self.leaves
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return args, kwargs


class _Calls:
    """The calls that codes stand for; one table, because a graph may outlive the device it was recorded on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known = dict[Any, Call]()
        self._by_code = list[Call]()

    def __getitem__(self, code: int) -> Call:
        return self._by_code[code - _FIRST_CALL]

    def of(
        self, target: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Call, list[torch.Tensor]]:
        """A call, the same one for equal constants, and the tensors it takes.

        Programs are compiled for the host, whatever device a call names.
        """
        leaves, spec = pytree.tree_flatten((tuple(args), kwargs))
        operands = list[torch.Tensor]()
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                leaves[index] = Operand(len(operands))
                operands.append(leaf)
            elif isinstance(leaf, torch.device):
                leaves[index] = torch.device("cpu")
        # 1, 1.0 and True are equal in Python, 0.0 and -0.0 too
        key = (target, spec, tuple((type(leaf), repr(leaf)) for leaf in leaves))
        with self._lock:
            call = self._known.get(key)
            if call is None:
                code = _FIRST_CALL + len(self._by_code)
                call = Call(code, target, tuple(leaves), spec, len(operands))
                self._known[key] = call
                self._by_code.append(call)
        return call, operands


CALLS = _Calls()


def carry(
    call: Call, operands: Sequence[torch.Tensor], results: Sequence[TensorType | None]
) -> list[torch.Tensor | None]:
    """Records a call on tensors of the device; a tensor of the device for each of its results that is one."""
    *head, last = operands or [torch.zeros(()).to("lazy")]
    packed = head[0] if head else last
    for operand in head[1:]:
        packed = _node(packed.dtype, packed, operand, (), [LINK, 0])
    given = list[torch.Tensor | None]()
    code = call.code
    for position, result in enumerate(results):
        if result is None:
            given.append(None)
            continue
        node = _node(result.dtype, packed, last, result.shape, [code, position])
        given.append(node)
        if code != MEMBER:
            code, packed, last = MEMBER, node, node
    return given


@dataclass(frozen=True)
class Carrier:
    """What a node that carries a call says: names of tensors in the graph's text, or lists of names linked before.

    Attributes:
        code: of the call, or ``LINK`` or ``MEMBER``.
        position: of the result it stands for.
        packed: all operands but the last.
        last: the last operand.
    """

    code: int
    position: int
    packed: str
    last: str


def carrier(inputs: Sequence[str], arguments: Sequence[Any]) -> Carrier | None:
    """What a ``convolution_backward`` carries; nothing if it is one."""
    if arguments[9] != _GROUPS:
        return None
    code, position = arguments[4]
    return Carrier(code, position, inputs[1], inputs[2])


def _node(
    dtype: torch.dtype,
    packed: torch.Tensor,
    last: torch.Tensor,
    shape: Sequence[int],
    numbers: list[int],
) -> torch.Tensor:
    like = next((tensor for tensor in (packed, last) if tensor.dtype == dtype), None)
    if like is None:
        like = last.to(dtype)
    gradient = torch.ops.aten.convolution_backward.default
    result: torch.Tensor = gradient(
        like, packed, last, list(shape), numbers, [], [], False, [], _GROUPS, _MASK
    )[2]
    return result
