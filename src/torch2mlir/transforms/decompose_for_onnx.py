"""``torch-decompose-for-onnx``: what is kept whole for ONNX and in some form is not ONNX's, is decomposed after all.

ONNX has words for the ops that its target keeps, but not for all they can be: attention drops nothing out and takes
four dimensions, and an epsilon is an f32, too coarse for f64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from torch2mlir.contract.target import get_target
from torch2mlir.dialects.onnx.schema import OPSET
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.values import Values
from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.decompose_complex_ops import Decomposer
from torch2mlir.transforms.semantics.fake import FakeWorld
from torch2mlir.transforms.semantics.repeated_places import times_repeated


def _tensor_type(op: Operation, position: int) -> Any:
    type = op.operands[position].type
    return type if isinstance(type, t.ValueTensorType) else None


def _is_narrow(op: Operation, _: Values) -> bool:
    """Whether the numbers of an op's attributes, which are f32, are precise enough."""
    return not isinstance(_tensor_type(op, 0).dtype, Float64Type)


def _is_plain_attention(op: Operation, values: Values) -> bool:
    ranks = [len(_tensor_type(op, position).sizes) for position in range(3)]
    return ranks == [4, 4, 4] and values.of(op.operands[4]) == 0 and _is_narrow(op, values)


def _is_inference(op: Operation, values: Values) -> bool:
    return values.of(op.operands[5]) is False and _is_narrow(op, values)


def _is_resized_in_f32(op: Operation, values: Values) -> bool:
    """Whether the factors, which are f32 in ONNX, lead to the same sizes and places there."""
    if not isinstance(_tensor_type(op, 0).dtype, Float32Type):
        return False
    if op.name.endswith(".vec"):
        factors = values.of(op.operands[3])
        return factors is None or (isinstance(factors, list) and all(map(_is_short, factors)))
    return all(values.of(each) is None for each in op.operands[3:])


def _repeats(op: Operation, values: Values) -> bool:
    """Whether a whole number of new places has the element of each old one, see :func:`times_repeated`."""
    x, result = _tensor_type(op, 0), op.results[0].type
    if not isinstance(x.dtype, Float32Type) or not isinstance(result, t.ValueTensorType):
        return False
    if x.sizes is None or result.sizes is None:
        return False
    is_vec = op.name.endswith(".vec")
    given = values.of(op.operands[2]) if is_vec else [values.of(each) for each in op.operands[2:]]
    return times_repeated(x.sizes, result.sizes, given, by_factors=is_vec) is not None


def _is_short(factor: object) -> bool:
    """Whether a factor counts quarters."""
    return isinstance(factor, float) and (factor * 4).is_integer()


SAYABLE: Mapping[str, Callable[[Operation, Values], bool]] = {
    "torch.aten._native_batch_norm_legit_no_training": _is_narrow,
    "torch.aten.batch_norm": _is_inference,
    "torch.aten.gelu": _is_narrow,
    "torch.aten.group_norm": _is_narrow,
    "torch.aten.hardsigmoid": _is_narrow,
    "torch.aten.layer_norm": _is_narrow,
    "torch.aten.leaky_relu": _is_narrow,
    "torch.aten.native_layer_norm": _is_narrow,
    "torch.aten.rms_norm": _is_narrow,
    "torch.aten.scaled_dot_product_attention": _is_plain_attention,
    "torch.aten.upsample_bilinear2d": _is_resized_in_f32,
    "torch.aten.upsample_bilinear2d.vec": _is_resized_in_f32,
    **{
        f"torch.aten.{kind}{rank}d{overload}": _repeats
        for kind in ("upsample_nearest", "_upsample_nearest_exact")
        for rank in (1, 2, 3)
        for overload in ("", ".vec")
    },
}
"""Op -> whether ONNX has a word for this form of it."""


SINCE = {
    "torch.aten.gelu": 20,
    "torch.aten.group_norm": 21,
    "torch.aten.rms_norm": 23,
    "torch.aten.scaled_dot_product_attention": 23,
}
"""Op -> the operator set that has its word, where that is not as old as all that are written for."""


class _OnnxDecomposer(Decomposer):
    opset = OPSET

    def _is_wanted(self, op: Operation) -> bool:
        sayable = SAYABLE.get(op.name)
        if sayable is None:
            return super()._is_wanted(op)
        return SINCE.get(op.name, 0) > self.opset or not sayable(op, self.values)


@dataclass(frozen=True)
class DecomposeForOnnxPass(ModulePass):
    """See the module's docstring."""

    name = "torch-decompose-for-onnx"
    opset: ClassVar[int] = OPSET

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if all(nested.name not in SAYABLE for nested in op.walk()):
            return
        kept = get_target("onnx").kept_ops
        decomposer = _OnnxDecomposer(FakeWorld.of(op), kept)
        decomposer.opset = self.opset
        for function in op.walk():
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    decomposer.run(block)
        CanonicalizePass().apply(ctx, op)


@dataclass(frozen=True)
class DecomposeForOnnxOpset18Pass(DecomposeForOnnxPass):
    """The same for operator set 18."""

    name = "torch-decompose-for-onnx-opset18"
    opset: ClassVar[int] = 18


@dataclass(frozen=True)
class DecomposeForOnnxOpset21Pass(DecomposeForOnnxPass):
    """The same for operator set 21."""

    name = "torch-decompose-for-onnx-opset21"
    opset: ClassVar[int] = 21
