"""``onnx-widen-for-onnxruntime``: ops in the element types that ONNX Runtime's kernels for the CPU have.

ONNX says for which types an operator is defined, ONNX Runtime has kernels for some of them. Where it has none, operands
are cast to a wider type of the same kind before the op and its results back after it: small integers keep what wraps
around, half floats are rounded after every op, as PyTorch's are. The kernels are those that the installed package lists
itself. A type that nothing wider holds exactly is left; ONNX Runtime then refuses the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    f32,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from torch2mlir.dialects.onnx import OnnxOp, op_class
from torch2mlir.dialects.onnx.model import element_type, operator_set
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.errors import PassError

Kernel = Mapping[str, frozenset[str]]
"""Type variable -> the types that a kernel takes for it."""
_FREE = {"onnx.Constant", "onnx.Cast", "onnx.If", "onnx.Loop"}
"""Ops of any type, which stay."""


def wider(type: Attribute) -> list[Attribute]:
    """The types that hold all elements of one exactly, so that arithmetic in them wraps and rounds as in itself."""
    if isinstance(type, Float16Type | BFloat16Type):
        return [f32]
    if not isinstance(type, IntegerType) or type.width.data == 64:
        return []
    unsigned = type.signedness.data == Signedness.UNSIGNED
    if type.width.data == 1:
        return [IntegerType(8, Signedness.UNSIGNED), i32, i64]
    narrow = type.width.data + unsigned <= 32
    return [i32, i64] if narrow and type != i32 else [i64]


@cache
def _spelled(type: Attribute) -> str:
    """ONNX's spelling of a tensor type."""
    from onnx import TensorProto

    name = TensorProto.DataType.Name(element_type(type)).lower()
    return f"tensor({name})"


@cache
def _kernels() -> Mapping[str, list[tuple[int, int, Kernel]]]:
    """Operator -> the kernels for the CPU, with the first and last version of the operator each is for.

    Raises:
        PassError: ONNX Runtime is not installed.
    """
    try:
        from onnxruntime.capi import _pybind_state
    except ModuleNotFoundError as error:
        raise PassError(
            f"the kernels of ONNX Runtime are asked for, and it is not installed: no module named {error.name!r}",
            op=WidenForOnnxRuntimePass.name,
            hint="pip install 'torch2mlir[ort]'",
        ) from error
    found = dict[str, list[tuple[int, int, Kernel]]]()
    for kernel in _pybind_state.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider" and kernel.domain == "":
            first, last = kernel.version_range
            types = {name: frozenset(ts) for name, ts in kernel.type_constraints.items()}
            found.setdefault(kernel.op_name, []).append((first, last, types))
    return found


@cache
def _variables(name: str, opset: int) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """The version of an operator in an operator set, and the type variables of its inputs and outputs."""
    import onnx

    schema = onnx.defs.get_schema(name, opset)
    sides = [
        tuple(parameter.type_str for parameter in parameters)
        for parameters in (schema.inputs, schema.outputs)
    ]
    return schema.since_version, sides[0], sides[1]


def _typed(variables: tuple[str, ...], values: Any) -> Iterator[tuple[int, str, SSAValue]]:
    """The values that have a type variable, with their position; the last one repeats."""
    for position, value in enumerate(values):
        variable = variables[min(position, len(variables) - 1)]
        if "(" not in variable and isinstance(value.type, TensorType):
            yield position, variable, value


@dataclass(frozen=True)
class WidenForOnnxRuntimePass(ModulePass):
    """See the module's docstring."""

    name = "onnx-widen-for-onnxruntime"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                opset = operator_set(function)
                for nested in list(function.walk()):
                    if isinstance(nested, OnnxOp) and nested.name not in _FREE:
                        _widen(nested, opset)


def _widen(op: OnnxOp, opset: int) -> None:
    version, inputs, outputs = _variables(op.row.name, opset)
    bound = dict[str, Attribute]()
    for variables, values in ((inputs, op.operands), (outputs, op.results)):
        for _, variable, value in _typed(variables, values):
            bound.setdefault(variable, element_of(value))
    wanted = _runnable(op.row.name, version, bound)
    changed = {v: type for v, type in wanted.items() if type != bound[v]}
    if changed:
        _cast_around(op, inputs, outputs, changed)


def _runnable(name: str, version: int, bound: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """The narrowest types that a kernel takes; the given ones where none does."""
    kernels = [k for first, last, k in _kernels().get(name, []) if first <= version <= last]
    if not kernels:  # an operator that is a function of others
        halves = (Float16Type, BFloat16Type)
        return {v: f32 if isinstance(type, halves) else type for v, type in bound.items()}
    for types in product(*([type, *wider(type)] for type in bound.values())):
        chosen = dict(zip(bound, types, strict=True))
        if any(_takes(kernel, chosen) for kernel in kernels):
            return chosen
    return bound


def _takes(kernel: Kernel, types: Mapping[str, Attribute]) -> bool:
    return all(
        _spelled(type) in kernel[variable] for variable, type in types.items() if variable in kernel
    )


def _cast(value: SSAValue, element: Attribute, near: Operation) -> OnnxOp:
    shape = shape_of(value)
    return op_class("Cast").create(
        operands=[value],
        result_types=[TensorType(element, shape)],
        properties={"to": element},
        location=near.location,
    )


def _cast_around(
    op: OnnxOp,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    changed: Mapping[str, Attribute],
) -> None:
    before, operands = list[OnnxOp](), list(op.operands)
    for position, variable, value in _typed(inputs, op.operands):
        if variable in changed:
            before.append(_cast(value, changed[variable], op))
            operands[position] = before[-1].results[0]
    types = [result.type for result in op.results]
    narrowed = dict[int, Attribute]()
    for position, variable, value in _typed(outputs, op.results):
        if variable in changed:
            narrowed[position] = element_of(value)
            types[position] = TensorType(changed[variable], shape_of(value))
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
    )
    after = {p: _cast(new.results[p], element, op) for p, element in narrowed.items()}
    results = [
        after[p].results[0] if p in after else result for p, result in enumerate(new.results)
    ]
    Rewriter.replace_op(op, [*before, new, *after.values()], results)
