"""FX graphs, node by node, as operations of the torch dialect."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from itertools import chain, count
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.dialects.torch.schema import find_schema
from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx import (
    control_flow,
    data_sizes,
    layout,
    locations,
    mutation,
    python_numbers,
    symbols,
)
from torch2mlir.frontends.fx.constants import ConstantPool, list_type
from torch2mlir.frontends.fx.data_checks import check_elements
from torch2mlir.frontends.fx.mutation import is_pure, needs_functionalization
from torch2mlir.frontends.fx.refused_writes import user_write
from torch2mlir.frontends.weights import constant_literal, identity, tensor_literal

Value = SSAValue | Sequence[SSAValue]
SizeOf = Callable[[int | torch.SymInt], KnownSize]

_SIZE_OPS = {
    "aten::sym_size.int": "torch.aten.size.int",
    "aten::sym_stride.int": "torch.aten.stride.int",
    "aten::sym_numel": "torch.aten.numel",
    "aten::sym_storage_offset": "torch.aten.storage_offset",
}

_PLACE = torch.ops.aten.sym_storage_offset.default

_CHECKS_OF_CAPTURE = {
    "aten::_assert_tensor_metadata",
    "aten::_linalg_check_errors",
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
}
"""Ops that check at run time what the capture already assumed; types carry the facts."""

_ASSERTS = {"aten::_assert_async.msg", "aten::_functional_assert_async.msg"}
"""Checks of what a tensor of one boolean says, with a message."""

_ASSERTED = re.compile(r"Runtime assertion failed for expression (.+) on node '.*'")


def _in_words(message: str) -> str:
    """What does not hold; PyTorch's own assertions name a node of the graph."""
    own = _ASSERTED.fullmatch(message)
    if own is None:
        return message
    return f"a number read from a tensor is not as the program needs it: {own[1]} does not hold"


class GraphImporter:
    """Appends the nodes of FX graphs to a block.

    Args:
        insert: called with every new op, in order.
        attributes: what ``get_attr`` nodes refer to, by name; tensors become literals.
        size_of: how an entry of a fake tensor's shape becomes a dimension.
        location: given to every op; without it each node's own source line is.
        constants: where scalars come from; a pool of its own if not given.
    """

    def __init__(
        self,
        insert: Callable[[Operation], None],
        attributes: Callable[[str], Any],
        size_of: SizeOf = symbols.size_of,
        location: LocationAttr | None = None,
        constants: ConstantPool | None = None,
    ) -> None:
        self._append = insert
        self._attributes = attributes
        self._size_of = size_of
        self._location = location
        self._fixed_location = location is not None
        self._is_of_op = constants is not None
        """Whether the graph is what an op is made of, whose elements have been looked at."""
        self.constants = constants or ConstantPool(self.insert)
        self._lists: dict[tuple[SSAValue, ...], SSAValue] = {}
        self.values: dict[Node, Value] = {}
        self._unpacked: dict[SSAValue, Sequence[SSAValue]] = {}
        self._bodies: dict[Node, GraphModule] = {}
        self._literals: dict[Hashable, SSAValue] = {}
        self._owners: dict[str, Hashable] = {}
        """Name of a literal -> whose it is: bodies of branches and loops call their constants alike."""
        self._same: dict[Node, list[Node]] = {}
        self._about_memory: set[Node] = set()
        self.reads_memory = False
        """Whether something is read by strides: how inputs lie in memory matters then."""
        self.read_from_offset: set[str] = set()
        """Placeholders that are read from a place counted from the start of their storage."""
        self.symbols: Mapping[str, SSAValue] = {}
        """Sizes by their names, for what is made by size."""

    def insert(self, op: Operation) -> None:
        """Gives the op the current source line and appends it."""
        if self._location is not None:
            op.location = self._location
        self._append(op)

    def run(self, nodes: Sequence[Node]) -> tuple[Any, ...]:
        """Imports nodes up to the output; returns what the output node returns, nodes replaced by values."""
        for node in nodes:
            if node.op == "output":
                returned = node.args[0]
                return returned if isinstance(returned, tuple) else (returned,)
            if not self._fixed_location:
                self._location = locations.of_node(node.meta)
            try:
                self._import(node)
            except Torch2MLIRError as error:
                error.op = error.op or f"{node.target}"
                error.location = error.location or describe(self._location)
                raise
        return ()

    # nodes

    def _import(self, node: Node) -> None:
        if node.target is _PLACE or not self._about_memory.isdisjoint(node.all_input_nodes):
            self._about_memory.add(
                node
            )  # where a tensor lies, or a check of that: values lie nowhere
        elif node.op == "placeholder":
            if node.users and node not in self.values:
                raise CaptureError(f"the graph input '{node.name}' has no value")
        elif node.op == "get_attr":
            if node not in self.values:
                self._import_attribute(node)
        elif node.op != "call_function":
            raise CaptureError(
                f"cannot import a '{node.op}' node",
                hint="capture with torch.export, or trace with make_fx so that only ATen calls remain",
            )
        elif node.target is operator.getitem:
            self.values[node] = self._item(node)
        elif isinstance(node.target, torch._ops.OpOverload):
            self._import_overload(node, node.target)
        elif isinstance(node.target, type) and issubclass(node.target, tuple):
            self.values[node] = [self.operand(item) for item in pytree.tree_leaves(node.args)]
        elif isinstance(node.target, torch._ops.HigherOrderOperator):
            self._import_higher_order(node, node.target)
        else:
            self.values[node] = python_numbers.number(self, node)

    def _import_attribute(self, node: Node) -> None:
        target = self._attributes(str(node.target))
        if isinstance(target, torch.Tensor):
            self.values[node] = self.literal(target, str(node.target))
        elif isinstance(target, GraphModule):
            self._bodies[node] = target
        else:
            raise CaptureError(
                f"the attribute '{node.target}' is a {type(target).__name__}, not a tensor"
            )

    def literal(self, tensor: torch.Tensor, name: str) -> SSAValue:
        """The value of a tensor that lives outside the program; tied weights share one literal."""
        key = identity(tensor)
        known = self._literals.get(key)
        if known is None:
            names = chain([name], (f"{name}_{number}" for number in count(1)))
            free = next(each for each in names if self._owners.setdefault(each, key) == key)
            op = tensor_literal(tensor, free)
            self.insert(op)
            known = self._literals[key] = op.results[0]
        return known

    def constant(self, tensor: torch.Tensor) -> SSAValue:
        """The value of a tensor constant of the code."""
        op = constant_literal(tensor)
        self.insert(op)
        return op.results[0]

    def _item(self, node: Node) -> Value:
        source, index = node.args
        value = self.values[source]  # type: ignore[index]
        if not isinstance(value, SSAValue):
            return value[index]  # type: ignore[index]
        if value not in self._unpacked:
            fakes = source.meta["val"]  # type: ignore[union-attr]
            unpack = core.PrimListUnpackOp.create(
                operands=[value], result_types=[self.type_of(fake) for fake in fakes]
            )
            self.insert(unpack)
            self._unpacked[value] = unpack.results
        return self._unpacked[value][index]  # type: ignore[index]

    def _import_overload(self, node: Node, target: torch._ops.OpOverload) -> None:
        name = target._schema.name
        overload = target._schema.overload_name
        full_name = f"{name}.{overload}" if overload else name
        if full_name in _CHECKS_OF_CAPTURE:
            return
        if full_name == "aten::_assert_scalar":
            condition, message = node.args
            if isinstance(condition, Node):
                self.runtime_assert(self.operand(condition), _in_words(str(message)))
            return
        if full_name in _ASSERTS:
            holds = core.build(
                "torch.aten.Bool.Tensor", [self.operand(node.args[0])], [t.bool_type]
            )
            self.insert(holds)
            self.runtime_assert(holds.results[0], _in_words(str(node.args[1])))
            return
        sized_by_data = data_sizes.IMPORTS.get(target)
        if sized_by_data is not None and (known := sized_by_data(self, node)) is not None:
            self.values[node] = known
            return
        if full_name in _SIZE_OPS:
            operands = [self.operand(a) for a in node.args]
            op = core.build(_SIZE_OPS[full_name], operands, [t.int_type])
        else:
            op_name: str = OpName.of(full_name)
            written = None if is_pure(target) else mutation.written_argument(target, node)
            form = None if written is None else mutation.functional_form(op_name)
            op_name = op_name if form is None else form.name
            if target in layout.READS or target in layout.WRITES:
                operands = layout.strided_operands(self, node)
            else:
                op_name, arguments = self._arguments(op_name, target, node)
                if form is not None:
                    arguments = [arguments[place] for place in form.operands]
                operands = [self.argument(value, kind) for value, kind in arguments]
            op = core.build(op_name, operands, self._result_types(node, target._schema))
            if written is not None:
                self._rebind(node, written, op.results[0])
        self.insert(op)
        self.values[node] = op.results[0] if len(op.results) == 1 else op.results
        if not self._is_of_op:
            check_elements(self, node, op.results[0])
        if target in layout.WRITES:
            self.values[node] = layout.in_own_order(self, node, op.results[0])

    def _rebind(self, node: Node, written: Node, value: SSAValue) -> None:
        """After an in-place op, everything that is the written tensor is the new value."""
        group = self._same.setdefault(written, [written])
        group.append(node)
        self._same[node] = group
        for member in group:
            self.values[member] = value

    def _arguments(
        self, op_name: str, target: torch._ops.OpOverload, node: Node
    ) -> tuple[str, list[tuple[Any, str]]]:
        """The call's arguments in schema order, defaults filled in, each with its schema type.

        A Python number where a tensor is expected selects the ``Scalar`` overload, as in Torch-MLIR; without one it
        is a tensor of the dtype that it leads to.
        """
        values = list[tuple[Any, str]]()
        for index, (name, kind, kwarg_only, default) in enumerate(_signature(target)):
            if index < len(node.args) and not kwarg_only:
                value: Any = node.args[index]
            else:
                value = node.kwargs.get(name, default)
            values.append((value, kind))
        if any(python_numbers.is_beyond(value) for value, _ in values):
            values = python_numbers.unsigned(values, node)
        tensors = [isinstance(value, Node) and self._is_tensor(value) for value, _ in values]
        if all(
            tensor or kind != "Tensor" for tensor, (_, kind) in zip(tensors, values, strict=True)
        ):
            return op_name, values
        if op_name.endswith(".Tensor_mode"):
            scalar_name = op_name.removesuffix("Tensor_mode") + "Scalar_mode"
        else:
            scalar_name = op_name.removesuffix(".Tensor") + ".Scalar"
        scalar = find_schema(scalar_name)
        # the number is the second operand there: ``1 - x`` has none
        if scalar is not None and tensors == [a.is_tensor for a in scalar.arguments]:
            kinds = [a.type for a in scalar.arguments]
            return scalar_name, [(v, k) for (v, _), k in zip(values, kinds, strict=True)]
        return op_name, python_numbers.as_tensors(values)

    def _is_tensor(self, node: Node) -> bool:
        value = self.values.get(node)
        return isinstance(value, SSAValue) and isinstance(value.type, t.AnyTensorType)

    def argument(self, value: Any, kind: str) -> SSAValue:
        """The operand for a Python argument where the schema wants ``kind``."""
        if kind.startswith("Tensor") and isinstance(value, int | float | complex):
            return self.constant(torch.tensor(value))
        if kind in ("float", "float?") and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if kind.rstrip("?").endswith("]") and isinstance(value, int | float):
            value = [value]
        return self.operand(value, kind)

    def operand(self, value: Any, kind: str = "") -> SSAValue:
        """The SSA value of a node, a list of nodes and constants, or a constant."""
        if isinstance(value, Node):
            known = self.values.get(value)
            if known is None:
                raise CaptureError(f"the value '{value.name}' cannot be used here")
            if not isinstance(known, SSAValue):
                return self.list_of(known, None)
            return known
        if isinstance(value, list | tuple):
            element = kind.split("[")[0].rstrip("?")
            items = [self.argument(item, element) for item in value]
            return self.list_of(items, _EMPTY_LIST_ELEMENT.get(element))
        if isinstance(value, torch.Tensor):
            return self.constant(value)
        return self.constants.scalar(value)

    def list_of(self, values: Sequence[SSAValue], empty: Attribute | None = None) -> SSAValue:
        """The list of these values; ``empty`` is the element type of a list of none."""
        key = tuple(values)
        known = self._lists.get(key) if key else None
        if known is None:
            op = core.PrimListConstructOp.create(
                operands=values, result_types=[list_type(values, empty)]
            )
            self.insert(op)
            known = self._lists[key] = op.results[0]
        return known

    def size_of(self, size: int | torch.SymInt) -> KnownSize:
        """The dimension that an integer of capture is."""
        return self._size_of(size)

    def runtime_assert(self, condition: SSAValue, message: str) -> None:
        """Checks a boolean when the program runs."""
        properties = {"message": StringAttr(message)}
        self.insert(core.RuntimeAssertOp.create(operands=[condition], properties=properties))

    # types

    def _result_types(self, node: Node, schema: torch.FunctionSchema) -> list[Attribute]:
        value = node.meta.get("val")
        values = [value] if len(schema.returns) == 1 else value or ()
        return [
            t.ListType(t.vtensor(None, None))
            if str(returned.type) == "List[Tensor]"
            else self.type_of(item)
            for returned, item in zip(schema.returns, values, strict=True)
        ]

    def type_of(self, value: Any) -> Attribute:
        """The dialect type of what a node produces on fake tensors.

        Raises:
            CaptureError: not a dense tensor or a Python scalar.
        """
        match value:
            case torch.Tensor():
                if value.layout is not torch.strided:
                    raise CaptureError(
                        f"tensors of layout {value.layout} are not supported",
                        hint="call .to_dense() first",
                    )
                sizes = tuple(map(self._size_of, value.shape))
                return t.vtensor(sizes, dtypes.element_type(value.dtype))
            case bool() | torch.SymBool():
                return t.bool_type
            case int() | torch.SymInt():
                return t.int_type
            case float() | torch.SymFloat():
                return t.float_type
            case None:
                return t.none_type
            case str():
                return t.str_type
        raise CaptureError(
            f"cannot give a dialect type to a {type(value).__name__}",
            hint="make it no argument: functools.partial of the function, or an attribute of the model",
        )

    # higher-order ops

    def _import_higher_order(self, node: Node, target: torch._ops.HigherOrderOperator) -> None:
        name = target.name()
        if name in control_flow.HIGHER_ORDER:
            self.values[node] = control_flow.HIGHER_ORDER[name](self, node)
            return
        if name.startswith("auto_functionalized"):
            raise user_write(node.args[0])
        raise CaptureError(
            f"the higher-order operator '{name}' cannot be imported yet",
            hint="rewrite it as ordinary tensor code, or keep that part outside the compiled model",
        )

    def body(self, node: Any) -> GraphModule:
        """The graph a ``get_attr`` node stands for."""
        return self._bodies[node]

    def nested(self, block: Block) -> GraphImporter:
        """An importer into a region's block; nothing it makes is used outside."""
        location = self._location if self._fixed_location else None
        inner = GraphImporter(block.add_op, self._attributes, self._size_of, location)
        inner._location = self._location
        inner.symbols, inner._owners = self.symbols, self._owners
        return inner

    def inline(self, module: GraphModule, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The results of a graph on these operands, its nodes imported here.

        Raises:
            CaptureError: the graph writes to what it has another view of.
        """
        if needs_functionalization(module.graph):
            raise CaptureError(
                "the body of a branch or loop writes to tensors through views",
                hint="write x = x + 1 for x += 1 there, or capture with torch.export",
            )
        nodes = list(module.graph.nodes)
        placeholders = [n for n in nodes if n.op == "placeholder"]
        self.values.update(zip(placeholders, operands, strict=True))
        outer, self._attributes = self._attributes, lambda name: _attribute(module, name)
        try:
            results = self.run(nodes)
        finally:
            self._attributes = outer
        return [self.operand(r) for r in pytree.tree_leaves(results)]


_EMPTY_LIST_ELEMENT: Mapping[str, Attribute] = {
    "int": t.int_type,
    "SymInt": t.int_type,
    "float": t.float_type,
    "bool": t.bool_type,
    "Tensor": t.vtensor(None, None),
    "str": t.str_type,
    "Scalar": t.number_type,
}


@cache
def _signature(target: torch._ops.OpOverload) -> tuple[tuple[str, str, bool, Any], ...]:
    """Name, schema type, whether keyword-only and default of every argument of an overload."""
    return tuple(
        (a.name, _schema_type(a), a.kwarg_only, a.default_value) for a in target._schema.arguments
    )


def _schema_type(argument: torch.Argument) -> str:
    """An argument's type in the schema language, from PyTorch's Python view of it."""
    kind = str(argument.type)
    optional = kind.startswith("Optional[")
    if optional:
        kind = kind[len("Optional[") : -1]
    if kind.startswith("List["):
        inner = kind[len("List[") : -1]
        kind = (
            f"{inner.removeprefix('Optional[').rstrip(']')}{'?' if 'Optional' in inner else ''}[]"
        )
    kind = {"number": "Scalar"}.get(kind, kind)
    return f"{kind}?" if optional else kind


def _attribute(module: torch.nn.Module, path: str) -> Any:
    """The attribute a ``get_attr`` node names, ``a.b.c``."""
    target: Any = module
    for part in path.split("."):
        target = getattr(target, part)
    return target
