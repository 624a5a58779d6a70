"""``torch-refine-types``: ranks, sizes and dtypes from PyTorch's meta kernels, op by op.

Anonymous ``?`` sizes of function arguments become symbols; what the arguments' sizes determine is then known of every
value. ``torch.tensor_static_info_cast`` of what is now known disappears.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.symbols import bind_shape, resolve_shapes, retype_function
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx.symbols import INT64_MAX
from torch2mlir.transforms.decompose_complex_ops import Call
from torch2mlir.transforms.decompositions import find_overload
from torch2mlir.transforms.fake import FakeWorld
from torch2mlir.transforms.symbols import symbol_ranges


def _is_known(type: Attribute) -> bool:
    if not isinstance(type, t.AnyTensorType):
        return not isinstance(type, t.AnyType | t.NumberType)
    return type.sizes is not None and None not in type.sizes and type.dtype is not None


def _tensors(op: Operation) -> Iterator[SSAValue]:
    """The results of an op; for a list of tensors, its members where they are unpacked."""
    for result in op.results:
        if isinstance(result.type, t.ListType):
            for use in result.uses:
                if isinstance(use.operation, core.PrimListUnpackOp):
                    yield from use.operation.results
        else:
            yield result


class _Refiner:
    """Refines the types of one module's values."""

    def __init__(self, module: ModuleOp) -> None:
        self.world = FakeWorld(symbol_ranges(module))
        self.values = Values()
        self._results: dict[Hashable, list[Any]] = {}

    def run(self, function: FuncOp) -> None:
        block = function.body.block
        self._name_sizes(block)
        for op in list(block.ops):
            if isinstance(op, RegistryOp) and not all(_is_known(v.type) for v in _tensors(op)):
                self._refine(op)
            elif isinstance(op, core.TensorStaticInfoCastOp) and _is_known(op.operands[0].type):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.detach()
                op.erase()
        retype_function(function)

    def _name_sizes(self, block: Block) -> None:
        """Gives every unknown size of an argument a symbol of its own."""
        taken = {op.symbol for op in block.ops if isinstance(op, core.SymbolicIntOp)}
        first = block.first_op
        for arg in block.args:
            type = arg.type
            if not isinstance(type, t.ValueTensorType) or not type.sizes or None not in type.sizes:
                continue
            sizes, declared = list(type.sizes), {}
            for index, size in enumerate(sizes):
                if size is None:
                    number = len(taken)
                    while f"s{number}" in taken:
                        number += 1
                    name = f"s{number}"
                    taken.add(name)
                    sizes[index] = dims.symbol(name)
                    op = core.SymbolicIntOp.of(name, 0, INT64_MAX)
                    declared[name] = op.results[0]
                    if first is not None:
                        block.insert_op_before(op, first)
            arg._type = t.vtensor(tuple(sizes), type.dtype)
            if (bind := bind_shape(arg, declared)) is not None and first is not None:
                block.insert_op_before(bind, first)

    def _refine(self, op: RegistryOp) -> None:
        overload = find_overload(op.name)
        if overload is None:
            return
        try:
            call = Call.of(op, op.schema, self.values)
            key = (op.name, call.key)
            if key not in self._results:
                self._results[key] = self._run(overload, call)
        except BackendContractError as error:
            error.op = error.op or op.name
            error.location = error.location or describe(op.location)
            raise
        for result, fake in zip(_tensors(op), self._results[key], strict=False):
            if isinstance(fake, torch.Tensor):
                sizes = tuple(self.world.size_of(size) for size in fake.shape)
                result._type = t.vtensor(sizes, dtypes.element_type(fake.dtype))

    def _run(self, overload: Any, call: Call) -> list[Any]:
        leaves = call.fakes(self.world)
        args, kwargs = call.rebuild(leaves)
        try:
            return pytree.tree_leaves(self.world.run(lambda: overload(*args, **kwargs), ()))
        except Exception as error:  # PyTorch's own errors: shapes or dtypes that do not fit the op
            raise BackendContractError(
                f"PyTorch rejects this op: {type(error).__name__}: {error}",
                hint="check the types of its operands",
            ) from error


@dataclass(frozen=True)
class RefineTypesPass(ModulePass):
    """See the module's docstring."""

    name = "torch-refine-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_shapes(op)
        refiner = _Refiner(op)
        for function in op.walk():
            if isinstance(function, FuncOp):
                refiner.run(function)
