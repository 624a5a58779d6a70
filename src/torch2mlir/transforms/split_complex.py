"""``torch-split-complex-ops``: ops on complex tensors as ops on their parts, for a dialect without complex numbers.

Between ``aten.complex`` and ``prims.real`` or ``prims.imag`` nothing complex is left, so both disappear. What is
complex at the function's boundary becomes floats there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch.dims import Size
from torch2mlir.dialects.torch.symbolic import BindSymbolicShapeOp
from torch2mlir.dialects.torch.types import AnyTensorType
from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.complex_at_boundary import floats_at_boundary
from torch2mlir.transforms.decompose_complex_ops import (
    Decomposer,
    has_complex_elements,
    tensor_types,
)
from torch2mlir.transforms.decompositions.complex_functions import exp_of_parts
from torch2mlir.transforms.decompositions.registry import op_name
from torch2mlir.transforms.semantics.fake import FakeWorld

aten = torch.ops.aten
prims = torch.ops.prims
Split = Callable[..., Any]
Operand = Tensor | complex
_FROM_PARTS, _SIZE = "torch.aten.complex", "torch.aten.size.int"

_SPLITS: dict[str, Split] = {}


def _splits(*overloads: OpOverload) -> Callable[[Split], Split]:
    """Registers a function as what an op is on the parts of its complex operands."""

    def register(function: Split) -> Split:
        _SPLITS.update((op_name(overload), function) for overload in overloads)
        return function

    return register


def _real(a: Operand) -> Any:
    """The real part of a tensor or a number."""
    if torch.is_tensor(a):
        return prims.real(a) if a.is_complex() else a
    return a.real


def _imag(a: Operand) -> Any:
    """The imaginary part of a tensor or a number, the number 0 for a real tensor."""
    if torch.is_tensor(a):
        return prims.imag(a) if a.is_complex() else 0.0
    return a.imag


def _is_complex(a: Operand) -> bool:
    return a.is_complex() if torch.is_tensor(a) else isinstance(a, complex)


@_splits(aten.complex.default)
def _of_parts(real: Tensor, imaginary: Tensor) -> Tensor:
    return aten.complex(*torch.broadcast_tensors(real, imaginary))


# linear ops, of which each part is the op on that part

_LINEAR = (
    aten.view.default,
    aten.permute.default,
    aten.expand.default,
    aten.unsqueeze.default,
    aten.squeeze.dims,
    aten.slice.Tensor,
    aten.select.int,
    aten.flip.default,
    aten.repeat.default,
    aten.neg.default,
    aten.index_select.default,
    aten.index.Tensor,
    aten.gather.default,
    aten.embedding.default,
)


def _of_each_part(overload: OpOverload) -> Split:
    def split(a: Operand, *args: Any, **kwargs: Any) -> Any:
        parts = (prims.real(a), prims.imag(a))
        return aten.complex(*(overload(part, *args, **kwargs) for part in parts))

    return split


for _overload in _LINEAR:
    _splits(_overload)(_of_each_part(_overload))


def _reduction(overload: OpOverload) -> Split:
    def split(a: Tensor, *args: Any, dtype: Any = None) -> Any:
        a = _converted(a, dtype)
        return aten.complex(overload(prims.real(a), *args), overload(prims.imag(a), *args))

    return split


def _converted(a: Tensor, dtype: torch.dtype | None) -> Tensor:
    """What a reduction reduces: complex numbers, of the dtype that is asked for."""
    return a if dtype in (None, a.dtype) else prims.convert_element_type(a, dtype)


for _overload in (aten.sum.dim_IntList, aten.mean.dim, aten.cumsum.default):
    _splits(_overload)(_reduction(_overload))


@_splits(aten.prod.dim_int)
def _prod(a: Tensor, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of the halves of a line, and so on; of lines whose length is known."""
    a, count = _converted(a, dtype), a.shape[dim]
    if not isinstance(count, int):
        return NotImplemented
    if count == 0:
        return a.sum(dim, keepdim) + 1
    while count > 1:
        half = count // 2
        product = a.narrow(dim, 0, half) * a.narrow(dim, half, half)
        a = torch.cat([product, a.narrow(dim, 2 * half, 1)], dim) if count % 2 else product
        count -= half
    return a if keepdim else a.squeeze(dim)


@_splits(aten.constant_pad_nd.default)
def _pad(a: Tensor, padding: Any, value: Any = 0) -> Tensor:
    real = aten.constant_pad_nd(prims.real(a), padding, value.real)
    return aten.complex(real, aten.constant_pad_nd(prims.imag(a), padding, value.imag))


@_splits(aten.cat.default)
def _cat(tensors: Any, dim: int = 0) -> Tensor:
    parts = [(prims.real(a), prims.imag(a)) for a in tensors]
    return aten.complex(*(aten.cat(list(part), dim) for part in zip(*parts, strict=True)))


def _with_operands_in(overload: OpOverload, place: int) -> Split:
    """An op on two tensors or numbers, of which each part is the op on those parts; the second is at a place."""

    def split(a: Operand, *args: Any, **kwargs: Any) -> Any:
        parts = (
            overload(part(a), *args[:place], part(args[place]), *args[place + 1 :], **kwargs)
            for part in (_real, _imag)
        )
        return aten.complex(*parts)

    return split


for _overload, _place in (
    (aten.scatter.src, 2),
    (aten.scatter.value, 2),
    (aten.scatter_add.default, 2),
    (aten.index_put.default, 1),
):
    _splits(_overload)(_with_operands_in(_overload, _place))


@_splits(aten.full.default)
def _full(size: Any, value: complex, *, dtype: Any = None, **memory: Any) -> Tensor:
    return aten.complex(*(aten.full(size, part, dtype=_part(dtype)) for part in _parts_of(value)))


@_splits(aten.scalar_tensor.default)
def _scalar_tensor(value: complex, *, dtype: Any = None, **memory: Any) -> Tensor:
    return aten.complex(
        *(aten.scalar_tensor(part, dtype=_part(dtype)) for part in _parts_of(value))
    )


def _parts_of(number: complex) -> tuple[float, float]:
    return complex(number).real, complex(number).imag


def _part(dtype: torch.dtype | None) -> torch.dtype:
    """The dtype of the parts of complex numbers; without one they are those of PyTorch's default."""
    return torch.get_default_dtype() if dtype is None else dtype.to_real()


@_splits(aten.where.self)
def _where(condition: Any, a: Operand, b: Operand) -> Tensor:
    real = torch.where(condition, _real(a), _real(b))
    return aten.complex(real, torch.where(condition, _imag(a), _imag(b)))


# arithmetic


@_splits(aten.add.Tensor, aten.add.Scalar)
def _add(a: Operand, b: Operand, alpha: Any = 1) -> Tensor:
    return _sum_of(torch.add, a, b, alpha)


@_splits(aten.sub.Tensor, aten.sub.Scalar)
def _sub(a: Operand, b: Operand, alpha: Any = 1) -> Tensor:
    return _sum_of(torch.sub, a, b, alpha)


def _sum_of(op: Any, a: Operand, b: Operand, alpha: Any) -> Tensor:
    """A sum or difference of parts; a real operand leaves the other's imaginary part as it is."""
    real = op(_real(a), _real(b), alpha=alpha)
    imaginary = _imag(a) + torch.zeros_like(real)
    if _is_complex(b):
        imaginary = op(imaginary, _imag(b), alpha=alpha)
    return aten.complex(real, imaginary)


@_splits(aten.mul.Tensor, aten.mul.Scalar)
def _mul(a: Operand, b: Operand) -> Tensor:
    if not _is_complex(a):
        a, b = b, a
    if not _is_complex(b):
        return aten.complex(_real(a) * b, _imag(a) * b)
    real = _real(a) * _real(b) - _imag(a) * _imag(b)
    return aten.complex(real, _real(a) * _imag(b) + _imag(a) * _real(b))


@_splits(aten.div.Tensor, aten.div.Scalar)
def _div(a: Operand, b: Operand) -> Tensor:
    """By a complex number: as PyTorch does it, without its square, which large and small numbers do not have."""
    if not _is_complex(b):
        return aten.complex(_real(a) / b, _imag(a) / b)
    like = prims.real(a) if torch.is_tensor(a) and a.is_complex() else prims.real(b)
    x, y = (_as_tensor(part, like) for part in (_real(a), _imag(a)))
    c, d = (_as_tensor(part, like) for part in (_real(b), _imag(b)))
    is_real_larger = c.abs() >= d.abs()
    large, small = torch.where(is_real_larger, c, d), torch.where(is_real_larger, d, c)
    ratio = small / large
    scale = 1 / (large + small * ratio)
    real = torch.where(is_real_larger, x + y * ratio, x * ratio + y) * scale
    imaginary = torch.where(is_real_larger, y - x * ratio, y * ratio - x) * scale
    is_zero = (c == 0) & (d == 0)
    return aten.complex(
        torch.where(is_zero, x / c.abs(), real), torch.where(is_zero, y / d.abs(), imaginary)
    )


def _as_tensor(part: Any, like: Tensor) -> Tensor:
    return part if torch.is_tensor(part) else torch.full_like(like, part)


@_splits(aten.mm.default)
def _mm(a: Tensor, b: Tensor) -> Tensor:
    return _product(aten.mm, a, b)


@_splits(aten.bmm.default)
def _bmm(a: Tensor, b: Tensor) -> Tensor:
    return _product(aten.bmm, a, b)


def _product(op: Any, a: Operand, b: Operand) -> Tensor:
    (ar, ai), (br, bi) = ((_real(x), _imag(x)) for x in (a, b))
    return aten.complex(op(ar, br) - op(ai, bi), op(ar, bi) + op(ai, br))


@_splits(aten.linear.default)
def _linear(a: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    product = _product(aten.linear, a, weight)
    return product if bias is None else _add(product, bias)


@_splits(aten.addmm.default)
def _addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    product = _product(aten.mm, a, b)
    scaled = product if alpha == 1 else _mul(product, alpha)
    return _add(c if beta == 1 else _mul(c, beta), scaled)


@_splits(aten.convolution.default)
def _convolution(a: Tensor, weight: Tensor, bias: Tensor | None, *options: Any) -> Tensor:
    product = _product(lambda x, w: aten.convolution(x, w, None, *options), a, weight)
    if bias is None:
        return product
    return _add(
        product, aten.complex(*(_of_channels(part(bias), a.dim()) for part in (_real, _imag)))
    )


def _of_channels(bias: Tensor, rank: int) -> Tensor:
    return bias.view(-1, *[1] * (rank - 2))


# comparison


@_splits(aten.eq.Tensor, aten.eq.Scalar)
def _eq(a: Operand, b: Operand) -> Tensor:
    return torch.eq(_real(a), _real(b)) & _same_imaginary_parts(a, b)


@_splits(aten.ne.Tensor, aten.ne.Scalar)
def _ne(a: Operand, b: Operand) -> Tensor:
    return ~_eq(a, b)


def _same_imaginary_parts(a: Operand, b: Operand) -> Any:
    first, second = _imag(a), _imag(b)
    return torch.eq(first, second) if torch.is_tensor(first) else torch.eq(second, first)


@_splits(aten.isnan.default)
def _isnan(a: Tensor) -> Tensor:
    return torch.isnan(prims.real(a)) | torch.isnan(prims.imag(a))


@_splits(aten.isinf.default)
def _isinf(a: Tensor) -> Tensor:
    return torch.isinf(prims.real(a)) | torch.isinf(prims.imag(a))


@_splits(aten.logical_not.default)
def _logical_not(a: Tensor) -> Tensor:
    return _eq(a, 0)


def _of_truths(overload: OpOverload) -> Split:
    """An op that asks of each element whether it is zero; a real operand is asked by the op itself."""

    def split(*args: Any) -> Any:
        return overload(*(_ne(a, 0) if _is_complex(a) else a for a in args))

    return split


for _overload in (
    aten.logical_and.default,
    aten.logical_or.default,
    aten.logical_xor.default,
    aten.any.dims,
    aten.all.dims,
):
    _splits(_overload)(_of_truths(_overload))


# functions


@_splits(aten.abs.default)
def _abs(a: Tensor) -> Tensor:
    return torch.hypot(prims.real(a), prims.imag(a))


def _exp(a: Tensor) -> Tensor:
    return aten.complex(*exp_of_parts(prims.real(a), prims.imag(a)))


@_splits(aten.expm1.default)
def _expm1(a: Tensor) -> Tensor:
    """``exp(x) * cos(y) - 1`` without a difference of near numbers: ``expm1(x) * cos(y) + (cos(y) - 1)``."""
    x, y = prims.real(a), prims.imag(a)
    half = torch.sin(y / 2)
    return aten.complex(
        torch.expm1(x) * torch.cos(y) - 2 * half * half, torch.exp(x) * torch.sin(y)
    )


@_splits(aten.sigmoid.default)
def _sigmoid(a: Tensor) -> Tensor:
    return _reciprocal(_add(_exp(_mul(a, -1)), 1))


@_splits(aten.reciprocal.default)
def _reciprocal(a: Tensor) -> Tensor:
    return _div(1, a)


@_splits(prims.convert_element_type.default)
def _convert(a: Tensor, dtype: torch.dtype) -> Tensor:
    """To and from real types, and between complex ones; what becomes a boolean is asked whether it is zero."""
    if dtype is torch.bool:
        return _ne(a, 0)
    if not dtype.is_complex:
        return prims.convert_element_type(prims.real(a), dtype)
    part = dtype.to_real()
    real = _real(a).to(part)
    imaginary = prims.imag(a).to(part) if a.is_complex() else torch.zeros_like(real)
    return aten.complex(real, imaginary)


class ComplexSplitter(Decomposer):
    """Replaces ops on complex tensors; what is kept whole for real ones is decomposed to core ops first."""

    def _is_wanted(self, op: Operation) -> bool:
        if not any(map(has_complex_elements, tensor_types(op))):
            return False
        if op.name == _FROM_PARTS:  # parts of one size are what it is to be made of
            real, imaginary = map(_sizes, op.operands)
            return real != imaginary
        return op.name in _SPLITS or super()._is_wanted(op)

    def _function(self, name: str, overload: OpOverload) -> Split | None:
        return _SPLITS.get(name) or super()._function(name, overload)

    def _may_use_itself(self, name: str) -> bool:
        return True


def _is_computed_complex(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and has_complex_elements(value.type)


def _part_of_same_shape(value: SSAValue) -> SSAValue:
    """A real tensor that has the shape of one made of parts; any other tensor itself."""
    made = value.owner
    if isinstance(made, Operation) and made.name == _FROM_PARTS:
        sizes = _sizes(value)
        if sizes is not None and None not in sizes:
            return next((part for part in made.operands if _sizes(part) == sizes), value)
    return value


def _sizes(value: SSAValue) -> tuple[Size, ...] | None:
    return value.type.sizes if isinstance(value.type, AnyTensorType) else None


def _has_complex(function: FuncOp) -> bool:
    """Whether a function takes, holds or computes complex numbers."""
    if not function.body.blocks:
        return False
    types = (type for op in function.walk() for type in op.result_types)
    arguments = (argument.type for argument in function.body.block.args)
    return any(map(has_complex_elements, (*arguments, *types)))


@dataclass(frozen=True)
class SplitComplexOpsPass(ModulePass):
    """Complex arithmetic inside functions as arithmetic on parts."""

    name = "torch-split-complex-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [o for o in op.walk() if isinstance(o, FuncOp) and _has_complex(o)]
        if not functions:
            return
        for function in functions:
            floats_at_boundary(function)
        splitter = ComplexSplitter(FakeWorld.of(op))
        for function in functions:
            for block in function.body.blocks:
                splitter.run(block)
        for user in list(op.walk()):
            if isinstance(user, BindSymbolicShapeOp) and _is_computed_complex(user.operands[0]):
                user.detach()  # it would keep alive what nothing else uses
                user.erase()
            elif user.name == _SIZE:
                user.operands[0] = _part_of_same_shape(user.operands[0])
        CanonicalizePass().apply(ctx, op)
