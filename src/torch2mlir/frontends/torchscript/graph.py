"""Graphs of TorchScript's JIT, node by node, as operations of the torch dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FlatSymbolRefAttr,
    FunctionType,
    LocationAttr,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.func_ext import CallIndirectOp, ConstantOp
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core, object_graph
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.core import PrimIfYieldOp
from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends.torchscript import locations
from torch2mlir.frontends.torchscript.types import TypeImporter
from torch2mlir.frontends.torchscript.values import ValueImporter


@dataclass(frozen=True)
class Callee:
    """A function of the module: its symbol and its type, the object of a method being the first argument."""

    symbol: str
    type: FunctionType


class Callees(Protocol):
    """Where graphs find what they call."""

    def function(self, name: str) -> Callee:
        """The function of a qualified name."""

    def method(self, class_type: Any, name: str) -> Callee:
        """The method of a TorchScript class."""


class GraphImporter:
    """Appends the nodes of a graph to a block.

    Args:
        block: where they go; it has the graph's inputs as arguments.
        types: makes the types.
        callees: resolves calls; a graph without calls needs none.
    """

    def __init__(self, block: Block, types: TypeImporter, callees: Callees | None = None) -> None:
        self._block = block
        self._types = types
        self._callees = callees
        self._location: LocationAttr = UNKNOWN_LOC
        self._constants = ValueImporter(self._insert)
        self.values: dict[int, SSAValue] = {}
        """Values by the numbers the graph knows them by."""

    def bind(self, values: Sequence[Any], operands: Sequence[SSAValue]) -> None:
        """Says what values of the graph are."""
        for value, operand in zip(values, operands, strict=True):
            self.values[value.unique()] = operand

    def run(self, graph: Any) -> list[SSAValue]:
        """Imports the nodes of a graph or of a block of one; what it returns."""
        for node in graph.nodes():
            self._location = locations.of_node(node)
            try:
                self._import(node)
            except Torch2MLIRError as error:
                error.op = error.op or node.kind()
                error.location = error.location or describe(self._location)
                raise
        return [self.values[output.unique()] for output in graph.outputs()]

    def _insert(self, op: Operation) -> None:
        op.location = self._location
        self._block.add_op(op)

    def _operands(self, node: Any) -> list[SSAValue]:
        return [self.values[value.unique()] for value in node.inputs()]

    def _result_types(self, node: Any) -> list[Attribute]:
        return [self._types.of_computed(output.type()) for output in node.outputs()]

    def _finish(self, node: Any, op: Operation) -> None:
        self._insert(op)
        self.bind(list(node.outputs()), op.results)

    def adjusted(self, value: SSAValue, type: Attribute) -> SSAValue:
        """The value where another type is expected: it is refined less, or says less of a tensor."""
        if value.type == type:
            return value
        both_tensors = isinstance(value.type, t.AnyTensorType) and isinstance(type, t.AnyTensorType)
        cast = core.TensorStaticInfoCastOp if both_tensors else core.DerefineOp
        op = cast.create(operands=[value], result_types=[type])
        self._insert(op)
        return op.results[0]

    def adjusted_all(
        self, values: Sequence[SSAValue], types: Sequence[Attribute]
    ) -> list[SSAValue]:
        """Each value where another type is expected."""
        return [self.adjusted(*pair) for pair in zip(values, types, strict=True)]

    # nodes

    def _import(self, node: Any) -> None:
        kind = node.kind()
        if kind in _OF_OBJECTS and _is_of_gradients(node):
            return
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, node)
            return
        schema = node.schema()
        name = kind if schema == "(no schema)" else schema.partition("(")[0]
        if name.startswith("prim::Python"):
            raise CaptureError(
                "a call of a Python function from TorchScript cannot be imported",
                hint="script the function too (torch.jit.script), without torch.jit.ignore",
            )
        if name in _READS_MEMORY and not _is_fresh_memory(node.inputsAt(0).node()):
            raise CaptureError(
                "TorchScript does not say how the tensor lies in memory that is read by strides",
                hint="read a copy, x.clone(memory_format=torch.contiguous_format), or compile the Python module: "
                "torch.export knows",
            )
        self._finish(
            node, core.build(OpName.of(name), self._operands(node), self._result_types(node))
        )

    def _constant(self, node: Any) -> None:
        output = node.output()
        type = output.type()
        if type.kind() == "FunctionType":
            if not node.hasUses():  # what inlining leaves
                return
            callee = self._callee(lambda callees: callees.function(type.annotation_str))
            reference = FlatSymbolRefAttr(callee.symbol)
            op = ConstantOp.create(properties={"value": reference}, result_types=[callee.type])
            self._finish(node, op)
            return
        value = output.toIValue()
        if value is None and type.kind() not in ("NoneType", "OptionalType", "AnyType"):
            raise CaptureError(f"a constant of type {type.annotation_str} cannot be imported")
        self.values[output.unique()] = self._constants.of(value, self._types.of(type))

    def _callee(self, find: Callable[[Callees], Callee]) -> Callee:
        if self._callees is None:
            raise CaptureError(
                "the graph calls a function or method, of which only the name is known",
                hint="import the module or function it belongs to, or inline it first",
            )
        return find(self._callees)

    def _call_function(self, node: Any) -> None:
        function, *arguments = self._operands(node)
        type = function.type
        assert isinstance(type, FunctionType)
        operands = self.adjusted_all(arguments, type.inputs.data)
        op = CallIndirectOp.create(operands=[function, *operands], result_types=type.outputs.data)
        self._finish(node, op)

    def _call_method(self, node: Any) -> None:
        receiver, *arguments = self._operands(node)
        class_type, name = node.inputsAt(0).type(), node.s("name")
        callee = self._callee(lambda callees: callees.method(class_type, name))
        op = object_graph.CallMethodOp.create(
            operands=[receiver, *self.adjusted_all(arguments, callee.type.inputs.data[1:])],
            properties={"name": StringAttr(name)},
            result_types=callee.type.outputs.data,
        )
        self._finish(node, op)

    def _get_attribute(self, node: Any) -> None:
        op = object_graph.GetAttrOp.create(
            operands=self._operands(node),
            properties={"name": StringAttr(node.s("name"))},
            result_types=self._result_types(node),
        )
        self._finish(node, op)

    def _set_attribute(self, node: Any) -> None:
        op = object_graph.SetAttrOp.create(
            operands=self._operands(node), properties={"name": StringAttr(node.s("name"))}
        )
        self._finish(node, op)

    def _if(self, node: Any) -> None:
        types = self._result_types(node)
        regions = [Region(self._branch(block, types)) for block in node.blocks()]
        op = core.PrimIfOp.create(
            operands=self._operands(node), result_types=types, regions=regions
        )
        self._finish(node, op)

    def _branch(self, block: Any, types: Sequence[Attribute]) -> Block:
        inner = self._nested(Block())
        results = inner.adjusted_all(inner.run(block), types)
        inner._insert(PrimIfYieldOp.create(operands=results))
        return inner._block

    def _loop(self, node: Any) -> None:
        types = self._result_types(node)
        trip_count, condition, *initial = self._operands(node)
        (body,) = node.blocks()
        inner = self._nested(Block(arg_types=[t.int_type, *types]))
        inner.bind(list(body.inputs()), inner._block.args)
        again, *carried = inner.run(body)
        results = [again, *inner.adjusted_all(carried, types)]
        inner._insert(core.PrimLoopConditionOp.create(operands=results))
        op = core.PrimLoopOp.create(
            operands=[trip_count, condition, *self.adjusted_all(initial, types)],
            result_types=types,
            regions=[Region(inner._block)],
        )
        self._finish(node, op)

    def _nested(self, block: Block) -> GraphImporter:
        """An importer into a region's block, which sees the values outside of it."""
        inner = GraphImporter(block, self._types, self._callees)
        inner._location = self._location
        inner.values = dict(self.values)
        return inner

    def _tuple(self, node: Any) -> None:
        (type,) = self._result_types(node)
        operands = self._operands(node)
        if isinstance(type, t.TupleType):
            operands = self.adjusted_all(operands, type.contained.data)
        op = core.PrimTupleConstructOp.create(operands=operands, result_types=[type])
        self._finish(node, op)

    def _dict(self, node: Any) -> None:
        operands = self._operands(node)
        op = core.PrimDictConstructOp.create(
            operands=[*operands[::2], *operands[1::2]], result_types=self._result_types(node)
        )
        self._finish(node, op)

    def _plain(self, op_class: type[Operation], node: Any) -> None:
        """An op that is the node, operand by operand."""
        op = op_class.create(operands=self._operands(node), result_types=self._result_types(node))
        self._finish(node, op)


_OF_OBJECTS = frozenset(
    f"prim::{kind}" for kind in ("CreateObject", "CallMethod", "SetAttr", "Enter", "Exit")
)
_OF_GRADIENTS = frozenset(
    f"__torch__.torch.autograd.grad_mode.{name}" for name in ("no_grad", "enable_grad")
)


def _is_of_gradients(node: Any) -> bool:
    """Whether a node makes, enters or leaves a mode of autograd, which changes no value."""
    values = [*node.inputs(), *node.outputs()]
    return any(value.type().annotation_str in _OF_GRADIENTS for value in values)


_HANDLERS: dict[str, Callable[[GraphImporter, Any], None]] = {
    "prim::Constant": GraphImporter._constant,
    "prim::CallFunction": GraphImporter._call_function,
    "prim::CallMethod": GraphImporter._call_method,
    "prim::GetAttr": GraphImporter._get_attribute,
    "prim::SetAttr": GraphImporter._set_attribute,
    "prim::If": GraphImporter._if,
    "prim::Loop": GraphImporter._loop,
    "prim::TupleConstruct": GraphImporter._tuple,
    "prim::DictConstruct": GraphImporter._dict,
    "prim::ListConstruct": lambda self, node: self._plain(core.PrimListConstructOp, node),
    "prim::ListUnpack": lambda self, node: self._plain(core.PrimListUnpackOp, node),
    "prim::Print": lambda self, node: self._plain(object_graph.PrintOp, node),
    "prim::tolist": lambda self, node: self._plain(object_graph.ToListOp, node),
    "prim::CreateObject": lambda self, node: self._plain(object_graph.CreateObjectOp, node),
}
"""Nodes that are not simply an operator of PyTorch's registry."""


def function_type(
    graph: Any, types: TypeImporter, returns: Sequence[Any] | None = None
) -> FunctionType:
    """The type of a function with this graph.

    Args:
        graph: the graph.
        types: makes the types.
        returns: the types the function declares to return, if they are not those of what the graph returns.
    """
    outputs = [value.type() for value in graph.outputs()] if returns is None else returns
    return FunctionType.from_lists(
        [types.of(value.type()) for value in graph.inputs()],
        [types.of_computed(type) for type in outputs],
    )


def import_graph(
    graph: Any,
    name: str,
    types: TypeImporter | None = None,
    callees: Callees | None = None,
    type: FunctionType | None = None,
) -> FuncOp:
    """A graph as a function.

    Args:
        graph: a ``torch._C.Graph``.
        name: of the function.
        types: makes the types.
        callees: resolves calls of functions and methods.
        type: of the function; by default what the graph takes and returns.

    Raises:
        CaptureError: something in the graph has no torch-dialect form.
    """
    types = types or TypeImporter()
    type = type or function_type(graph, types)
    block = Block(arg_types=type.inputs.data)
    importer = GraphImporter(block, types, callees)
    inputs = list(graph.inputs())
    for value, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = _hint(value.debugName())
    importer.bind(inputs, block.args)
    results = importer.adjusted_all(importer.run(graph), type.outputs.data)
    block.add_op(ReturnOp.create(operands=results))
    return FuncOp(name, type, Region(block))


_READS_MEMORY = {
    f"aten::{name}"
    for name in ("as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter")
}
_CONSTRUCTORS = {f"aten::{name}" for name in ("arange", "empty", "full", "ones", "rand", "zeros")}


def _is_fresh_memory(node: Any) -> bool:
    """Whether a node gives a tensor whose memory starts with it and holds it in row-major order."""
    if node.kind() != "aten::clone":
        return node.kind() in _CONSTRUCTORS
    contiguous = 0  # c10::MemoryFormat::Contiguous
    return bool(node.inputsAt(1).toIValue() == contiguous)


def _hint(name: str) -> str | None:
    name = name.partition(".")[0]
    return name if name.isidentifier() else None
