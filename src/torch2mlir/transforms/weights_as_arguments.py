"""``torch-weights-as-arguments``: weights become function arguments, for small text and engines that take memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.torch.core import ValueTensorLiteralOp
from torch2mlir.dialects.weights import TensorSource, WeightAttr


def weights_as_arguments(
    function: FuncOp, position: int | None = None
) -> list[tuple[TensorSource, SSAValue]]:
    """Adds an argument per weight of a function and removes the literals; returns them in argument order.

    Args:
        function: changed in place.
        position: of the first one; they come after all other arguments if it is not given.
    """
    block = function.body.block
    position = len(block.args) if position is None else position
    added = list[tuple[TensorSource, SSAValue]]()
    for op in list(function.walk()):
        if not isinstance(op, ValueTensorLiteralOp) or not isinstance(op.value, WeightAttr):
            continue
        source, old = op.value.source.data, op.results[0]
        argument = block.insert_arg(old.type, position + len(added))
        old.replace_all_uses_with(argument)
        op.detach()
        op.erase()
        added.append((source, argument))
    results = list(function.function_type.outputs)
    function.properties["function_type"] = FunctionType.from_lists(
        [arg.type for arg in block.args], results
    )
    return added


@dataclass(frozen=True)
class WeightsAsArgumentsPass(ModulePass):
    """See the module's docstring."""

    name = "torch-weights-as-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                weights_as_arguments(function)
