"""Symbols in the IR: ``torch.symbolic_int`` and ``torch.bind_symbolic_shape`` for the dimensions types carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, FunctionType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.ir.affine.affine_expr import AffineBinaryOpExpr, AffineConstantExpr, AffineSymExpr

from torch2mlir.dialects.placing import place_after
from torch2mlir.dialects.set_type import set_type
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX, Dim, KnownSize


def to_affine(dim: KnownSize, positions: Mapping[str, int]) -> AffineExpr | None:
    """A dimension as an affine expression over symbol positions.

    None for what affine maps do not have: max, min, and products, quotients and remainders of several symbols.
    """
    if isinstance(dim, int):
        return AffineExpr.constant(dim)
    if dim.op == "symbol":
        return AffineExpr.symbol(positions[dim.name])
    operands = [to_affine(arg, positions) for arg in dim.operands()]
    if dim.op not in _AFFINE_KINDS or None in operands:
        return None
    if dim.op != "add" and sum(isinstance(arg, Dim) for arg in dim.operands()) > 1:
        return None
    result = operands[0]
    for operand in operands[1:]:
        result = AffineBinaryOpExpr(_AFFINE_KINDS[dim.op], result, operand)  # type: ignore[arg-type]
    return result


_AFFINE_KINDS = {
    "add": AffineBinaryOpKind.Add,
    "mul": AffineBinaryOpKind.Mul,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "mod": AffineBinaryOpKind.Mod,
}
_BUILDERS: dict[AffineBinaryOpKind, Callable[..., KnownSize]] = {
    kind: dims.BUILDERS[op] for op, kind in _AFFINE_KINDS.items()
}


def from_affine(expression: AffineExpr, names: Mapping[int, str]) -> KnownSize:
    """The dimension an affine expression over symbols stands for."""
    match expression:
        case AffineConstantExpr():
            return expression.value
        case AffineSymExpr():
            return dims.symbol(names[expression.position])
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.CeilDiv):
            lhs, rhs = (from_affine(e, names) for e in (expression.lhs, expression.rhs))
            return dims.mul(-1, dims.floordiv(dims.mul(-1, lhs), rhs))
        case AffineBinaryOpExpr():
            operands = (from_affine(e, names) for e in (expression.lhs, expression.rhs))
            return _BUILDERS[expression.kind](*operands)
    raise ValueError(f"{expression} is not an expression of symbols")


def resolve_shapes(module: Operation) -> None:
    """Moves what ``torch.bind_symbolic_shape`` says into the types of the values, and removes the ops that said it.

    The bindings of function arguments stay: they tell readers of the text where symbols come from.
    """
    for op in list(module.walk()):
        if not isinstance(op, core.BindSymbolicShapeOp):
            continue
        value, declared = op.operands[0], op.operands[1:]
        type = value.type
        if not isinstance(type, t.ValueTensorType) or type.sizes is None:
            continue
        names = {
            i: s.owner.symbol
            for i, s in enumerate(declared)
            if isinstance(s.owner, core.SymbolicIntOp)
        }
        expressions = op.properties["shape_expressions"].data.results  # type: ignore[attr-defined]
        sizes = tuple(from_affine(expression, names) for expression in expressions)
        set_type(value, t.vtensor(sizes, type.dtype))
        if isinstance(value.owner, Operation):
            op.detach()
            op.erase()
    for op in module.walk():
        if isinstance(op, FuncOp):
            retype_function(op)


def retype_function(function: FuncOp) -> None:
    """Makes a function's type that of its arguments and of what it returns."""
    block = function.body.blocks.first
    if block is None or not isinstance(block.last_op, ReturnOp):
        return
    function.properties["function_type"] = FunctionType.from_lists(
        block.arg_types, block.last_op.operand_types
    )


@dataclass(frozen=True)
class Declarations:
    """What a function begins with to say what the sizes of its arguments are.

    Attributes:
        ops: ``torch.symbolic_int`` for every symbol, ``torch.bind_symbolic_shape`` for every argument with one.
        values: the results of the former, by symbol.
        ranges: smallest and largest value of every symbol.
    """

    ops: list[Operation]
    values: dict[str, SSAValue]
    ranges: dict[str, tuple[int, int]]


def declare_symbols(
    arguments: Sequence[SSAValue], known: Mapping[str, tuple[int, int]], others: Iterable[str] = ()
) -> Declarations:
    """Declares the symbols in the sizes of arguments, and others, with the ranges that are known of them."""
    names = dict[str, None]()
    for argument in arguments:
        sizes = argument.type.sizes if isinstance(argument.type, t.AnyTensorType) else None
        for size in sizes or ():
            if isinstance(size, Dim):
                names.update(dict.fromkeys(size.symbols()))
    names.update(dict.fromkeys(others))
    if not names:
        return Declarations([], {}, {})
    ranges = {name: known.get(name, (0, INT64_MAX)) for name in names}
    declared = {name: core.SymbolicIntOp.of(name, *ranges[name]) for name in names}
    values: dict[str, SSAValue] = {name: op.results[0] for name, op in declared.items()}
    binds = (bind_shape(argument, values) for argument in arguments)
    ops = [*declared.values(), *(bind for bind in binds if bind is not None)]
    return Declarations(ops, values, ranges)


def bind_all_shapes(module: Operation) -> None:
    """Says for every value with symbolic sizes what they are, so that text loses nothing."""
    for function in module.walk():
        if not isinstance(function, FuncOp):
            continue
        declared = {
            op.symbol: op.results[0] for op in function.walk() if isinstance(op, core.SymbolicIntOp)
        }
        for op in list(function.walk()):
            for region in () if op is function else op.regions:
                for block in region.blocks:
                    _bind_arguments(block, declared)
            for result in op.results:
                bind = bind_shape(result, declared) if declared and op.parent else None
                if bind is not None:
                    place_after(op, bind)


def _bind_arguments(block: Block, declared: Mapping[str, SSAValue]) -> None:
    """Says what the sizes of a region's arguments are."""
    for argument in block.args:
        bind = bind_shape(argument, declared)
        if bind is not None and block.first_op is not None:
            block.insert_op_before(bind, block.first_op)


def bind_shape(value: SSAValue, declared: Mapping[str, SSAValue]) -> Operation | None:
    """``torch.bind_symbolic_shape`` for a value whose type has symbolic sizes; None when there is nothing to say.

    ``declared`` maps a symbol's name to the result of its ``torch.symbolic_int``.
    """
    if not isinstance(value.type, t.AnyTensorType) or value.type.sizes is None:
        return None
    sizes = value.type.sizes
    if None in sizes or not any(isinstance(size, Dim) for size in sizes):
        return None
    names = list(
        dict.fromkeys(n for size in sizes if isinstance(size, Dim) for n in size.symbols())
    )
    if not all(name in declared for name in names):
        return None
    positions = {name: index for index, name in enumerate(names)}
    results = [to_affine(size, positions) for size in sizes]  # type: ignore[arg-type]
    if None in results:
        return None
    affine = AffineMap(0, len(names), tuple(results))  # type: ignore[arg-type]
    return core.BindSymbolicShapeOp.create(
        operands=[value, *(declared[name] for name in names)],
        properties={"shape_expressions": AffineMapAttr(affine)},
    )
