"""``torch-keep-products``: products that are rounded before they are added to, where the sum then jumps.

Compilers of engines (LLVM in IREE and XLA, OpenVINO's kernels) make one instruction of a product and a sum, which
rounds once where PyTorch rounds twice: ``ceil(x * 0.1 - 1)`` of 10 is 1 there, and 0 in eager mode. Where such a sum is
rounded to an integer, converted to one or compared, the product is chosen among itself and NaN, by whether it is equal
to itself: no compiler sees a product to join behind the choice, which costs as much as a comparison.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, ModuleOp, f64, i1
from xdsl.ir import Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.jumps import IN_TORCH, Leading, ops_named, readers
from torch2mlir.dialects.placing import ops_in, place_after
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t

_PRODUCTS = ops_named("mul", "Tensor", "Scalar") | ops_named("pow", "Tensor_Scalar")
_SUMS = ops_named("add sub", "Tensor", "Scalar")
_MOVING = {"torch.prim.ListConstruct"} | ops_named(
    "cat expand neg permute repeat select.int slice.Tensor squeeze.dims unsqueeze view"
)


def _keep(op: Operation) -> None:
    product = op.results[0]
    type = product.type
    assert isinstance(type, t.ValueTensorType) and type.sizes is not None
    readers = [(use.operation, use.index) for use in product.uses]
    nan = core.ConstantFloatOp.of(FloatAttr(float("nan"), f64))
    same = core.build("torch.aten.eq.Tensor", [product, product], [t.vtensor(type.sizes, i1)])
    other = core.build("torch.aten.mul.Scalar", [product, nan.results[0]], [type])
    chosen = core.build(
        "torch.aten.where.self", [same.results[0], product, other.results[0]], [type]
    )
    last = op
    for new in (nan, same, other, chosen):
        new.location = op.location
        place_after(last, new)
        last = new
    for reader, index in readers:
        reader.operands[index] = chosen.results[0]


class KeepProductsPass(PassForOps):
    """See the module's docstring; of programs at the backend contract."""

    name = "torch-keep-products"
    looks_for = _PRODUCTS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        graph = IN_TORCH.graph()
        added = Leading[Operation](
            readers,
            lambda each, read: each.name in _SUMS and IN_TORCH.follow(each, graph, is_sum=True),
            lambda each: each.name in _MOVING,
        )
        for each in [each for each in ops_in(op) if each.name in _PRODUCTS]:
            type = each.results[0].type
            is_float = isinstance(type, t.ValueTensorType) and isinstance(
                type.dtype, Float32Type | Float64Type
            )
            if is_float and added.leads(each):
                _keep(each)
