"""The core op set: what the backend contract allows and what every dialect's conversion must lower.

PyTorch's Core ATen and prims are the start. An op that PyTorch decomposes well is left out; one that it could decompose
but that is here has its reason beside it.
"""

from __future__ import annotations


def _with_overloads(names: str, *overloads: str) -> set[str]:
    return {f"torch.aten.{name}.{overload}" for name in names.split() for overload in overloads}


def _plain(names: str) -> set[str]:
    return {f"torch.aten.{name}" for name in names.split()}


UNARY = _plain(
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf exp expm1 floor isinf isnan log log10 log1p"
    " log2 logical_not neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)

BINARY = (
    _with_overloads("add sub mul div remainder fmod", "Tensor", "Scalar")
    | _with_overloads("div", "Tensor_mode", "Scalar_mode")
    | _with_overloads("eq ne lt le gt ge", "Tensor", "Scalar")
    | _with_overloads("bitwise_and bitwise_or bitwise_xor", "Tensor", "Scalar")
    | _with_overloads("pow", "Tensor_Tensor", "Tensor_Scalar", "Scalar")
    | _plain("atan2 logical_and logical_or logical_xor maximum minimum")
    # decompose to prims of the same meaning; every dialect has them
    | _with_overloads("bitwise_left_shift bitwise_right_shift", "Tensor", "Tensor_Scalar")
)

SELECTION = {"torch.aten.where.self", "torch.aten.clamp", "torch.aten.clamp.Tensor"}

CONVERSION = {
    "torch.prims.convert_element_type",
    # the same bits as another type: no arithmetic says it
    "torch.aten.view.dtype",
}

COMPLEX = {
    # what all functions of parts are said in; PyTorch has them as views of pairs, which no dialect has
    "torch.aten.complex",
    "torch.prims.real",
    "torch.prims.imag",
}

REDUCTION = _plain("amax amin argmax argmin cumsum") | {
    "torch.aten.sum.dim_IntList",
    # PyTorch has mean as sum and division; engines and readers know it as one op
    "torch.aten.mean.dim",
    "torch.aten.prod.dim_int",
    "torch.aten.any.dims",
    "torch.aten.all.dims",
    "torch.aten.max.dim",
    "torch.aten.min.dim",
}

LINEAR = _plain("mm bmm addmm convolution") | {
    # decomposes to transpose, view, addmm, view; dot_general and the named matmuls contract the last axes directly
    "torch.aten.linear",
}

POOLING = _plain("avg_pool2d max_pool2d_with_indices")

DATA_MOVEMENT = _plain("view permute expand unsqueeze cat flip constant_pad_nd repeat") | {
    "torch.aten.squeeze.dims",
    "torch.aten.slice.Tensor",
    "torch.aten.select.int",
}

INDEXING = _plain("embedding gather index_select index_put scatter_add") | {
    "torch.aten.index.Tensor",
    "torch.aten.scatter.src",
    "torch.aten.scatter.value",
}

CONSTRUCTORS = _plain("full scalar_tensor") | {"torch.aten.arange.start_step"}

IDENTITIES = frozenset(_plain("alias clone detach lift lift_fresh lift_fresh_copy"))
"""Ops that are their operand, as far as values go. Decompositions may leave them (a clone changes strides, which
PyTorch's own code looks at), canonicalization removes them."""

FAMILIES: dict[str, set[str]] = {
    "elementwise": UNARY | BINARY | SELECTION | CONVERSION,
    "complex": COMPLEX,
    "reduction": REDUCTION,
    "linear": LINEAR,
    "pooling": POOLING,
    "data_movement": DATA_MOVEMENT,
    "indexing": INDEXING,
    "constructors": CONSTRUCTORS,
}
"""Family -> ops; a family is one file in each of the three conversion folders."""

CORE_OPS: frozenset[str] = frozenset().union(*FAMILIES.values())


def _scalars(names: str) -> set[str]:
    return {f"torch.{name}" for name in names.split()}


SCALAR_OPS: frozenset[str] = frozenset(
    _scalars(
        "aten.size.int aten.numel aten.add.int aten.sub.int aten.mul.int aten.floordiv.int aten.remainder.int"
        " aten.neg.int prim.max.int prim.min.int aten.div.int aten.Float.Scalar aten.Int.Scalar aten.Int.float"
        " aten.ceil.float aten.floor.float aten.add.float aten.sub.float aten.mul.float aten.div.float"
        " aten.mul.int_float aten.mul.float_int aten.pow.int aten.pow.float aten.pow.int_float aten.pow.float_int"
        " aten.sqrt.int aten.sqrt.float aten.eq.int aten.ne.int aten.lt.int aten.le.int aten.gt.int aten.ge.int"
        " prim.ListUnpack"
    )
)
"""Arithmetic on Python numbers; allowed by the contract beside the core ops."""
