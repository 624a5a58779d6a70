"""Whether a program at the contract means the same for given sizes: PyTorch's meta kernels are asked again, op by op.

Capture and decomposition take sizes that vary for 2 or more. What they made of that (the end of a slice, a dimension
that is not broadcast) shows where an op on operands of the given sizes has another shape than the program says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.core_ops import TAKES_NOTHING, TAKING
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, Size
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.semantics.fake import FakeWorld
from torch2mlir.transforms.semantics.meta_calls import MetaCalls, Undetermined
from torch2mlir.transforms.semantics.symbols import symbol_ranges


def check_sizes(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    """Runs the meta kernels of the ops that some symbols matter for, these replaced by numbers.

    Args:
        module: at the backend contract; it stays as it is.
        sizes: symbol -> value; symbols that are not in it stay symbols.

    Raises:
        BackendContractError: an op has results of other shapes than the module says, or PyTorch rejects it and there
            are elements to compute.
    """
    concrete = module.clone()
    for op in concrete.walk():
        for value in _defined_by(op):
            set_type(value, _with_sizes(value.type, sizes))
    as_it_is, with_sizes = _Kernels(module, Values()), _Kernels(module, _ValuesOfSizes(sizes))
    for op, original in zip(concrete.walk(), module.walk(), strict=True):
        if isinstance(op, RegistryOp | core.OperatorOp) and _depends(original, sizes):
            problem = with_sizes.problem_of(op)
            # an op whose shapes are never those of PyTorch's kernel says nothing about these sizes
            if problem is not None and as_it_is.problem_of(original) is None:
                raise BackendContractError(
                    problem, op=op.name.removeprefix("torch."), location=describe(op.location)
                )


class _ValuesOfSizes(Values):
    """Operands as Python values, some symbols being numbers."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self._sizes = sizes

    def _resolve(self, value: SSAValue) -> Any:
        found = super()._resolve(value)
        return dims.substitute(found, self._sizes) if isinstance(found, Dim) else found


class _Kernels:
    """PyTorch's meta kernels, asked whether ops of one module are as they say."""

    def __init__(self, module: ModuleOp, values: Values) -> None:
        ranges = symbol_ranges(module)
        self._meta = MetaCalls(FakeWorld(ranges), is_certain=False)
        self._values, self._symbols = values, set(ranges)

    def problem_of(self, op: Operation) -> str | None:
        """How the shapes of an op's results are not those that its operands give, or None."""
        try:
            types = self._meta.result_types(op, self._values)
        except Undetermined:
            return None
        except BackendContractError as error:
            return None if all(map(_is_empty, op.results)) else error.message
        if op.name in TAKING and _is_empty(op.operands[0]) and not all(map(_is_empty, op.results)):
            return TAKES_NOTHING
        for result, type in zip(op.results, types, strict=False):
            if not self._same_sizes(_sizes(result.type), _sizes(type)):
                return f"the program says {result.type}, PyTorch {type}"
        return None

    def _same_sizes(self, says: Sequence[Size] | None, found: Sequence[Size] | None) -> bool:
        if says is None or found is None:
            return True
        return len(says) == len(found) and all(map(self._agree, says, found))

    def _agree(self, one: Size, other: Size) -> bool:
        """Whether two sizes are the same, as far as both are known."""
        names = {name for size in (one, other) if isinstance(size, Dim) for name in size.symbols()}
        return one is None or other is None or one == other or not names <= self._symbols


def _sizes(type: Attribute | None) -> Sequence[Size] | None:
    return type.sizes if isinstance(type, t.ValueTensorType) else None


def _is_empty(value: SSAValue) -> bool:
    return isinstance(value.type, t.ValueTensorType) and 0 in (value.type.sizes or ())


def _defined_by(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _with_sizes(type: Attribute, sizes: Mapping[str, int]) -> Attribute:
    if not isinstance(type, t.ValueTensorType) or type.sizes is None:
        return type
    known = (None if size is None else dims.substitute(size, sizes) for size in type.sizes)
    return t.vtensor(tuple(known), type.dtype)


def _depends(op: Operation, sizes: Mapping[str, int]) -> bool:
    """Whether symbols stand in the types that an op is about."""
    return any(
        isinstance(size, Dim) and not sizes.keys().isdisjoint(size.symbols())
        for value in (*op.operands, *op.results)
        if isinstance(value.type, t.ValueTensorType)
        for size in value.type.sizes or ()
    )
