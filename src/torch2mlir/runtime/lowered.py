"""What an engine gets: a function in a target dialect, the types it takes and returns, its text when it asks for it.

Engines hand out and take in raw memory: XLA runs an ``int32`` tensor through an ``f32`` argument without a word when
the byte counts agree. The declared types are what arguments and results are checked against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from torch2mlir.contract.target import Target, get_target
from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import EngineError, InputError

_DTYPES = {
    "i1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "si8": torch.int8,
    "si16": torch.int16,
    "si32": torch.int32,
    "si64": torch.int64,
    "ui8": torch.uint8,
    "ui16": torch.uint16,
    "ui32": torch.uint32,
    "ui64": torch.uint64,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E4M3FNUZ": torch.float8_e4m3fnuz,
    "f8E5M2": torch.float8_e5m2,
    "f8E5M2FNUZ": torch.float8_e5m2fnuz,
    "complex<f16>": torch.complex32,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}
# A signless integer says nothing about the sign: its tensor may be of either dtype.
_UNSIGNED = {
    torch.int8: torch.uint8,
    torch.int16: torch.uint16,
    torch.int32: torch.uint32,
    torch.int64: torch.uint64,
}


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Dtype and shape of one argument or result; ``None`` is a dynamic dimension."""

    dtype: torch.dtype
    shape: tuple[int | None, ...]

    @property
    def is_static(self) -> bool:
        """Whether every dimension is known."""
        return None not in self.shape

    def accepts(self, dtype: torch.dtype, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of ``dtype`` and ``shape`` is a value of this type."""
        return (
            (dtype is self.dtype or dtype is _UNSIGNED.get(self.dtype))
            and len(shape) == len(self.shape)
            and all(want is None or want == have for want, have in zip(self.shape, shape))
        )

    def __str__(self) -> str:
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{str(self.dtype).removeprefix('torch.')}[{dims}]"


def _is_value(value: object, spec: TensorSpec) -> bool:
    return isinstance(value, torch.Tensor) and spec.accepts(value.dtype, value.shape)


def _described(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return str(TensorSpec(value.dtype, tuple(value.shape)))
    return type(value).__name__


@dataclass(frozen=True)
class LoweredFunction:
    """A public function of a module in a target dialect.

    Attributes:
        module: the module; weights in it refer to the tensors' own memory.
        name: of the function that is called.
        target: the dialect.
        arguments: types of the arguments.
        results: types of the results.
        source: the text of a program that was read from text; it is handed out as it came.
        checks: how many results, the last ones, say whether what the program asserts holds.
        updated: arguments, by position, that the engine updates in place, and the results that they become.
    """

    module: ModuleOp
    name: str
    target: Target
    arguments: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    source: str | None = None
    updated: Mapping[int, int] = field(default_factory=dict)
    checks: int = 0

    @staticmethod
    def of(
        module: ModuleOp, output_type: object, name: str = "main", checks: int = 0
    ) -> LoweredFunction:
        """The function ``name`` of a module.

        Raises:
            EngineError: there is no such function, it is private or has no body, or it takes or returns something else
                than tensors.
        """
        function = _public_function(module, name)
        type = function.function_type
        arguments = _specs(type.inputs.data, "argument", name)
        results = _specs(type.outputs.data, "result", name)
        target = get_target(output_type)
        return LoweredFunction(module, name, target, arguments, results, checks=checks)

    @staticmethod
    def parse(text: str, output_type: object, name: str = "main") -> LoweredFunction:
        """The function ``name`` of a module that is there as text, in MLIR's custom or generic syntax.

        Raises:
            ParseError: the text is not MLIR.
            EngineError: as :meth:`of`.
        """
        module = parse_module(text, "<program>", make_context(allow_unregistered=True))
        return replace(LoweredFunction.of(module, output_type, name), source=text)

    @property
    def is_static(self) -> bool:
        """Whether every dimension of the arguments and results is known."""
        return all(spec.is_static for spec in (*self.arguments, *self.results))

    def check_results(self, results: Any) -> None:
        """Looks at what an engine returned.

        Raises:
            EngineError: it is something else than tensors of the function's types.
        """
        is_list = isinstance(results, (list, tuple))
        if is_list and len(results) == len(self.results):
            pairs = zip(results, self.results)
            if all(_is_value(value, spec) for value, spec in pairs):
                return
        found = ", ".join(map(_described, results)) if is_list else _described(results)
        raise EngineError(
            f"the engine returned ({found}) of @{self.name} where the program declares "
            f"({', '.join(map(str, self.results))})",
            dialect=self.target.name,
            hint="the engine's run returns a list of CPU tensors, one for each result of the function",
        )

    @property
    def entry(self) -> FuncOp:
        """The function itself."""
        return _public_function(self.module, self.name)

    def text(self, *, generic: bool | None = None, debuginfo: bool = False) -> str:
        """The module as text, weights in the target's own syntax.

        Args:
            generic: the form every MLIR version reads; by default as the target says.
            debuginfo: with source locations.
        """
        if self.source is not None:
            return self.source
        return module_text(
            self.module,
            weights=self.target.weight_syntax,
            generic=self.target.generic if generic is None else generic,
            debuginfo=debuginfo,
        )

    def renamed(self, name: str) -> LoweredFunction:
        """The same function under another name; the module is shared, and changes with it.

        Raises:
            EngineError: the module has another function of this name.
        """
        if name == self.name:
            return self
        functions = {op.sym_name.data: op for op in self.module.ops if isinstance(op, FuncOp)}
        if name in functions:
            raise EngineError(
                f"cannot make @{self.name} the entry: the program has another @{name}"
            )
        functions[self.name].properties["sym_name"] = StringAttr(name)
        return replace(self, name=name, source=None)

    def check(self, args: Sequence[Any]) -> None:
        """Checks tensors (or what stands for them, with a dtype and shape) against the arguments.

        Raises:
            InputError: wrong number, or a wrong dtype or shape, which it names.
        """
        if len(args) != len(self.arguments):
            raise InputError(f"@{self.name} takes {len(self.arguments)} arguments, got {len(args)}")
        for index, (arg, spec) in enumerate(zip(args, self.arguments)):
            dtype, shape = getattr(arg, "dtype", None), getattr(arg, "shape", None)
            if dtype is spec.dtype and shape == spec.shape:
                continue
            if not isinstance(dtype, torch.dtype) or shape is None:
                raise InputError(
                    f"argument {index} of @{self.name} should be a tensor, got {type(arg).__name__}"
                )
            if not spec.accepts(dtype, shape):
                raise InputError(
                    f"argument {index} of @{self.name} is declared {spec}, "
                    f"got {TensorSpec(dtype, tuple(shape))}"
                )


def _public_function(module: ModuleOp, name: str) -> FuncOp:
    names = list[str]()
    for function in module.ops:
        if isinstance(function, FuncOp):
            names.append(f"@{function.sym_name.data}")
            if function.sym_name.data != name:
                continue
            if function.sym_visibility is not None and function.sym_visibility.data == "private":
                raise EngineError(f"@{name} is private; an engine starts from a public function")
            if not function.body.blocks:
                raise EngineError(f"@{name} is declared only; an engine runs a function's body")
            return function
    raise EngineError(
        f"the program has no function @{name}",
        hint=f"functions it has: {', '.join(names[:8])}"
        if names
        else "the module should hold a func.func",
    )


def _specs(types: Sequence[Attribute], what: str, name: str) -> tuple[TensorSpec, ...]:
    """The dtypes and shapes of a function's arguments or results."""
    specs = list[TensorSpec]()
    for place, type in enumerate(types):
        dtype = _DTYPES.get(str(type.element_type)) if isinstance(type, TensorType) else None
        if dtype is None or not isinstance(type, TensorType):
            raise EngineError(
                f"{what} {place} of @{name} is a {type}; engines take and return ranked tensors of PyTorch's dtypes",
                hint="make what the function needs a tensor argument",
            )
        shape = [None if size < 0 else size for size in type.get_shape()]
        specs.append(TensorSpec(dtype, tuple(shape)))
    return tuple(specs)
