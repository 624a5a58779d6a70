"""The arguments of one op, as PyTorch's own semantics are asked about them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from xdsl.ir import Operation, SSAValue

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.schema import Schema
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.transforms.semantics.fake import FakeWorld

_DECODERS: dict[str, Callable[[int], Any]] = {
    "ScalarType": dtypes.FROM_SCALAR_TYPE.__getitem__,
    "MemoryFormat": dtypes.FROM_MEMORY_FORMAT.__getitem__,
    "Layout": dtypes.FROM_LAYOUT.__getitem__,
}


@dataclass
class Call:
    """The arguments of one op: tensors, symbolic sizes and numbers known at run time are leaves, the rest constants.

    A number that is only known when the program runs may be what elements are computed with (a ``Scalar``), never a
    size or an option.
    """

    leaves: list[SSAValue | Dim | Unknown] = field(default_factory=list)
    values: list[SSAValue] = field(default_factory=list)
    key_parts: list[Hashable] = field(default_factory=list)
    arguments: list[tuple[str, bool, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, op: Operation, schema: Schema, values: Values) -> Self:
        """Reads the operands of an op with this schema."""
        call = cls()
        for argument, operand in zip(schema.arguments, op.operands, strict=True):
            decode = _DECODERS.get(argument.type.rstrip("?"))
            value = values.of(operand)
            if decode is not None and isinstance(value, int):
                value = decode(value)
            if isinstance(value, Unknown) and argument.type == "Scalar" and _is_number(value):
                call.key_parts.append(("unknown", value.value.type))
                template = call._leaf(value, operand)
            else:
                template = call._add(value, operand)
            call.arguments.append((argument.name, argument.kwarg_only, template))
        return call

    @property
    def key(self) -> Hashable:
        """Equal for calls that decompose alike."""
        return tuple(self.key_parts)

    def _add(self, value: Any, operand: SSAValue) -> Any:
        match value:
            case SSAValue():
                self.key_parts.append(value.type)
                return self._leaf(value, value)
            case Dim():
                self.key_parts.append(value)
                return self._leaf(value, operand)
            case list():
                self.key_parts.append(("list", len(value)))
                source = operand.owner
                members = source.operands if isinstance(source, Operation) else ()
                return [self._add(v, o) for v, o in zip(value, members, strict=True)]
            case Unknown():
                return self._unknown(value, operand)
            case float():
                self.key_parts.append((float, value.hex()))
            case _:
                self.key_parts.append((type(value), value))
        return _Constant(value)

    def _unknown(self, value: Unknown, operand: SSAValue) -> Any:
        raise BackendContractError(
            "an argument is only known when the program runs",
            hint="data-dependent shapes and options cannot be compiled; pass a constant or a size",
        )

    def _leaf(self, leaf: SSAValue | Dim | Unknown, operand: SSAValue) -> int:
        self.leaves.append(leaf)
        self.values.append(operand)
        return len(self.leaves) - 1

    def fakes(self, world: FakeWorld) -> list[Any]:
        """The leaves as PyTorch sees them: fake tensors, symbolic integers and numbers without a value."""

        def fake(leaf: SSAValue | Dim | Unknown) -> Any:
            match leaf:
                case SSAValue():
                    return world.tensor(leaf.type)  # type: ignore[arg-type]
                case Unknown():
                    return world.unknown(leaf.value.type)
                case _:
                    return world.integer(leaf)

        return [fake(leaf) for leaf in self.leaves]

    def rebuild(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments with the leaves filled in."""

        def fill(template: Any) -> Any:
            if isinstance(template, _Constant):
                return template.value
            return (
                [fill(item) for item in template]
                if isinstance(template, list)
                else leaves[template]
            )

        args = [fill(template) for _, kwarg_only, template in self.arguments if not kwarg_only]
        kwargs = {name: fill(tmpl) for name, kwarg_only, tmpl in self.arguments if kwarg_only}
        return args, kwargs


def _is_number(unknown: Unknown) -> bool:
    return isinstance(unknown.value.type, t.IntType | t.FloatType | t.BoolType)


@dataclass(frozen=True)
class _Constant:
    value: Any
