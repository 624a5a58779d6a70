"""The Python objects that a model's code can read: attributes, containers, variables of functions, globals.

Global variables and attributes of classes are looked at for the user's own code; an installed library's are its own,
but for the functions of it that the user's code has names for, and the ``forward`` of its modules: these get replaced.
"""

from __future__ import annotations

import ctypes
import dis
import io
import logging
import os
import random
import sys
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from enum import Enum
from functools import _lru_cache_wrapper as Cache
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import torch
from torch._library.custom_ops import CustomOpDef
from torch._ops import OperatorBase, OpOverloadPacket
from torch.nn.modules import module as modules

from torch2mlir.frontends.python_tables import (
    Keys,
    Members,
    Names,
    OfClass,
    OfEnvironment,
    OfModule,
    OfParts,
    OfScript,
    OfTensors,
    Slots,
    Table,
    Variable,
    WhereParts,
    members_of,
    of_array,
    of_bytes,
    of_context,
    of_file,
    of_generator,
    of_memory,
    size_of,
    slots_of,
)

_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice, Enum)
_OPERATORS = (OperatorBase, OpOverloadPacket, CustomOpDef, torch.jit.ScriptFunction)
_LEAVES = (
    *(*_PLAIN, *_OPERATORS),
    *(CodeType, logging.Logger, torch.dtype, torch.device),
)
_MEMORY: tuple[Any, ...] = (
    *(memoryview, ctypes.Array, ctypes.Structure, ctypes.Union),
    ctypes.c_int.__base__,  # of all numbers
)
_TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_MOST = 4096
"""Tables. A model that refers to a trainer, which refers to a data set, is not followed to its last element."""
_MOST_ENTRIES = 1024
"""Of a container, which calls look at: more are data, and none of what a model is made of."""
OWN = frozenset(vars(torch.nn.Module())) - {"training"}
"""Attributes every module has; those that hold its tensors and modules are tables of their own."""
_NOTES = frozenset({"_dynamo_static_input_type"})
"""What TorchDynamo notes on tensors, for itself."""
_TABLES_OF_TENSORS = ("_parameters", "_buffers")
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_OF_ALL_MODULES = {name: getattr(modules, f"_global{name}") for name in _HOOKS}
_MOST_BYTES = 4096
"""Of an array whose elements are looked at in every call."""


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def _is_generator(value: Any) -> bool:
    if isinstance(value, random.Random):
        return not isinstance(value, random.SystemRandom)
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(
        value, (numpy.random.Generator, numpy.random.RandomState)
    )


class AroundModel(torch.nn.Module):
    """A module of ours that stands for a model: what else it keeps is no state of the model's."""

    model: Any


class _Value(NamedTuple):
    """A value that something refers to; the rest as of a table."""

    path: str
    name: str
    value: Any
    owner: Any = None


class Reached:
    """What can be reached from a model, or from a function.

    Attributes:
        tables: what holds values that may become others.
        tensors: those that are no parameter or buffer where they are.
        paths: of these.
        kept: the parameters and buffers, by their paths.
        modules: the modules, each once.
        names: that the user's own code among them has for attributes and global variables.
        asked: these without the attributes that methods ask of their own object only.
        draws: whether there is a generator of Python's random numbers, which TorchDynamo takes for constants.
        pushes_out: whether there is a deque of a largest length, which TorchDynamo takes for longer than it is.
        iterates: whether there is an iterator: what it gives next nobody can look up.
        caches: of functions that keep what they have given (``functools.lru_cache``), in which nobody can look either.
        library_tables: the dictionaries in the files of installed classes.
        stored: the attributes that the user's own code among them sets.
        marks: those of these that no object has but a tensor, which may get them: ``self.scores.calls = 1``.
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self.tables = list[Table]()
        self.tensors = list[torch.Tensor]()
        self.paths = list[str]()
        self.kept = dict[str, torch.Tensor]()
        self.modules = list[torch.nn.Module]()
        self.names = set[str]()
        self.asked = set[str]()
        self.caches = list[Cache]()
        self.library_tables = list[dict[Any, Any]]()
        self.iterates = False
        self.draws = False
        self.pushes_out = False
        self.stored = set[str]()
        self._seen = dict[
            int, Any
        ]()  # with the objects, whose numbers are theirs as long as they live
        self._texts = set[str]()
        self._reads_environment = False
        self._files = set[str]()
        self._spaces = dict[int, tuple[str, dict[str, Any], set[str]]]()
        self._waiting = deque([_Value("", "", model)])
        self._files_held = list[_Value]()
        self._visit_hooks("torch.nn.Module", _OF_ALL_MODULES)
        self._visit_waiting()
        for path, _, file, _ in self._files_held:  # once it is known what the code reads
            self._visit_namespace(path, vars(file), frozenset(self.names))
            self._visit_waiting()
        for path, space, read in self._spaces.values():
            self.tables.append(Names(path, "", space, names=frozenset(read)))
        objects = [table for table in self.tables if isinstance(table, Names)]
        self.marks = frozenset(self.stored - {name for table in objects for name in table.live})
        self.tables += self._marks_of_tensors() if self.marks else []
        if self._reads_environment:
            texts = self.names | self._texts
            self.tables.append(OfEnvironment(texts, any_case=not _CASES.isdisjoint(self.names)))
        if "requires_grad" in self.names:
            self.tables.append(OfTensors("requires_grad", self.kept))

    def _visit_waiting(self) -> None:
        while self._waiting and len(self.tables) < _MOST:
            self._visit(*self._waiting.popleft())

    def _visit(self, path: str, name: str, value: Any, owner: Any) -> None:
        if isinstance(value, str):
            self._texts.add(value)
        if isinstance(value, type):
            self._visit_class(value)
            return
        if isinstance(value, ModuleType):
            if id(value) not in self._seen and not is_installed(value.__name__):
                self._seen[id(value)] = value
                self._files_held.append(_Value(path, name, value))
            return
        if isinstance(value, _LEAVES) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, torch.Tensor):
            is_plain = type(value) in _TENSORS
            if is_plain and value.layout is torch.strided and not value.is_meta:
                self.tensors.append(value)
                self.paths.append(path)
            if is_plain:
                self._visit_attributes_of_tensor(path, value)
        elif isinstance(value, torch.nn.Module):
            self._visit_module(path, value)
        elif (
            isinstance(value, dict | list | deque | set | tuple) and size_of(value) > _MOST_ENTRIES
        ):
            return
        elif isinstance(value, dict) and "__builtins__" in value:
            return  # all global variables, to which TorchDynamo adds its own
        elif isinstance(value, dict):
            self.tables.append(Keys(path, name, value, owner))
            self._visit_items(path, name, dict.items(value), owner)
        elif isinstance(value, list | deque | set):
            self.tables.append(Members(path, name, value, owner))
            self.pushes_out |= isinstance(value, deque) and value.maxlen is not None
            self._visit_items(path, name, enumerate(members_of(value)), owner)
        elif _is_generator(value):
            self.tables.append(of_generator(path, name, value, owner))
            self.draws |= isinstance(value, random.Random)
        elif isinstance(value, ContextVar):
            self.tables.append(of_context(path, value))
        elif isinstance(value, tuple | frozenset):
            self._visit_items(path, name, enumerate(members_of(value)), owner)
        elif isinstance(value, FunctionType):
            self._visit_function(path, value)
        elif isinstance(value, MethodType):
            self._visit_all(
                [_Value("self", "", value.__self__), _Value(path, name, value.__func__)]
            )
        elif isinstance(value, Cache):
            self.caches.append(value)
            self._waiting.append(_Value(path, name, value.__wrapped__))
        elif isinstance(value, weakref.ref):
            if not is_installed(type(target := value()).__module__):  # PyTorch's are of its hooks
                self._waiting.append(_Value(path, name, target))
        elif isinstance(value, partial):
            held = (value.func, value.args, value.keywords)
            self._visit_all(_Value(path, name, item) for item in held)
        elif isinstance(value, Iterator) and not isinstance(value, io.IOBase):
            self.iterates = True
        elif _is_array(value):
            if value.nbytes <= _MOST_BYTES:
                self.tables.append(of_array(path, name, value, owner))
        elif isinstance(value, bytearray | array):
            if memoryview(value).nbytes <= _MOST_BYTES:
                self.tables.append(of_bytes(path, name, value, owner))
        elif isinstance(value, io.StringIO | io.BytesIO):
            self.tables.append(of_file(path, name, value, owner))
        elif isinstance(value, _MEMORY):
            if _may_be_put_back(value):
                self.tables.append(of_memory(path, name, value, owner))
        elif not is_installed(type(value).__module__) and any(map(slots_of, type(value).__mro__)):
            table = Slots(path, name, value)
            self.tables.append(table)
            self._visit_attributes(path, table.saved, value)
            self._visit_class(type(value))
        elif isinstance(attributes := getattr(value, "__dict__", None), dict):
            self.tables.append(Names(path, name, attributes, value))
            self._visit_attributes(path, attributes, value)
            self._visit_class(type(value))

    def _visit_all(self, values: Iterable[_Value]) -> None:
        self._waiting.extend(values)

    def _visit_items(
        self, path: str, name: str, items: Iterable[tuple[Any, Any]], owner: Any
    ) -> None:
        self._visit_all(_Value(f"{path}[{key!r}]", name, item, owner) for key, item in items)

    def _visit_attributes(self, path: str, attributes: dict[str, Any], owner: Any = None) -> None:
        self._visit_all(
            _Value(f"{path}.{name}".lstrip("."), name, value, owner)
            for name, value in attributes.items()
        )

    def _visit_module(self, path: str, module: torch.nn.Module) -> None:
        if isinstance(module, torch.jit.ScriptModule):
            self._visit_script(path, module)
            return
        self.modules.append(module)
        if isinstance(module, AroundModel):
            self.tables.append(OfParts(path, module))
            self._visit_attributes(path, module._modules, module)
            return
        attributes = vars(module)
        self.tables.append(Names(path, "", attributes, module, hidden=OWN))
        self.tables += [OfModule(path, module, kind) for kind in _TABLES_OF_TENSORS]
        self.tables += [WhereParts(path, module)] if module._modules else []
        self.tables.append(OfParts(path, module))
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is not None and type(tensor) in _TENSORS:
                where = f"{path}.{name}".lstrip(".")
                self.kept[where] = tensor
                self._visit_attributes_of_tensor(where, tensor)
        own = {name: value for name, value in attributes.items() if name not in OWN}
        self._visit_attributes(path, own | module._modules, module)
        self._visit_hooks(path, attributes)
        self._visit_class(type(module))

    def _visit_hooks(self, path: str, tables: Mapping[str, Any]) -> None:
        """What a module's hooks around its forward refer to, or those of all modules."""
        for table in _HOOKS:
            for hook in (tables.get(table) or {}).values():
                self._visit_all([_Value(f"{path}.hook".lstrip("."), "", hook)])

    def _visit_attributes_of_tensor(self, path: str, x: torch.Tensor) -> None:
        """``weight.scale = 2.0``"""
        if attributes := vars(x):
            self.tables.append(Names(path, "", attributes, x, hidden=_NOTES))
            self._visit_attributes(path, attributes, x)

    def _marks_of_tensors(self) -> list[Names]:
        """What tensors without attributes may get."""
        tensors = [*zip(self.paths, self.tensors, strict=True), *self.kept.items()]
        bare = [(path, vars(x)) for path, x in tensors if not vars(x)]
        names = self.marks - _NOTES
        return [Names(path, "", attributes, names=names) for path, attributes in bare]

    def _visit_script(self, path: str, program: torch.jit.ScriptModule) -> None:
        names = _read_by(program)
        for way, module in program.named_modules():
            self.modules.append(module)
            table = OfScript(".".join(filter(None, (path, way))), module, names)
            if table.saved:
                self.tables.append(table)

    def _visit_class(self, kind: type) -> None:
        for each in kind.__mro__:
            if id(each) in self._seen:
                continue
            self._seen[id(each)] = each
            if is_installed(each.__module__):
                self._note_caches(each)
                if issubclass(each, torch.nn.Module) and "forward" in vars(each):
                    self.tables.append(OfClass(each, _FORWARD))
                continue
            table = OfClass(each)
            self.tables.append(table)
            self._visit_attributes(each.__name__, table.saved, each)
            for function in functions_of(each):
                self._visit_method(f"{each.__name__}.{function.__name__}", function)
            for name, value in vars(each).items():
                # classes within it, and objects of the user's, which may be descriptors
                self._visit_class(value if isinstance(value, type) else type(value))
                own = getattr(value, "__func__", value)
                if isinstance(own, Cache) or not is_installed(type(own).__module__):
                    self._visit_all([_Value(f"{each.__name__}.{name}", name, own, each)])

    def _note_caches(self, kind: type) -> None:
        """The caches in the file and the methods of an installed class, which a trace fills as it does the user's."""
        if kind.__module__.partition(".")[0] in _WITHOUT_CACHES:
            return
        values = [*vars(kind).values()]
        if kind.__module__ not in self._files:
            self._files.add(kind.__module__)
            values += getattr(sys.modules.get(kind.__module__), "__dict__", {}).values()
        for value in values:
            held = getattr(value, "__func__", value)
            if isinstance(held, Cache):
                self.caches.append(held)
            elif type(held) is dict and len(held) <= _MOST_ENTRIES:
                self.library_tables.append(held)

    def _visit_method(self, path: str, function: FunctionType) -> None:
        self._visit_globals(function)
        around = {*function.__code__.co_freevars} - {"__class__"}  # which ``super()`` reads
        if around or vars(function) or function.__kwdefaults__:
            self._visit_all([_Value(path, function.__name__, function)])
        else:
            self._visit_all(_Value("a default", "", each) for each in function.__defaults__ or ())

    def _visit_function(self, path: str, function: FunctionType) -> None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        variables = [Variable(name, cell) for name, cell in cells.items()]
        held = [_Value(each.name, each.name, v) for each in variables for v in each.saved.values()]
        if is_installed(function.__module__):  # a decorator's, around a function
            self._visit_all(each for each in held if isinstance(each.value, _AROUND))
            return
        self.tables += variables
        self.tables.append(Names(path, "", vars(function)))
        self._visit_attributes(path, vars(function))
        self._visit_all(held)
        self._visit_all(_Value("a default", "", value) for value in function.__defaults__ or ())
        if function.__kwdefaults__:
            self._visit_all([_Value("a default", "", function.__kwdefaults__)])
        self._visit_globals(function)

    def _visit_globals(self, function: FunctionType) -> None:
        if id(function.__code__) in self._seen:
            return
        self._seen[id(function.__code__)] = function.__code__
        read = names_in(function.__code__)
        self.names |= read
        self.asked |= asked_in(function.__code__)
        self.stored |= stored_by(function.__code__)
        space = function.__globals__
        self._visit_namespace("", space, globals_of(function.__code__))
        if any(space.get(name) is os for name in read) and not _OF_ENVIRONMENT.isdisjoint(read):
            self._reads_environment = True
        for path, module in modules_named(space, read, imported_by(function.__code__)).items():
            if not is_installed(module.__name__):
                self._visit_namespace(path, vars(module), read)
            elif called := {n for n in read if isinstance(vars(module).get(n), _CALLED)}:
                self._note(path, vars(module), called)

    def _visit_namespace(self, path: str, space: dict[str, Any], read: frozenset[str]) -> None:
        """Global variables of a Python file that code of this one or another reads."""
        found = {name: space[name] for name in read if name in space}
        for value in found.values():
            if isinstance(value, type):
                self._visit_class(value)
        kept = {n: v for n, v in found.items() if not isinstance(v, _NO_VARIABLES)}
        if kept:
            self._note(path, space, kept)
        self._visit_attributes(path, kept)

    def _note(self, path: str, space: dict[str, Any], names: Iterable[str]) -> None:
        """Variables of a Python file that some function reads."""
        _, _, known = self._spaces.setdefault(id(space), (path, space, set()))
        known.update(names)


def _may_be_put_back(value: Any) -> bool:
    """Whether bytes are all that there is to it: some of ``ctypes`` point to what Python objects keep alive."""
    if isinstance(value, ctypes.py_object) or getattr(value, "_objects", None) is not None:
        return False
    view = memoryview(value)
    return not view.readonly and view.c_contiguous and view.nbytes <= _MOST_BYTES


_WITHOUT_CACHES = frozenset({"torch", "torch2mlir", *sys.stdlib_module_names})
"""Packages whose caches hold no tensors."""
_NO_VARIABLES = (type, ModuleType, logging.Logger)
_OF_ENVIRONMENT = frozenset({"environ", "getenv"})
_CASES = frozenset({"upper", "lower", "capitalize", "title", "swapcase"})
_CALLED = (FunctionType, type(len), type(list.append))
_FORWARD = frozenset({"forward"})
_OF_OPERATORS = (type(torch.ops), type(torch.ops.aten))
"""What looks like a Python file and makes its attributes when they are asked for."""
_AROUND = (FunctionType, MethodType, partial, torch.nn.Module)


def modules_named(
    space: dict[str, Any], read: frozenset[str], imported: frozenset[str]
) -> dict[str, ModuleType]:
    """The Python files that code has names for, or imports, with those within packages."""
    found = dict[str, ModuleType]()
    package = f"{space.get('__package__')}."
    for name in imported:
        if (module := sys.modules.get(name) or sys.modules.get(package + name)) is not None:
            found[name] = module
    waiting = [("", space), *((name, vars(module)) for name, module in found.items())]
    while waiting:
        path, names = waiting.pop()
        for name in read:
            value = names.get(name)
            if not isinstance(value, ModuleType) or isinstance(value, _OF_OPERATORS):
                continue
            if all(value is not known for known in found.values()):
                found[f"{path}.{name}".lstrip(".")] = value
                waiting.append((f"{path}.{name}", vars(value)))
    return found


def _read_by(program: torch.jit.ScriptModule) -> frozenset[str]:
    """The attributes that the methods of a TorchScript program have names for."""
    object: Any = program._c
    graphs = [object._get_method(name).inlined_graph for name in object._method_names()]
    nodes = (node for graph in graphs for node in graph.findAllNodes("prim::GetAttr", True))
    return frozenset(node.s("name") for node in nodes)


def functions_of(kind: type) -> Iterator[FunctionType]:
    """The functions that a class is written in, but the one that makes its objects."""
    for name, value in vars(kind).items():
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and name != "__init__":
            yield function


def globals_of(code: CodeType) -> frozenset[str]:
    """The global variables that a function and those within read or assign to."""
    return _named_by(code)["LOAD_GLOBAL"] | _named_by(code)["STORE_GLOBAL"]


def imported_by(code: CodeType) -> frozenset[str]:
    """The Python files that a function and those within import when they are called."""
    return _named_by(code)["IMPORT_NAME"]


_OF_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")


def stored_by(code: CodeType) -> frozenset[str]:
    """The attributes that a function and those within set, by name."""
    return _named_by(code)["STORE_ATTR"]


@cache
def _named_by(code: CodeType) -> Mapping[str, frozenset[str]]:
    """The names that some instructions of a function and those within have; to list instructions takes long."""
    found: dict[str, set[str]] = {name: set() for name in _NAMING}
    for part in nested(code):
        for each in dis.get_instructions(part):
            if each.opname in _NAMING:
                found[each.opname].add(each.argval)
    return {name: frozenset(names) for name, names in found.items()}


_NAMING = frozenset({"IMPORT_NAME", "LOAD_GLOBAL", "STORE_ATTR", "STORE_GLOBAL"})


@cache
def names_in(code: CodeType) -> frozenset[str]:
    """What a function and those within have names for: attributes and global variables, by ``getattr`` too."""
    return _texts_in(code).union(*(part.co_names for part in nested(code)))


def _texts_in(code: CodeType) -> frozenset[str]:
    constants = [constant for each in nested(code) for constant in each.co_consts]
    constants += [text for each in constants if isinstance(each, tuple) for text in each]
    return frozenset(c for c in constants if isinstance(c, str) and c.isidentifier())


def _is_method(code: CodeType) -> bool:
    """Whether it is a function of a class: one by itself may call a tensor ``self``."""
    around = code.co_qualname.rpartition(".")[0]
    is_in_class = bool(around) and not around.endswith("<locals>")
    return is_in_class and code.co_varnames[: code.co_argcount][:1] == ("self",)


@cache
def asked_in(code: CodeType) -> frozenset[str]:
    """The same without what is an attribute of a method's own object wherever the name is: ``self.stride``."""
    asked, of_itself = set[str](), set[str]()
    for part in nested(code):
        is_method = _is_method(part)
        is_own = False
        for each in dis.get_instructions(part):
            if is_own and each.opname in _OF_ATTRIBUTES:
                of_itself.add(each.argval)
            elif isinstance(each.argval, str):
                asked.add(each.argval)
            is_own = is_method and each.opname.startswith("LOAD_FAST") and each.argval == "self"
    return names_in(code) - (of_itself - asked - _texts_in(code))


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those within."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


@cache
def is_installed(module: str | None) -> bool:
    """Whether a Python module is of PyTorch, Python's library or an installed package; code may be of none."""
    if module is None:
        return False
    package = module.partition(".")[0]
    if package in ("torch", "torch2mlir") or package in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
