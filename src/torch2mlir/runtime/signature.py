"""The types of a program's entry function, read from its MLIR text.

Engines hand out and take in raw memory: XLA runs an ``int32`` tensor through an ``f32`` argument
without a word when the byte counts agree. The declared types are what arguments and results are
checked against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

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

_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(complex<\w+>|\w+)\s*[,>]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[()\[\]{}<>,:]')
_FUNCTION = re.compile(r'func\.func\b[^@"\n]*@([\w$.-]+|"[^"]+")|sym_name = "([^"]+)"')


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Dtype and shape of one argument or result; ``None`` is a dynamic dimension."""

    dtype: torch.dtype
    shape: tuple[int | None, ...]

    @property
    def is_static(self) -> bool:
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


@dataclass(frozen=True, slots=True)
class Signature:
    """Types of the arguments and results of one function."""

    name: str
    arguments: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]

    def check(self, args: Sequence[Any]) -> None:
        """Check tensors (or what stands for them, with a dtype and shape) against the arguments.

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


def entry_signature(text: str, func_name: str) -> Signature:
    """The signature of function ``func_name`` of a module in custom or generic syntax.

    Raises:
        EngineError: there is no such function, it is private, or it takes or returns something
            else than tensors.
    """
    header = _custom_header(text, func_name) or _generic_header(text, func_name)
    if header is None:
        found = [a or b for a, b in _FUNCTION.findall(text)]
        raise EngineError(
            f"the program has no function @{func_name}",
            hint=f"functions it has: {', '.join('@' + name for name in found[:8])}"
            if found
            else "the text should hold a module with a func.func",
        )
    arguments, results = header
    return Signature(
        func_name,
        tuple(_spec(item, f"argument {i} of @{func_name}") for i, item in enumerate(arguments)),
        tuple(_spec(item, f"result {i} of @{func_name}") for i, item in enumerate(results)),
    )


def _custom_header(text: str, name: str) -> tuple[list[str], list[str]] | None:
    """``func.func @name(%arg0: T {attrs}, ...) -> (T {attrs}, ...)``: its argument and result items."""
    quoted = re.escape(name)
    match = re.search(rf'func\.func\b([^@"\n]*)@(?:{quoted}|"{quoted}")\s*\(', text)
    if match is None:
        return None
    if match[1].strip() == "private":
        raise _private(name)
    end, arguments = _items(text, match.end() - 1)
    return [item.partition(":")[2] for item in arguments], _result_items(text, end)


def _generic_header(text: str, name: str) -> tuple[list[str], list[str]] | None:
    """``"func.func"() <{function_type = (T, ...) -> (T, ...), sym_name = "name"}>``: its items."""
    for match in re.finditer(r'"func\.func"\(\)\s*<?\{', text):
        end, properties = _items(text, match.end() - 1)
        if not any(re.fullmatch(rf'\s*sym_name = "{re.escape(name)}"\s*', p) for p in properties):
            continue
        if any(p.strip() == 'sym_visibility = "private"' for p in properties):
            raise _private(name)
        start = text.index("function_type = ", match.end(), end)
        end, arguments = _items(text, text.index("(", start))
        return arguments, _result_items(text, end)
    return None


def _private(name: str) -> EngineError:
    return EngineError(f"@{name} is private; an engine starts from a public function")


def _result_items(text: str, position: int) -> list[str]:
    """The items after ``->`` at ``position``, in parentheses or alone; none without an arrow."""
    arrow = re.compile(r"\s*->\s*").match(text, position)
    if arrow is None:
        return []
    if text[arrow.end()] == "(":
        return _items(text, arrow.end())[1]
    return [text[arrow.end() : arrow.end() + 1000]]


def _items(text: str, opening: int) -> tuple[int, list[str]]:
    """Comma-separated items of the bracket at ``opening``, and the position after its end."""
    items, depth, start = [], 0, opening + 1
    for token, position in _tokens(text, opening):
        if token in "([{<":
            depth += 1
        elif token in ")]}>":
            depth -= 1
        if depth == 0 or (depth == 1 and token == ","):
            if item := text[start:position].strip():
                items.append(item)
            start = position + 1
        if depth == 0:
            return start, items
    raise EngineError("the function signature in the text has an unclosed bracket")


def _tokens(text: str, position: int) -> Iterator[tuple[str, int]]:
    """Brackets, commas and colons outside of strings and arrows."""
    for match in _TOKEN.finditer(text, position):
        if len(match[0]) == 1:
            yield match[0], match.start()


def _spec(item: str, what: str) -> TensorSpec:
    match = _TENSOR.match(item.strip())
    dtype = _DTYPES.get(match[2]) if match else None
    if match is None or dtype is None:
        raise EngineError(
            f"{what} is not a tensor of a dtype PyTorch has: {item.strip()[:80]}",
            hint="engines pass ranked tensors in and out; wrap scalars in tensor<...>",
        )
    dims = match[1].split("x")[:-1]
    return TensorSpec(dtype, tuple(None if dim == "?" else int(dim) for dim in dims))
