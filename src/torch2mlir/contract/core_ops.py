"""The core op set: what the backend contract allows and what every dialect's conversion must lower.

PyTorch's Core ATen is the start. An op of it that decomposes well is left out; one that is here although it is not Core
ATen, or although PyTorch could decompose it, has its reason in ``REASONS``.
"""

from __future__ import annotations


def _with_overloads(names: str, *overloads: str) -> set[str]:
    return {f"torch.aten.{name}.{overload}" for name in names.split() for overload in overloads}


def _plain(names: str) -> set[str]:
    return {f"torch.aten.{name}" for name in names.split()}


UNARY = _plain(
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf exp expm1 floor isinf isnan log log10 log1p"
    " log2 logical_not neg reciprocal relu round rsqrt sigmoid sign signbit sin sinh sqrt tan tanh trunc"
)

BINARY = (
    _with_overloads("add sub mul div remainder fmod", "Tensor", "Scalar")
    | _with_overloads("div", "Tensor_mode", "Scalar_mode")
    | _with_overloads("eq ne lt le gt ge", "Tensor", "Scalar")
    | _with_overloads("bitwise_and bitwise_or bitwise_xor", "Tensor", "Scalar")
    | _with_overloads("pow", "Tensor_Tensor", "Tensor_Scalar", "Scalar")
    | _plain("atan2 logical_and logical_or logical_xor maximum minimum")
    | _with_overloads("bitwise_left_shift bitwise_right_shift", "Tensor", "Tensor_Scalar")
)

SELECTION = {"torch.aten.where.self", "torch.aten.clamp", "torch.aten.clamp.Tensor"}

CONVERSION = {
    "torch.prims.convert_element_type",
    "torch.aten.view.dtype",
}

COMPLEX = {
    "torch.aten.complex",
    "torch.prims.real",
    "torch.prims.imag",
}

REDUCTION = _plain("amax amin argmax argmin cumsum") | {
    "torch.aten.sum.dim_IntList",
    "torch.aten.mean.dim",
    "torch.aten.prod.dim_int",
    "torch.aten.any.dims",
    "torch.aten.all.dims",
    "torch.aten.max.dim",
    "torch.aten.min.dim",
}

LINEAR = _plain("mm bmm addmm convolution") | {
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
    # products and extrema; a scatter of StableHLO takes any combination of two elements
    "torch.aten.scatter_reduce.two",
}

SORTING = {
    "torch.aten.sort.stable",
}

ORDERED = (
    _with_overloads("lt le gt ge remainder fmod", "Tensor", "Scalar")
    | _with_overloads("div", "Tensor_mode", "Scalar_mode")
    | _with_overloads("max min", "dim")
    | _plain("maximum minimum clamp amax amin argmax argmin topk max_pool2d_with_indices")
    | _plain("relu sign signbit floor ceil round trunc atan2 erf")
    | SORTING
    | {"torch.aten.clamp.Tensor"}
)
"""Ops that tell less from more, which complex numbers are not."""

MAKES_SIZE = "torch.aten.repeat_interleave.Tensor"
"""The op whose result is as long as an element of its operand says."""

CONSTRUCTORS = _plain("full scalar_tensor") | {
    "torch.aten.arange.start_step",
    MAKES_SIZE,
}

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
    "sorting": SORTING,
    "constructors": CONSTRUCTORS,
}
"""Family -> ops; a family is one file in ``conversion``, and one for each target that says it in its own way."""

CONTROL_FLOW = frozenset({"torch.prim.If", "torch.prim.Loop", "torch.runtime.assert"})
"""What the contract has beside the core ops: branches, loops and checks, lowered by every dialect that can say them."""

CORE_OPS: frozenset[str] = frozenset().union(*FAMILIES.values())

REASONS: dict[str, str] = {
    "torch.aten.all.dims": "the dual of any.dims, which is Core ATen; every dialect reduces with and",
    "torch.aten.bitwise_left_shift.Tensor": "decomposes to a prim of the same meaning; every dialect has it",
    "torch.aten.bitwise_left_shift.Tensor_Scalar": "the same with a number",
    "torch.aten.bitwise_right_shift.Tensor": "decomposes to a prim of the same meaning; every dialect has it",
    "torch.aten.bitwise_right_shift.Tensor_Scalar": "the same with a number",
    "torch.aten.complex": "PyTorch writes into a view of pairs of parts, which no dialect has",
    "torch.aten.linear": "decomposes to transpose, view, addmm and view; dot_general and the named matmuls contract "
    "the last dimensions directly",
    "torch.aten.mean.dim": "PyTorch has it as sum and division too; engines and readers know it as one op",
    MAKES_SIZE: "of one count: as many zeros as an element says is where a size that depends "
    "on elements enters a program",
    "torch.aten.signbit": "the sign of NaN is a bit: no arithmetic says it",
    "torch.aten.sort.stable": "StableHLO has a word for it, and all that orders or selects by rank is said in it; "
    "Core ATen's sort leaves the order of equal elements open",
    "torch.aten.view.dtype": "the same bits as another type: no arithmetic says it",
    "torch.prims.convert_element_type": "Core ATen's _to_copy of elements, without memory formats and devices",
    "torch.prims.imag": "with complex and real, what all functions of parts are said in",
    "torch.prims.real": "with complex and imag, what all functions of parts are said in",
}
"""Why an op is core that is not Core ATen, or that PyTorch decomposes."""

CORE_ON_REAL = frozenset(
    f"torch.aten.{name}"
    for name in (
        *(
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cos",
            "cosh",
            "exp",
            "log",
            "log10",
            "log1p",
            "log2",
        ),
        *(
            "pow.Scalar",
            "pow.Tensor_Scalar",
            "pow.Tensor_Tensor",
            "rsqrt",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ),
    )
)
"""Core ops on real numbers that are decomposed on complex ones."""

PARTLY_CORE = CORE_ON_REAL | frozenset(
    {
        "torch.aten.index.Tensor",
        "torch.aten.index_put",
        MAKES_SIZE,
        "torch.aten.scatter_reduce.two",
        "torch.aten.view.dtype",
    }
)
"""Core ops that have a decomposition all the same, for some of their forms; it is ``NotImplemented`` for the others."""


def _scalars(names: str) -> set[str]:
    return {f"torch.{name}" for name in names.split()}


SCALAR_OPS: frozenset[str] = frozenset(
    _scalars(
        "aten.size.int aten.numel aten.add.int aten.sub.int aten.mul.int aten.floordiv.int aten.remainder.int"
        " aten.neg.int prim.max.int prim.min.int aten.div.int aten.Float.Scalar aten.Int.Scalar aten.Int.float"
        " aten.ceil.float aten.floor.float aten.add.float aten.sub.float aten.mul.float aten.div.float"
        " aten.mul.int_float aten.mul.float_int aten.pow.int aten.pow.float aten.pow.int_float aten.pow.float_int"
        " aten.sqrt.int aten.sqrt.float aten.eq.int aten.ne.int aten.lt.int aten.le.int aten.gt.int aten.ge.int"
        " aten.Complex.float_float aten.Bool.Tensor aten.item aten._local_scalar_dense prim.ListUnpack"
        " aten.__not__ aten.__and__.bool aten.__or__.bool aten.__xor__.bool aten.eq.bool aten.ne.bool"
        " aten.__and__.int aten.__or__.int aten.__xor__.int"
        " aten.eq.float aten.ne.float aten.lt.float aten.le.float aten.gt.float aten.ge.float"
        " aten.neg.float aten.floordiv.float aten.remainder.float prim.max.float prim.min.float"
        " aten.Int.bool aten.Float.int aten.Float.bool aten.Bool.int aten.Bool.float"
        " aten.Int.Tensor aten.Float.Tensor aten.exp.float aten.log.float aten.sin.float aten.cos.float"
        " aten.tanh.float aten.round.float prim.abs.int prim.abs.float"
    )
)
"""Arithmetic on Python numbers; allowed by the contract beside the core ops."""

TAKING = frozenset(
    f"torch.aten.{name}"
    for name in (
        *("embedding", "gather", "index.Tensor", "index_select"),
        *("max", "max.dim", "min", "min.dim", "amax", "amin", "aminmax", "argmax", "argmin"),
        *("median", "median.dim", "nanmedian", "nanmedian.dim", "mode", "kthvalue"),
    )
)
"""Ops that read elements at places, or choose one: meta kernels do not look whether there are any."""
TAKES_NOTHING = "it takes elements of a tensor that has none"
