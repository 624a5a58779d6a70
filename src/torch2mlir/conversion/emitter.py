"""The context that a lowering builds with: values as lowerings get them, and what appends ops to a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NoReturn, TypeVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    LocationAttr,
    TensorType,
    f64,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract import element_types
from torch2mlir.contract.op_name import OpName
from torch2mlir.conversion.jumps import IN_TORCH
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, Sizes, is_static
from torch2mlir.errors import UnsupportedOpError

Number = bool | int | float | complex


@dataclass(frozen=True, eq=False)
class Tensor:
    """A converted tensor: a builtin ``tensor<..>`` value with the sizes and element type PyTorch knows it by."""

    value: SSAValue
    sizes: tuple[KnownSize, ...]
    dtype: Attribute

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.sizes)

    @property
    def is_static(self) -> bool:
        """Whether every size is a number."""
        return is_static(self.sizes)


@dataclass(frozen=True, eq=False)
class Scalar:
    """A Python number only known at run time: ``value`` is what the dialect represents it by (see ``scalar_type``)."""

    value: SSAValue
    dtype: Attribute


@dataclass(frozen=True)
class ResultType:
    """The type of one result of the op being lowered."""

    sizes: tuple[KnownSize, ...]
    dtype: Attribute

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.sizes)


Operand = Tensor | Scalar | Number | Dim
DTYPES: dict[Attribute, Attribute] = {
    t.int_type: element_types.si64,
    t.float_type: f64,
    t.bool_type: i1,
}
"""What Python numbers are as elements of tensors."""
_Op = TypeVar("_Op", bound=Operation)


def dtype_of(*operands: Operand) -> Attribute:
    """The element type that tensors among operands in normal form have in common."""
    return next(operand.dtype for operand in operands if isinstance(operand, Tensor))


def joint_sizes(tensors: Sequence[Tensor]) -> tuple[KnownSize, ...]:
    """The sizes that tensors have broadcast together."""
    rank = max(x.rank for x in tensors)
    sizes: list[KnownSize] = [1] * rank
    for x in tensors:
        for place, size in enumerate(x.sizes, rank - x.rank):
            if size != 1 and (isinstance(sizes[place], Dim) or sizes[place] == 1):
                sizes[place] = size
    return tuple(sizes)


@lru_cache(maxsize=65536)
def _tensor_type(sizes: tuple[KnownSize, ...], element: Attribute) -> TensorType[Attribute]:
    return TensorType(element, [s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes])


class Emitter:
    """The context of a conversion: emits ops at the current place, with the current source line.

    ``results`` are the types of the op being lowered.

    Ops go to the *body*; constants, weights and sizes go to the *entry*, before the body, so that one of each serves
    the whole function.
    """

    target: str
    """The name of the target; that of the user's own where it is based on another."""
    keep_unsigned: ClassVar[bool] = False
    """Whether the dialect has ``ui8`` and its kin; otherwise unsigned integers are signless."""

    def __init__(self) -> None:
        self.finished: list[Operation] = []
        """What comes before the entry: see :meth:`learn_size`."""
        self.entry: list[Operation] = []
        self.body: list[Operation] = []
        self.depth = 0
        """In how many regions of branches and loops the body is."""
        self.results: list[ResultType] = []
        self.given: Sequence[SSAValue] = ()
        """The results, as they are in the program that is converted."""
        self.location: LocationAttr = UNKNOWN_LOC
        self.op_name = ""
        self.symbols: dict[str, SSAValue] = {}
        self.from_data = set[str]()
        """The symbols that elements of a tensor decide."""
        self._entry_values: dict[Hashable, SSAValue] = {}
        self.jumps = IN_TORCH.graph()
        """Which ops of the program that is converted give floats that become integers or truths."""
        self.caches: list[dict[Any, Any]] = []
        """What a dialect remembers of values of the body; a region's end restores it."""

    # the op being lowered

    @property
    def out(self) -> ResultType:
        """The type of the op's only (or first) result."""
        return self.results[0]

    @property
    def used(self) -> list[bool]:
        """Which of the op's results anybody uses; for the others a lowering may return None."""
        return [result.first_use is not None for result in self.given]

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Stops with an error that names the op, its source line and the dialect."""
        what = f"'{OpName(self.op_name).dotted}'" if self.op_name else "the signature"
        raise UnsupportedOpError(
            f"cannot lower {what} to {self.target}: {reason}",
            op=self.op_name or None,
            location=describe(self.location),
            dialect=self.target,
            hint=hint
            or "register a lowering of your own with @torch2mlir.lowering(..), choose another dialect, or run that "
            "part in PyTorch with torch2mlir.optimize",
        )

    # emitting

    def element_type(self, dtype: Attribute) -> Attribute:
        """The builtin element type of a torch one."""
        return t.signless(dtype, self.keep_unsigned)

    def tensor_type(self, sizes: Sizes, dtype: Attribute) -> TensorType[Attribute]:
        """The builtin tensor type of sizes and a torch element type."""
        return _tensor_type(tuple(sizes), self.element_type(dtype))

    def emit(
        self,
        op_class: type[_Op],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> _Op:
        """Appends an op to the body."""
        op = op_class.create(
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            regions=regions,
            location=self.location,
        )
        self.body.append(op)
        return op

    def at_entry(self, key: Hashable, make: Callable[[], Operation]) -> SSAValue:
        """The result of an op at the function's entry, made once per key."""
        value = self._entry_values.get(key)
        if value is None:
            op = make()
            self.entry.append(op)
            value = self._entry_values[key] = op.results[0]
        return value

    def in_entry(self, build: Callable[[], SSAValue], key: Hashable) -> SSAValue:
        """Like :meth:`at_entry` for a value that takes several ops, which ``build`` emits as usual."""
        value = self._entry_values.get(key)
        if value is None:
            outer, self.body = self.body, self.entry
            try:
                value = self._entry_values[key] = build()
            finally:
                self.body = outer
        return value

    def op(
        self,
        op_class: type[Operation],
        operands: Sequence[Any],
        sizes: Sizes,
        dtype: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Tensor:
        """Emits an op with one tensor result of these sizes and torch element type; operands are tensors or values."""
        values = [o.value if isinstance(o, Tensor) else o for o in operands]
        emitted = self.emit(op_class, values, [self.tensor_type(sizes, dtype)], properties, regions)
        return Tensor(emitted.results[0], tuple(sizes), dtype)

    def name_boundary(
        self, function: FuncOp, source: Block, type_of: Callable[[Attribute], ResultType]
    ) -> None:
        """Writes down what a dialect says of arguments and results beside their types; by default nothing.

        Args:
            function: converted.
            source: what it was converted from.
            type_of: the sizes and element type of a torch type.
        """
