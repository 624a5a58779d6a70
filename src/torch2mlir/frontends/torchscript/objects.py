"""Module objects of TorchScript, with classes, attributes and methods, as an object graph of the torch dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from torch2mlir.dialects.torch import object_graph
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Size
from torch2mlir.errors import CaptureError, Torch2MLIRError
from torch2mlir.frontends.torchscript.graph import Callee, function_type, import_graph
from torch2mlir.frontends.torchscript.types import TypeImporter
from torch2mlir.frontends.torchscript.values import ValueImporter

Annotations = Mapping[str, Sequence[Attribute | None]]
"""Method -> for every argument but ``self`` the tensor type it is promised to have."""
FindFunction = Callable[[str], Any]
"""Qualified name -> ``torch.jit.ScriptFunction``, or None where nobody knows it."""


@dataclass(frozen=True)
class ScriptObject:
    """A module object and how to find the functions that it calls.

    Attributes:
        cpp_module: a ``torch._C.ScriptModule``.
        find_function: None if the functions are not to be found; then all calls are inlined by PyTorch.
    """

    cpp_module: Any
    find_function: FindFunction | None


def script_object(module: torch.jit.ScriptModule) -> ScriptObject:
    """A scripted, traced or loaded module."""
    concrete: Any = getattr(module, "_concrete_type", None)  # frozen modules have none
    made_here = concrete is not None and concrete.py_class is not None
    find = torch.jit._state._python_cu.find_function if made_here else None
    return ScriptObject(module._c, find)


def load_script_object(path: str) -> ScriptObject:
    """The module in a file of ``torch.jit.save``.

    Raises:
        CaptureError: the file is something else.
    """
    unit = torch._C.CompilationUnit()
    try:
        load: Callable[..., Any] = (
            torch._C.import_ir_module
        )  # PyTorch's stub lacks the last argument
        module = load(unit, path, torch.device("cpu"), {}, False)
    except RuntimeError as error:
        raise CaptureError(
            f"{path} is not a TorchScript program: {str(error).partition(chr(10))[0]}",
            hint="save it with torch.jit.save(torch.jit.script(model), path)",
        ) from error
    return ScriptObject(module, unit.find_function)


def import_object(
    root: ScriptObject, annotations: Annotations, types: TypeImporter | None = None
) -> ModuleOp:
    """The module of an object graph.

    Args:
        root: the object that is the program.
        annotations: the methods that are exported, and what is promised of their arguments.
        types: makes the types.

    Raises:
        CaptureError: something has no form in the torch dialect.
    """
    return _ObjectImport(root, annotations, types or TypeImporter()).run()


def import_function(
    function: Any, name: str, bounds: Sequence[Attribute | None], types: TypeImporter | None = None
) -> ModuleOp:
    """The module of a scripted function; what it calls is private.

    Args:
        function: a ``torch.jit.ScriptFunction``.
        name: what it is called in the module.
        bounds: the tensor types its arguments are promised to have.
        types: makes the types.
    """
    block = Block()
    find = torch.jit._state._python_cu.find_function
    functions = _Functions(block.add_op, types or TypeImporter(), find)
    functions.add(name, function.graph, function.schema, private=False, bounds=bounds)
    return ModuleOp(Region(block))


class _Functions:
    """The functions that have been imported."""

    def __init__(
        self, insert: Callable[[Operation], None], types: TypeImporter, find: FindFunction | None
    ) -> None:
        self._insert = insert
        self._types = types
        self._find = find
        self._known: dict[str, Callee] = {}

    def add(
        self,
        name: str,
        graph: Any,
        schema: Any,
        *,
        private: bool = True,
        bounds: Sequence[Attribute | None] | None = None,
    ) -> Callee:
        """Imports a graph as a function."""
        type = function_type(graph, self._types, [r.type for r in schema.returns])
        callee = self._known[name] = Callee(name, type)
        function = import_graph(graph, name, self._types, self, type)
        if private:
            function.properties["sym_visibility"] = StringAttr("private")
        if bounds is not None:
            _annotate(function, bounds, schema)
        self._insert(function)
        return callee

    def function(self, name: str) -> Callee:
        """The function of a qualified name, imported when it is first asked for."""
        known = self._known.get(name)
        if known is None:
            function = self._find and self._find(name)
            if function is None:
                raise CaptureError(f"the function '{name}' is not to be found")
            known = self.add(name, function.graph, function.schema)
        return known

    def method(self, class_type: Any, name: str) -> Callee:
        """The method of a class; functions call methods of objects they are given."""
        raise CaptureError(
            f"a function calls the method '{name}' of an object that it is given",
            hint="compile the module the object belongs to",
        )


def _annotate(function: FuncOp, bounds: Sequence[Attribute | None], schema: Any) -> None:
    """Says of arguments what type they are promised to have; those with a default may be left out."""
    inputs = function.function_type.inputs.data
    own = [DictionaryAttr({})] if inputs and isinstance(inputs[0], t.NnModuleType) else []
    arguments = schema.arguments[len(own) :]
    left_out = arguments[len(bounds) :]
    if len(bounds) > len(arguments) or not all(a.has_default_value() for a in left_out):
        raise CaptureError(
            f"'{schema.name}' takes {len(arguments)} arguments, {len(bounds)} examples are given",
            hint="give a tensor or TensorPlaceholder for every argument without a default",
        )
    for argument, traced, promised in zip(arguments, inputs[len(own) :], bounds):
        _check_traced(schema.name, argument.name, traced, promised)
    bound = [DictionaryAttr({} if type is None else {"torch.type_bound": type}) for type in bounds]
    if any(attributes.data for attributes in bound):
        rest = [DictionaryAttr({}) for _ in left_out]
        function.properties["arg_attrs"] = ArrayAttr([*own, *bound, *rest])


def _check_traced(function: str, name: str, traced: Attribute, promised: Attribute | None) -> None:
    """What tracing has observed of an argument is all that it may be.

    Raises:
        CaptureError: other sizes are promised.
    """
    if not isinstance(traced, t.AnyTensorType) or not isinstance(promised, t.AnyTensorType):
        return
    seen, given = traced.sizes, promised.sizes
    if seen is None or given is None:
        return
    if len(seen) == len(given) and all(s is None or s == g for s, g in zip(seen, given)):
        return
    raise CaptureError(
        f"'{function}' was traced with {_shape(seen)} for '{name}', and the example promises {_shape(given)}",
        hint="say ignore_traced_shapes=True if the trace is right for all of them, or script the model",
    )


def _shape(sizes: Sequence[Size]) -> str:
    shown = (str(size) if isinstance(size, int) else "?" for size in sizes)
    return f"[{', '.join(shown)}]"


class _ObjectImport(_Functions):
    """The import of one object graph."""

    def __init__(self, root: ScriptObject, annotations: Annotations, types: TypeImporter) -> None:
        self._block = Block()
        super().__init__(self._block.add_op, types, root.find_function)
        self._root = root.cpp_module
        self._annotations = annotations
        self._literals = ValueImporter(self._block.add_op)
        self._objects: dict[Any, SSAValue] = {}
        self._examples: dict[str, Any] = {}
        self._types = types

    def run(self) -> ModuleOp:
        """The whole module: classes and functions, then objects."""
        for name in self._annotations:
            if not self._root._has_method(name):
                raise CaptureError(
                    f"the module has no exported method '{name}'",
                    hint="add @torch.jit.export to its definition",
                )
        for cpp_module in self._reachable(self._root):
            self._examples.setdefault(cpp_module._type().qualified_name(), cpp_module)
        for name, cpp_module in self._examples.items():
            self._class(name, cpp_module)
        self._object(self._root, "")
        return ModuleOp(Region(self._block))

    def _reachable(self, cpp_module: Any) -> Iterator[Any]:
        yield cpp_module
        for _, child in torch._C.ModuleDict(cpp_module).items():
            yield from self._reachable(child)

    def _class(self, name: str, cpp_module: Any) -> None:
        exported = self._annotations if cpp_module == self._root else ()
        body = Block()
        for attribute, type in self._attributes(cpp_module):
            properties = {"name": StringAttr(attribute), "type": type, "isPrivate": UnitAttr()}
            body.add_op(object_graph.AttrOp.create(properties=properties))
        for method in self._method_names(cpp_module):
            callee = self.method(cpp_module._type(), method)
            properties = {
                "name": StringAttr(method),
                "function": FlatSymbolRefAttr(callee.symbol),
            }
            if method not in exported:
                properties["isPrivate"] = UnitAttr()
            body.add_op(object_graph.MethodOp.create(properties=properties))
        class_type = object_graph.ClassTypeOp.create(
            properties={"sym_name": StringAttr(name)}, regions=[Region(body)]
        )
        self._insert(class_type)

    def _method_names(self, cpp_module: Any) -> Sequence[str]:
        """The methods the program needs; where calls are inlined, only those that are exported."""
        if self._find is None:
            return list(self._annotations) if cpp_module == self._root else []
        return list(cpp_module._method_names())

    def method(self, class_type: Any, name: str) -> Callee:
        """The method of a class, imported when it is first asked for."""
        class_name = class_type.qualified_name()
        symbol = f"{class_name}.{name}"
        known = self._known.get(symbol)
        if known is not None:
            return known
        owner = self._examples.get(class_name)
        if owner is None:
            raise CaptureError(
                f"the method '{name}' of an object of class '{class_name}', which is no part of the module",
                hint="make objects in __init__ and keep them as submodules",
            )
        method = owner._get_method(name)
        graph = method.graph if self._find is not None else method.inlined_graph
        bounds = self._annotations.get(name) if owner == self._root else None
        return self.add(symbol, graph, method.schema, bounds=bounds)

    def _attributes(self, cpp_module: Any) -> list[tuple[str, Attribute]]:
        """The attributes of a class that the dialect can say; a method that uses another one fails."""
        concrete: Any = torch._C.ConcreteModuleType.from_jit_type(cpp_module._type())
        result = list[tuple[str, Attribute]]()
        parameters: Any = torch._C.ParameterDict(cpp_module)
        buffers: Any = torch._C.BufferDict(cpp_module)
        names = [*parameters.items(), *buffers.items()]
        for name, _ in names:
            result.append((name, t.NonValueTensorType.of(None, None)))
        known = {name for name, _ in result}
        for name, (type, _) in concrete.get_attributes().items():
            if name not in known:
                result.append((name, self._types.of(type)))
        for name, child in torch._C.ModuleDict(cpp_module).items():
            result.append((name, self._types.of(child._type())))
        return result

    def _object(self, cpp_module: Any, path: str) -> SSAValue:
        known = self._objects.get(cpp_module)
        if known is not None:
            return known
        slots = Block()
        for name, type in self._attributes(cpp_module):
            value = self._slot(cpp_module.getattr(name), type, f"{path}.{name}" if path else name)
            properties = {"name": StringAttr(name)}
            slots.add_op(object_graph.SlotOp.create(operands=[value], properties=properties))
        class_type = self._types.of(cpp_module._type())
        op = object_graph.NnModuleOp.create(regions=[Region(slots)], result_types=[class_type])
        self._insert(op)
        self._objects[cpp_module] = op.result
        return op.result

    def _slot(self, value: Any, type: Attribute, path: str) -> SSAValue:
        if isinstance(value, torch._C.ScriptModule):
            return self._object(value, path)
        try:
            return self._literals.of(value, type, path)
        except Torch2MLIRError as error:
            error.op = error.op or f"attribute {path}"
            raise
