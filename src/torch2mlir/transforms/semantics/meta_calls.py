"""One op on fake tensors: the types PyTorch's meta kernel gives its results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.element_types import is_bool
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.lists import parts_taken
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.program import Decision
from torch2mlir.transforms.decompositions import (
    TYPED_BY_DECOMPOSITION,
    find_decomposition,
    find_overload,
)
from torch2mlir.transforms.decompositions.own_ops import schema_of_overload
from torch2mlir.transforms.semantics.calls import Call
from torch2mlir.transforms.semantics.fake import FakeWorld, rejections_unlogged
from torch2mlir.transforms.semantics.fitting_positions import types_by_positions
from torch2mlir.transforms.semantics.needs import needs_of_a_result, needs_of_operands
from torch2mlir.transforms.semantics.needs_of_ops import Types
from torch2mlir.transforms.typing.type_lattice import has_rank_and_dtype

_EXAMPLES = (1, 2, 7, 64, 1031)
"""Sizes tried where a size is unknown: what the results have in common is what is known of them."""

_NUMBERS: dict[Attribute, type] = {t.int_type: int, t.float_type: float, t.bool_type: bool}


class Undetermined(Exception):
    """The operands' types say too little."""


class _LooseCall(Call):
    """A call whose numbers may be unknown: they seldom matter for shapes."""

    def _unknown(self, value: Unknown, operand: SSAValue) -> Any:
        type = value.value.type
        if not isinstance(type, t.IntType | t.FloatType | t.BoolType):
            raise Undetermined
        self.key_parts.append(("unknown", type))
        return self._leaf(value, operand)

    def examples(self, size: int) -> list[Any]:
        """The leaves with one number for every size that is not a constant."""

        def example(leaf: Any) -> Any:
            if isinstance(leaf, SSAValue):
                type = leaf.type
                sizes = [s if isinstance(s, int) else size for s in type.sizes]
                dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype]
                return torch.empty(sizes, dtype=dtype, device="meta")
            if isinstance(leaf, Dim):
                return size
            if isinstance(leaf, Unknown) and leaf.value.type in _NUMBERS and only_numbers:
                return _NUMBERS[leaf.value.type](size)
            raise Undetermined

        only_numbers = not any(isinstance(leaf, SSAValue) for leaf in self.leaves)

        return [example(leaf) for leaf in self.leaves]


class MetaCalls:
    """Runs ops on fake tensors, each distinct call once.

    Args:
        world: fake tensors over the module's symbols.
        is_certain: whether results are refused that hold for the world's example sizes and not for others.
    """

    def __init__(self, world: FakeWorld, is_certain: bool = True) -> None:
        self.world = world
        self.is_certain = is_certain
        self._results: dict[Hashable, list[Attribute | None]] = {}
        self._questions: dict[Hashable, Sequence[Any]] = {}
        self._counts: dict[SSAValue | None, str] = {}  # mask -> how many elements it takes
        self.questions: Sequence[Any] = ()
        """What the last op needs of sizes, as PyTorch asked it."""

    def result_types(self, op: Operation, values: Values) -> Sequence[Attribute | None]:
        """The types of an op's results, those in lists one by one; None for what is not a tensor.

        Raises:
            Undetermined: the operands' types say too little.
            BackendContractError: PyTorch rejects the operands.
        """
        name, self.questions = _name(op), ()
        if (types := types_by_positions(op, values)) is not None:
            return types
        overload = find_overload(name)
        if overload is None:
            raise Undetermined
        schema = op.schema if isinstance(op, RegistryOp) else schema_of_overload(overload)
        if schema.is_variadic:
            raise Undetermined
        call = _LooseCall.of(op, schema, values)
        tensors = [leaf.type for leaf in call.leaves if isinstance(leaf, SSAValue)]
        if not all(has_rank_and_dtype(type) for type in tensors):
            raise Undetermined
        if torch.Tag.dynamic_output_shape in overload.tags and all(
            None not in type.sizes  # type: ignore[attr-defined]
            for type in tensors
        ):
            return self._sized_by_elements(overload, call)
        kernel: Any = overload
        if is_typed_by_decomposition(op) or _takes_sizes_for_numbers(op, overload, values):
            kernel = find_decomposition(overload) or overload
        key = (name, call.key, parts_taken(op))
        if key not in self._results:
            self.world.suit(needs_of_operands(op, values))
            whole = all(None not in type.sizes for type in tensors)  # type: ignore[attr-defined]
            takes_symbols = (
                overload.namespace != "prim"
            )  # its kernels turn symbols into their examples
            checked = partial(self._checked, needs=partial(needs_of_a_result, op, values))
            run = checked if whole and takes_symbols else self._by_example
            try:
                self._results[key] = run(kernel, call)
                self._questions[key] = self.world.unexplored
            except BackendContractError as error:
                error.op = error.op or name
                error.location = error.location or describe(op.location)
                raise
        self.questions = self._questions[key]
        return self._results[key]

    def _sized_by_elements(self, overload: OpOverload, call: _LooseCall) -> list[Attribute | None]:
        """The types of what elements decide the sizes of: another size for each op, but one for all of one mask."""
        mask = _mask(overload, call)
        known, learned = self._counts.get(mask), len(self.world.learned)
        for example in (2, None):  # small where PyTorch's kernel says how large it is at most
            try:
                with self.world.sizes_from_data("u", example, known):
                    types = self._run(overload, call)
                break
            except BackendContractError:  # a count is as long as it has to be at least
                if example is None:
                    raise
        if mask is not None and len(self.world.learned) > learned:
            self._counts[mask] = self.world.learned[-1]
        return types

    def _checked(
        self, kernel: Any, call: _LooseCall, needs: Callable[[Types], Sequence[Decision]]
    ) -> list[Attribute | None]:
        """As :meth:`_run`; where PyTorch asks how large the example sizes are, others have to lead to the same.

        Args:
            kernel: of the op.
            call: of it.
            needs: what the op needs of sizes for its results to be of some types.

        Raises:
            Undetermined: they do not, and not all of the call is known.
            BackendContractError: they do not.
        """
        if not self.is_certain:
            found = self._run(kernel, call)
            self.world.forget()
            return found
        types = self.world.compared(
            lambda: self._run(kernel, call),
            lambda found, other: _agree(found, other, kernel, call),
            needs,
        )
        if types is None:
            if any(isinstance(leaf, Unknown) for leaf in call.leaves):  # it may be known later
                raise Undetermined
            raise BackendContractError(
                f"what this op gives depends on its sizes ({self.world.asked})",
                hint="make the sizes it depends on static, or bound them with torch._check",
            )
        return types

    def _run(self, kernel: Any, call: _LooseCall) -> list[Attribute | None]:
        args, kwargs = call.rebuild(call.fakes(self.world))
        try:
            with rejections_unlogged():
                results = self.world.run(lambda: kernel(*args, **kwargs), ())
        except Exception as error:  # PyTorch's own errors: shapes or dtypes that do not fit the op
            if any(isinstance(leaf, Unknown) for leaf in call.leaves):
                raise Undetermined from error
            raise BackendContractError(
                f"PyTorch rejects this op: {type(error).__name__}: {error}",
                hint="check the types of its operands",
            ) from error
        return [self._type(leaf) for leaf in pytree.tree_leaves(results)]

    def _type(self, result: Any) -> Attribute | None:
        if not isinstance(result, torch.Tensor):
            return None
        sizes = tuple(self.world.known_size_of(size) for size in result.shape)
        return t.vtensor(sizes, dtypes.element_type(result.dtype))

    def _by_example(self, kernel: Any, call: _LooseCall) -> list[Attribute | None]:
        """What the results have in common over all examples that PyTorch takes."""
        found: list[list[Any]] = []
        for size in _EXAMPLES:
            args, kwargs = call.rebuild(call.examples(size))
            try:
                with torch.no_grad():
                    found.append(pytree.tree_leaves(kernel(*args, **kwargs)))
            except Exception:  # too small for this op, say
                continue
        if len(found) < 2 or len({len(results) for results in found}) > 1:
            raise Undetermined
        return [_common(results) for results in zip(*found, strict=True)]


def is_typed_by_decomposition(op: Operation) -> bool:
    """Whether an op's results have the dtypes of its decomposition: fake tensors have others than PyTorch's kernel."""
    return _name(op) in TYPED_BY_DECOMPOSITION


def _takes_sizes_for_numbers(op: Operation, overload: OpOverload, values: Values) -> bool:
    """Whether a kernel would fix sizes that vary: it takes an integer (``linspace`` its steps), and one is a size."""
    places = _integers(overload)
    return any(isinstance(values.of(op.operands[place]), Dim) for place in places)


@cache
def _integers(overload: OpOverload) -> list[int]:
    arguments = overload._schema.arguments
    return [place for place, each in enumerate(arguments) if str(each.real_type) == "int"]


def _mask(overload: OpOverload, call: _LooseCall) -> SSAValue | None:
    """The one mask that decides alone how many elements an op finds."""
    tensors = [leaf for leaf in call.leaves if isinstance(leaf, SSAValue)]
    if overload == torch.ops.aten.index.Tensor:
        tensors = tensors[1:]
    elif overload != torch.ops.aten.nonzero.default:
        return None
    masks = [each for each in tensors if is_bool(each.type.dtype)]  # type: ignore[attr-defined]
    return masks[0] if len(masks) == 1 else None


def _name(op: Operation) -> str:
    return op.op_name if isinstance(op, core.OperatorOp) else op.name


def _agree(
    types: Sequence[Attribute | None], world: FakeWorld, kernel: Any, call: _LooseCall
) -> bool:
    """Whether results have these types in another world too, at its example sizes, or it rejects the op."""
    try:
        others = MetaCalls(world, is_certain=False)._run(kernel, call)
    except (BackendContractError, Undetermined):
        return True
    pairs = zip(map(world.at_examples, types), map(world.at_examples, others), strict=False)
    return len(types) == len(others) and all(one == other for one, other in pairs)


def _common(results: Sequence[Any]) -> Attribute | None:
    if not all(isinstance(result, torch.Tensor) for result in results):
        return None
    ranks, kinds = {r.dim() for r in results}, {r.dtype for r in results}
    if len(ranks) > 1 or len(kinds) > 1:
        return None
    sizes = tuple(
        s[0] if len(set(s)) == 1 else None for s in zip(*(r.shape for r in results), strict=True)
    )
    return t.vtensor(sizes, dtypes.element_type(kinds.pop()))
