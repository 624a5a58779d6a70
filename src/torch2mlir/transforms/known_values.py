"""``torch-known-values``: what rounded floats decide and no argument does is computed by PyTorch's own kernels.

``(torch.linspace(-1, 1, 7) * 3).floor().long()`` are other places of an image where an element is rounded to one side
of an integer by PyTorch and to the other side by an engine, and so are the buckets of relative positions that a
logarithm gives. Which side that is depends on the processor even in PyTorch, so no formula of a dialect is right: where
nothing but numbers of the program goes in, the elements are computed here and become a literal.

Integers, booleans and short lists of floats become literals; long floats stay computed, since rounding them otherwise
is within what floats are expected to be. Weights are arguments and not known. What only moves elements stays where its
result is not smaller than what it moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.placing import ops_in
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import is_static
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.weights import constant_literal
from torch2mlir.transforms.decompositions.registry import (
    find_decomposition,
    find_overload,
    is_dispatched,
    is_users_own,
)
from torch2mlir.transforms.folding.constants import insert_before
from torch2mlir.transforms.semantics.calls import Call

MOST_INTEGERS = 1 << 18
"""Elements of a literal: buckets of 512 positions by 512."""
_MOST_BOOLEANS = 1 << 16
_MOST_FLOATS = 1 << 12
_NAMESPACES = ("aten", "prims")


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


_MOVING = _named(
    "alias broadcast_to broadcast_in_dim cat clone contiguous detach diagonal expand expand_as flatten flip lift"
    " lift_fresh lift_fresh_copy movedim narrow permute repeat reshape roll select slice split squeeze stack t tile"
    " transpose unflatten unsqueeze view view_as"
)
"""Ops whose results have elements of their operands, in another order or shape."""
_EXACT = _MOVING | _named(
    "_to_copy abs amax amin bitwise_not ceil clamp clone constant_pad_nd convert_element_type copy diag eye fill floor"
    " full full_like gather index index_select isfinite isinf isnan masked_fill max maximum min minimum neg new_full"
    " new_ones new_zeros ones ones_like relu round scalar_tensor scatter sign sort take tensor to topk tril triu trunc"
    " type_as where zeros zeros_like"
)
"""Ops whose floats are the same ones however they are computed; a conversion is rounded by one rule everywhere."""


@dataclass(frozen=True)
class _Known:
    """What a value is.

    Attributes:
        tensor: its elements.
        is_rounded: whether floats that were rounded have decided them.
    """

    tensor: Tensor
    is_rounded: bool


class _Computing:
    """Computes what no argument has a part in, op by op."""

    def __init__(self) -> None:
        self._values = Values()
        self._known = dict[SSAValue, _Known]()

    def run(self, module: ModuleOp) -> None:
        """Puts literals in the place of what is used by ops that are not known."""
        others = list[Operation]()
        for op in ops_in(module):
            if not self._takes(op):
                others.append(op)
        if not any(known.is_rounded for known in self._known.values()):
            return
        needed = dict[SSAValue, None]()
        for op in others:
            for operand in op.operands:
                needed.update(dict.fromkeys(self._to_be_literal(operand)))
        for value in needed:
            self._put_literal(value)

    def _takes(self, op: Operation) -> bool:
        """Whether all that an op gives is known now."""
        if isinstance(op, core.ValueTensorLiteralOp):
            known = _of_literal(op)
            found = None if known is None else [known]
        elif isinstance(op, core.PrimListConstructOp) and op.operands:
            return all(operand in self._known for operand in op.operands)
        else:
            found = self._computed(op)
        if found is None:
            return False
        self._known.update(zip(op.results, found, strict=True))
        return True

    def _computed(self, op: Operation) -> list[_Known] | None:
        if not isinstance(op, RegistryOp) or not op.results or op.regions:
            return None
        if not all(_is_small(result) for result in op.results):
            return None
        given = [x for x in _tensors(op) if isinstance(x.type, t.AnyTensorType)]
        if not all(x in self._known for x in given):
            return None
        overload = find_overload(op.name)
        if overload is None or not _gives_the_same(overload):
            return None
        try:
            call = Call.of(op, op.schema, self._values)
            if not all(isinstance(leaf, SSAValue) and leaf in self._known for leaf in call.leaves):
                return None
            operands = [self._known[leaf] for leaf in call.leaves]  # type: ignore[index]
            args, kwargs = call.rebuild([each.tensor for each in operands])
            with torch.no_grad():
                result = overload(*args, **kwargs)
        except (BackendContractError, RuntimeError, IndexError, ValueError, TypeError):
            return None  # a number is not known, or each call of the program is to be refused
        results = list(result) if isinstance(result, tuple | list) else [result]
        if len(results) != len(op.results) or not all(map(_is_as_said, op.results, results)):
            return None
        is_rounded = any(each.is_rounded for each in operands) or _rounds(overload, args, results)
        return [_Known(each, is_rounded) for each in results]

    def _to_be_literal(self, value: SSAValue) -> Iterator[SSAValue]:
        """The values that become literals, of those that one is made of."""
        op = value.owner
        if isinstance(op, core.PrimListConstructOp):
            for operand in op.operands:
                yield from self._to_be_literal(operand)
            return
        known = self._known.get(value)
        if known is None or not known.is_rounded or not isinstance(op, RegistryOp):
            return
        moved = sum(self._known[x].tensor.numel() for x in _tensors(op) if x in self._known)
        if OpName(op.name).base in _MOVING and moved <= known.tensor.numel():
            for operand in op.operands:
                yield from self._to_be_literal(operand)
        elif known.tensor.numel() <= _most(known.tensor.dtype):
            yield value

    def _put_literal(self, value: SSAValue) -> None:
        op, known = value.owner, self._known[value]
        assert isinstance(op, Operation)
        literal = constant_literal(known.tensor.contiguous().clone())
        insert_before(op, literal)
        value.replace_all_uses_with(literal.results[0])


def _tensors(op: Operation) -> Iterator[SSAValue]:
    """The operands of an op, those in lists one by one."""
    for operand in op.operands:
        source = operand.owner
        yield from _tensors(source) if isinstance(source, core.PrimListConstructOp) else [operand]


def _of_literal(op: core.ValueTensorLiteralOp) -> _Known | None:
    """The elements of a literal that is no weight."""
    value, type = op.value, op.results[0].type
    if not isinstance(value, DenseIntOrFPElementsAttr) or not isinstance(type, t.ValueTensorType):
        return None
    if not _is_small(op.results[0]) or type.dtype is None:
        return None
    dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype]
    if dtype.is_complex:
        return None
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    elements = list(value.get_values())
    shape = [size for size in type.sizes or () if isinstance(size, int)]
    try:
        tensor = torch.tensor(elements, dtype=wide, device="cpu").to(dtype)
    except (OverflowError, RuntimeError, TypeError):  # more than 63 bits
        return None
    if len(elements) == 1:  # one number for all
        return _Known(tensor[0].expand(shape), False)
    return _Known(tensor.reshape(shape), False)


def _is_small(value: OpResult) -> bool:
    type = value.type
    if not isinstance(type, t.ValueTensorType) or type.sizes is None or type.dtype is None:
        return False
    return is_static(type.sizes) and prod(type.sizes) <= MOST_INTEGERS


def _most(dtype: torch.dtype) -> int:
    """How many elements of a dtype may become a literal."""
    if dtype is torch.bool:
        return _MOST_BOOLEANS
    if dtype.is_complex:
        return 0
    return _MOST_FLOATS if dtype.is_floating_point else MOST_INTEGERS


def _is_as_said(value: OpResult, result: Any) -> bool:
    declared = value.type
    return (
        type(result) is Tensor
        and isinstance(declared, t.ValueTensorType)
        and declared.dtype is not None
        and result.dtype is dtypes.FROM_ELEMENT_TYPE[declared.dtype]
        and tuple(result.shape) == tuple(declared.sizes or ())
    )


def _gives_the_same(overload: OpOverload) -> bool:
    """Whether PyTorch has kernels of an op that give the same whenever they are called."""
    return (
        overload.namespace in _NAMESPACES
        and is_dispatched(overload)
        and not overload._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in overload.tags
        and "empty" not in overload._schema.name
        and not ((own := find_decomposition(overload)) is not None and is_users_own(own))
    )


def _rounds(overload: OpOverload, args: Sequence[Any], results: Sequence[Tensor]) -> bool:
    """Whether another kernel of an op might round its floats otherwise."""
    if not any(each.is_floating_point() or each.is_complex() for each in results):
        return False
    name = overload._schema.name.partition("::")[2]
    if name == "arange":
        numbers = [each for each in args if isinstance(each, int | float)]
        return not all(float(each).is_integer() for each in numbers)
    return name not in _EXACT


@dataclass(frozen=True)
class KnownValuesPass(ModulePass):
    """See the module's docstring."""

    name = "torch-known-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Computing().run(op)
