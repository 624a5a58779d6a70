"""``onnx-nans-kept``: a NaN that a program makes of numbers is still there behind what OpenVINO would lose it in.

Its plugin, of version 2026.4, clamps NaN to a bound, takes ``NaN > 0`` for true (with AVX-512), and makes zeros of the
line of a softmax that has one: ``relu(log(-1))`` is 0. What may be NaN is looked for from operators that give it for
some numbers: logarithms and roots of what may be negative, quotients of what may be 0, powers. Overflows are left
aside: any sum may be infinite, and the difference of two such ones NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType, i1
from xdsl.ir import Block, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.conversion.torch_to_onnx.bounds import is_nonnegative, is_positive, numbers_of
from torch2mlir.dialects.onnx import op_class
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.engine_passes.onnx_nodes import Nodes

_MAKERS = {
    f"onnx.{name}"
    for name in ("Acos", "Acosh", "Asin", "Atanh", "Constant", "Div", "Log", "Pow", "Sqrt")
}
"""Operators that give NaN for some numbers; constants have it or not."""
_UNARY = {f"onnx.{name}" for name in ("Clip", "Exp", "HardSigmoid", "Relu", "Sign")}
_EXTREMA = {"onnx.Max", "onnx.Min"}
_COMPARISONS = {f"onnx.{name}" for name in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")}
_LINES = {"onnx.Softmax", "onnx.LogSoftmax"}


class OnnxNansKeptPass(PassForOps):
    """See the module's docstring."""

    name = "onnx-nans-kept"
    looks_for = frozenset(_MAKERS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        undefined = _undefined(op)
        if not undefined:
            return
        for each in list(op.walk()):
            keep = _KEEPERS.get(each.name)
            operands = [x for x in dict.fromkeys(each.operands) if x in undefined]
            if keep is not None and operands:
                before, result = Nodes(each), each.results[0]
                kept = keep(before, operands)
                if result in undefined:
                    undefined.add(kept)
                before.replace(kept)


def _undefined(module: ModuleOp) -> set[SSAValue]:
    """The values that may have a NaN of the program's own making, infinities left aside."""
    found = set[SSAValue]()
    ops, known = list(module.walk()), -1
    while len(found) > known:  # a loop carries some to what stands before
        known = len(found)
        for op in ops:
            inside = [x for region in op.regions for block in region.blocks for x in _of(block)]
            if _makes_nan(op) or any(x in found for x in (*op.operands, *inside)):
                found.update(filter(_is_float, op.results))
            if any(x in found for x in (*op.operands, *inside)):
                arguments = (x for region in op.regions for x in region.blocks[0].args)
                found.update(filter(_is_float, arguments))
    return found


def _of(block: Block) -> Iterable[SSAValue]:
    last = block.last_op
    return last.operands if last is not None else ()


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, AnyFloat)


def _makes_nan(op: Operation) -> bool:
    """Whether an operator may give NaN for finite numbers."""
    if op.name not in _MAKERS or not _is_float(op.results[0]):
        return False
    match op.name.removeprefix("onnx."), list(op.operands):
        case "Constant", _:
            has_nan = any(map(math.isnan, numbers_of(op.results[0]) or ()))
            return has_nan and not _stands_for_nans(op.results[0])
        case (("Log" | "Sqrt"), [x]):
            return not is_nonnegative(x)
        case "Div", [x, y]:
            return not is_positive(y) and not is_positive(x)
        case "Pow", [x, y]:
            return not _are_whole(y) and not is_nonnegative(x)
    return True


def _stands_for_nans(nan: SSAValue) -> bool:
    """Whether a NaN is chosen only where an operand has one, as the largest of a line is."""
    users = [use.operation for use in nan.uses]
    return all(user.name == "onnx.Where" and _is_about_nans(user.operands[0]) for user in users)


def _is_about_nans(condition: SSAValue) -> bool:
    op = condition.owner
    while isinstance(op, Operation) and op.name in ("onnx.Cast", "onnx.ReduceMax", "onnx.Reshape"):
        op = op.operands[0].owner
    return isinstance(op, Operation) and op.name == "onnx.IsNaN"


def _are_whole(value: SSAValue) -> bool:
    numbers = numbers_of(value)
    return numbers is not None and all(number.is_integer() for number in numbers)


def _is_nan(before: Nodes, x: SSAValue) -> SSAValue:
    return before.node("IsNaN", [x], x, i1)


def _keep_elements(before: Nodes, operands: list[SSAValue]) -> SSAValue:
    result = before.op.results[0]
    found: SSAValue = before.insert(before.op.clone()).results[0]
    for x in operands:
        found = before.node("Where", [_is_nan(before, x), x, found], result, element_of(result))
    return found


def _keep_lines(before: Nodes, operands: list[SSAValue]) -> SSAValue:
    (x,), result = operands, before.op.results[0]
    dtype, shape = element_of(result), list(shape_of(x))
    axis = before.op.properties["axis"].value.data  # type: ignore[attr-defined]
    shape[axis] = 1
    nans = before.node("Where", [_is_nan(before, x), x, before.number(0.0, dtype)], x, dtype)
    type, axes = TensorType(dtype, shape), before.integers([axis % len(shape)])
    of_line = before.value(op_class("ReduceSum"), [nans, axes], type)
    found = before.insert(before.op.clone()).results[0]
    return before.node("Where", [_is_nan(before, of_line), of_line, found], result, dtype)


def _deny(before: Nodes, operands: list[SSAValue]) -> SSAValue:
    result = before.op.results[0]
    found: SSAValue = before.insert(before.op.clone()).results[0]
    for x in operands:
        number = before.node("Not", [_is_nan(before, x)], x, i1)
        found = before.node("And", [found, number], result, i1)
    return found


_KEEPERS: dict[str, Callable[[Nodes, list[SSAValue]], SSAValue]] = {
    **dict.fromkeys(_UNARY | _EXTREMA, _keep_elements),
    **dict.fromkeys(_LINES, _keep_lines),
    **dict.fromkeys(_COMPARISONS, _deny),
}
"""Operator -> what it is replaced by where these operands may be NaN: the NaN, or what PyTorch says of it."""
