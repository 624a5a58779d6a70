"""PyTorch's symbolic integers (sympy) as the dialect's dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from inspect import Parameter
from typing import Any

import sympy
import torch
from torch.export import Dim, ShapesCollection
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree
from torch.utils._sympy import functions as torch_sympy
from torch.utils._sympy.value_ranges import ValueRanges

from torch2mlir.dialects.torch import dims, quotients
from torch2mlir.dialects.torch.dims import INT64_MAX, KnownSize, Size
from torch2mlir.dialects.torch.quotients import Quotient
from torch2mlir.errors import CaptureError
from torch2mlir.program import Signature


def _power(base: KnownSize, exponent: KnownSize) -> KnownSize:
    if not isinstance(exponent, int) or exponent < 0:
        raise CaptureError(f"the dimension {base}**{exponent} is not an integer polynomial")
    return dims.product([base] * exponent)


_BUILDERS: dict[type, Callable[..., KnownSize]] = {
    sympy.Add: dims.add,
    sympy.Mul: dims.mul,
    sympy.Pow: _power,
    sympy.Max: dims.maximum,
    sympy.Min: dims.minimum,
    torch_sympy.Max: dims.maximum,
    torch_sympy.Min: dims.minimum,
    torch_sympy.FloorDiv: dims.floordiv,
    torch_sympy.CleanDiv: dims.floordiv,
    torch_sympy.Mod: dims.mod,
    torch_sympy.PythonMod: dims.mod,
    torch_sympy.PowByNatural: _power,
    torch_sympy.Identity: lambda value: value,
}
_ROUNDINGS: dict[type, Callable[[Quotient], KnownSize | None]] = {
    torch_sympy.CeilToInt: Quotient.ceil,
    torch_sympy.FloorToInt: Quotient.floor,
    torch_sympy.TruncToInt: Quotient.trunc,
    torch_sympy.RoundToInt: Quotient.round,
}


class UnwritableSize(CaptureError):
    """A size that the dialect has no expression for.

    Attributes:
        symbols: the names of those that it is computed from.
    """

    def __init__(self, expression: Any) -> None:
        super().__init__(
            f"the dimension {expression} uses {type(expression).__name__}, which has no dialect form",
            hint="compute it from sizes with + - * // % max min, or make the dimension static; one that varies by "
            "Dim.AUTO would be captured for each size",
        )
        self.symbols = frozenset(symbol.name for symbol in expression.free_symbols)


def to_dim(expression: Any, symbols: Mapping[sympy.Symbol, KnownSize] | None = None) -> KnownSize:
    """The dimension a sympy expression (or Python int) stands for; ``symbols`` renames or fixes symbols.

    Raises:
        CaptureError: the expression uses a function that dimensions do not have.
    """
    if isinstance(expression, int):
        return expression
    if isinstance(expression, sympy.Integer):
        return int(expression)
    if isinstance(expression, sympy.Symbol):
        known = symbols.get(expression) if symbols else None
        return dims.symbol(expression.name) if known is None else known
    if type(expression) in _ROUNDINGS:
        value = _quotient(expression.args[0], symbols)
        rounded = None if value is None else _ROUNDINGS[type(expression)](value)
        if rounded is not None:
            return rounded
    builder = _BUILDERS.get(type(expression))
    if builder is None:
        raise UnwritableSize(expression)
    return builder(*(to_dim(arg, symbols) for arg in expression.args))


def _quotient(expression: Any, symbols: Mapping[sympy.Symbol, KnownSize] | None) -> Quotient | None:
    """A float that is computed from sizes, if it is known what f64 makes of it."""
    if isinstance(expression, sympy.Float | sympy.Rational):
        return quotients.constant(float(expression))
    if isinstance(expression, torch_sympy.IntTrueDiv):
        return quotients.divided(*(to_dim(arg, symbols) for arg in expression.args))
    if isinstance(expression, torch_sympy.ToFloat) or expression.is_integer:
        whole = expression.args[0] if isinstance(expression, torch_sympy.ToFloat) else expression
        return Quotient(to_dim(whole, symbols))
    if isinstance(expression, sympy.Mul | sympy.Add):
        parts = [_quotient(arg, symbols) for arg in expression.args]
        combined = quotients.product if isinstance(expression, sympy.Mul) else quotients.total
        return combined(parts)
    return None


def size_of(size: int | torch.SymInt, fixed: Mapping[sympy.Expr, int] | None = None) -> KnownSize:
    """The dimension of one entry of a fake tensor's shape; ``fixed`` has the numbers that expressions are."""
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return to_dim(expression.xreplace(fixed) if fixed else expression)


def bounds(value_range: ValueRanges[Any]) -> tuple[int, int]:
    """A value range as 64-bit integers; infinities are clipped."""
    low, high = value_range.lower, value_range.upper
    return (
        int(low) if isinstance(low, sympy.Integer) else 0,
        int(high) if isinstance(high, sympy.Integer) else INT64_MAX,
    )


def _remainder(one: Any, other: Any) -> Any:
    """A remainder as PyTorch writes it, which has another one for what may be negative: ``-n % 4``."""
    are_natural = one.is_nonnegative and other.is_nonnegative
    return (torch_sympy.Mod if are_natural else torch_sympy.PythonMod)(one, other)


_TO_SYMPY: dict[str, Callable[..., Any]] = {
    "add": sympy.Add,
    "mul": sympy.Mul,
    "max": torch_sympy.Max,
    "min": torch_sympy.Min,
    "floordiv": torch_sympy.FloorDiv,
    "mod": _remainder,
}


def to_sympy(dim: KnownSize, symbols: Mapping[str, sympy.Symbol]) -> Any:
    """The sympy expression of a dimension, over given sympy symbols."""
    if isinstance(dim, int):
        return sympy.Integer(dim)
    if dim.op == "symbol":
        return symbols[dim.name]
    return _TO_SYMPY[dim.op](*(to_sympy(arg, symbols) for arg in dim.operands()))


def size_names(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> dict[str, str]:
    """The user's names of sizes, ``Dim("batch")``, by the symbols that stand for them."""
    names = dict[str, str]()
    for _, _, given, size in _asked_to_vary(signature, args, kwargs, dynamic_shapes):
        name = getattr(given, "__name__", None)
        if name and isinstance(size, dims.Dim) and size.op == "symbol":
            names.setdefault(size.name, name)
    return names


def free_sizes(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> frozenset[tuple[int, int]]:
    """The sizes whose bounds the user leaves to capture, ``Dim.AUTO``: positions of inputs, and dimensions."""
    hint = type(Dim.AUTO)
    return frozenset(
        (position, axis)
        for position, axis, given, _ in _asked_to_vary(signature, args, kwargs, dynamic_shapes)
        if isinstance(given, hint) and given.type is not Dim.STATIC.type
        if given.min is None and given.max is None
    )


def without_sizes(
    exported: torch.export.ExportedProgram,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    symbols: Collection[str],
) -> ShapesCollection | None:
    """The sizes that vary in a program, but for those that some symbols stand for; None where the user bounds any.

    Args:
        exported: the program.
        args: of the capture.
        kwargs: of the capture.
        dynamic_shapes: what the user has said of sizes.
        symbols: their names.
    """
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = list(dynamic_shapes._shapes.values())
    said = pytree.tree_leaves(dynamic_shapes, is_leaf=lambda entry: entry is None)
    if any(entry is not None and entry != Dim.AUTO for entry in said):
        return None
    values = {
        node.name: node.meta.get("val") for node in exported.graph.find_nodes(op="placeholder")
    }
    leaves = pytree.tree_leaves((tuple(args), dict(kwargs)))
    shapes = ShapesCollection()
    specs = [s for s in exported.graph_signature.input_specs if s.kind is InputKind.USER_INPUT]
    for leaf, spec in zip(leaves, specs, strict=True):
        fake = values.get(getattr(spec.arg, "name", ""))
        if not isinstance(fake, torch.Tensor):
            continue
        varying = {
            axis: Dim.AUTO
            for axis, size in enumerate(fake.shape)
            if isinstance(size, torch.SymInt)
            and all(symbol.name not in symbols for symbol in size.node.expr.free_symbols)
        }
        if varying:
            shapes[leaf] = varying
    return shapes


def _asked_to_vary(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Iterator[tuple[int, int, Any, Size]]:
    """What ``dynamic_shapes`` says of sizes: position of the input, dimension, what is said, what capture made of it.

    Only where it has the structure of the arguments; what it is for, messages and further programs, is not worth more.
    """
    if not isinstance(dynamic_shapes, dict | list | tuple):
        return
    parameters = signature.parameters.parameters if signature.parameters else {}
    named = dynamic_shapes
    if not isinstance(named, dict):
        named = dict(zip(parameters, dynamic_shapes, strict=False))
    shapes = [] if named else list(dynamic_shapes)
    for name, entry in named.items():
        is_rest = name in parameters and parameters[name].kind is Parameter.VAR_POSITIONAL
        shapes += entry if is_rest and isinstance(entry, list | tuple) else [entry]
    values = [*args, *kwargs.values()]
    position = 0
    by_position = {item.position: item for item in signature.user_inputs}
    for index, value in enumerate(values):
        leaves = pytree.tree_leaves(value)
        entry = shapes[index] if index < len(shapes) else None
        if len(leaves) == 1 and isinstance(entry, dict | list | tuple):
            sizes = dict(entry) if isinstance(entry, dict) else dict(enumerate(entry))
            item = by_position.get(position)
            known = item.type.sizes if item is not None and item.type is not None else None
            for axis, given in sizes.items():
                if known is not None and axis in range(len(known)):
                    yield position, axis, given, known[axis]
        position += len(leaves)
