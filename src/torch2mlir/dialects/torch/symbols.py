"""Symbols in the IR: ``torch.symbolic_int`` and ``torch.bind_symbolic_shape`` for the dimensions types carry."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.ir.affine.affine_expr import AffineBinaryOpExpr, AffineConstantExpr, AffineSymExpr

from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize


def to_affine(dim: KnownSize, positions: Mapping[str, int]) -> AffineExpr | None:
    """A dimension as an affine expression over symbol positions; None for max and min, which maps do not have."""
    if isinstance(dim, int):
        return AffineExpr.constant(dim)
    if dim.op == "symbol":
        return AffineExpr.symbol(positions[dim.name])
    operands = [to_affine(arg, positions) for arg in dim.operands()]
    if dim.op not in _AFFINE_KINDS or None in operands:
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
_BUILDERS = {kind: dims.BUILDERS[op] for op, kind in _AFFINE_KINDS.items()}


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


def bind_shape(value: SSAValue, declared: Mapping[str, SSAValue]) -> Operation | None:
    """``torch.bind_symbolic_shape`` for a value whose type has symbolic sizes; None when there is nothing to say.

    ``declared`` maps a symbol's name to the result of its ``torch.symbolic_int``.
    """
    if not isinstance(value.type, t.AnyTensorType) or value.type.sizes is None:
        return None
    sizes = value.type.sizes
    if None in sizes or not any(isinstance(size, Dim) for size in sizes):
        return None
    names = list(dict.fromkeys(n for size in sizes if isinstance(size, Dim) for n in size.symbols()))
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
