"""``torch-globalize-object-graph``: a graph of module objects becomes global slots and plain functions.

The one root module is the program. A slot is called by its path from the root, ``@encoder.linear.weight``; a method by
the path of the object it is called on. A function that takes module objects gets one copy for each combination of
objects it is called with. An object that is reachable by several paths has one set of slots, named by the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.rows import RowOp
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.object_graph import (
    AttrOp,
    ClassTypeOp,
    GetAttrOp,
    GlobalSlotGetOp,
    GlobalSlotModuleInitializerOp,
    GlobalSlotOp,
    GlobalSlotSetOp,
    InitializeGlobalSlotsOp,
    MethodOp,
    NnModuleOp,
    SetAttrOp,
    SlotOp,
)
from torch2mlir.errors import PassError

_USES = "unsupported use of a torch.nn.Module. Expected only method calls or attribute get/set"
_USES_HINT = "run torch-prepare-for-globalize-object-graph first; modules cannot be put into lists"


def _error(message: str, op: Operation, hint: str) -> PassError:
    text = str(op).splitlines()[0]
    return PassError(message, op=text, location=describe(op.location), hint=hint)


@dataclass
class _Class:
    """A ``torch.class_type``."""

    attributes: dict[str, RowOp] = field(default_factory=dict)
    methods: list[RowOp] = field(default_factory=list)


@dataclass(eq=False)
class _Object:
    """A ``torch.nn_module`` with the dotted path from the root to it."""

    op: NnModuleOp
    path: str
    values: dict[str, SSAValue] = field(default_factory=dict)

    def linkage(self, name: str) -> str:
        """The global name of a member."""
        return f"{self.path}.{name}" if self.path else name


@dataclass(frozen=True)
class _Instance:
    """A function and the objects its module arguments stand for."""

    function: str
    objects: tuple[tuple[int, _Object], ...]


class _ObjectGraph:
    """The objects of a module and the slots they make."""

    def __init__(self, module: ModuleOp) -> None:
        self.classes = {
            op.sym_name.data: self._class(op) for op in module.ops if isinstance(op, ClassTypeOp)
        }
        self.objects = dict[SSAValue, _Object]()
        self.slots = dict[tuple[_Object, str], str]()
        self._visit(self._root(module), "")

    def _class(self, op: ClassTypeOp) -> _Class:
        result = _Class()
        for member in op.body.block.ops:
            if isinstance(member, AttrOp):
                result.attributes[member.attr_name.data] = member
            elif isinstance(member, MethodOp):
                result.methods.append(member)
        return result

    def _root(self, module: ModuleOp) -> NnModuleOp:
        modules = [op for op in module.ops if isinstance(op, NnModuleOp)]
        roots = [op for op in modules if op.result.first_use is None]
        if not modules:
            raise PassError(
                "module does not contain a root torch.nn_module",
                hint="a module of plain functions is already in this form: leave the pass out",
            )
        if len(roots) != 1:
            raise _error(
                "found more than one root module (module that is not a child of any other module)",
                roots[-1] if roots else modules[0],
                "import one object; what belongs to it must be in its slots",
            )
        return roots[0]

    def class_of(self, object: _Object) -> _Class:
        """The class of an object."""
        type = object.op.result.type
        name = type.class_name.data if isinstance(type, t.NnModuleType) else ""
        if name not in self.classes:
            raise _error(f"there is no torch.class_type '{name}'", object.op, "add it")
        return self.classes[name]

    def _visit(self, op: NnModuleOp, path: str) -> None:
        object = self.objects[op.result] = _Object(op, path)
        attributes = self.class_of(object).attributes
        for slot in op.body.block.ops:
            if not isinstance(slot, SlotOp):
                continue
            name, value = slot.slot_name.data, slot.value
            if name not in attributes:
                raise _error(f"the class has no attribute '{name}'", slot, "declare it")
            object.values[name] = value
            if isinstance(value.owner, NnModuleOp):
                if value not in self.objects:
                    self._visit(value.owner, object.linkage(name))
            elif isinstance(value.type, t.NnModuleType):
                raise _error(_USES, slot, _USES_HINT)
            else:
                self.slots[object, name] = object.linkage(name)


class _Globalizer:
    """Makes the functions of the instances that are called, and the slots they use."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.graph = _ObjectGraph(module)
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self.names = dict[_Instance, str]()
        self.visibility = dict[_Instance, StringAttr | None]()
        self.used = set[tuple[_Object, str]]()
        self.numbered = 0

    def run(self) -> None:
        self._name_methods()
        self._name_called()
        made = [
            self._instantiate(instance)
            for name in self.functions
            for instance in self.names
            if instance.function == name
        ]
        slots = [key for key in self.graph.slots if key in self.used]
        block = self.module.body.block
        anchor = block.first_op
        for new in [self._initializer(slots), *map(self._slot, slots), *made]:
            block.insert_op_before(new, anchor)  # type: ignore[arg-type]
        self._erase_graph(anchor)

    def _name_methods(self) -> None:
        """Every method of every object is an instance of its own, called by the object's path."""
        public = dict[str, Operation]()
        for object in self.graph.objects.values():
            for method in self.graph.class_of(object).methods:
                function = method.function.string_value()
                if function not in self.functions:
                    raise _error(f"there is no function @{function}", method, "add it")
                instance = _Instance(function, ((0, object),))
                if instance in self.names:
                    continue
                if method.is_private is None and function in public:
                    raise _error(
                        "public function with multiple monomorphizations",
                        method,
                        "several objects of the class are in the program: mark the method private, and public only "
                        "the methods that are called from outside",
                    )
                self.names[instance] = object.linkage(method.method_name.data)
                self.visibility[instance] = StringAttr("private") if method.is_private else None
                if method.is_private is None:
                    public[function] = method

    def _name_called(self) -> None:
        """Functions without module arguments, and those called with modules, from the methods on."""
        for name, function in self.functions.items():
            if not any(isinstance(type, t.NnModuleType) for type in function.function_type.inputs):
                self._name_free(_Instance(name, ()))
        work = list(self.names)
        while work:
            instance = work.pop()
            for _, callee in self._calls(instance):
                if callee not in self.names:
                    self._name_free(callee)
                    work.append(callee)

    def _name_free(self, instance: _Instance) -> None:
        function = self.functions[instance.function]
        if function.sym_visibility is None and not instance.objects:
            self.names[instance], self.visibility[instance] = instance.function, None
            return
        name = instance.function
        while name in self.functions or name in self.names.values():
            name, self.numbered = f"{instance.function}${self.numbered}", self.numbered + 1
        self.names[instance], self.visibility[instance] = name, StringAttr("private")

    def _known(self, instance: _Instance) -> dict[SSAValue, _Object]:
        """The module values of a function and the objects they are in this instance."""
        function = self.functions[instance.function]
        block = function.body.block
        known = dict[SSAValue, _Object]()
        known.update((block.args[index], object) for index, object in instance.objects)
        for op in function.walk():
            if isinstance(op, GetAttrOp) and isinstance(op.result.type, t.NnModuleType):
                receiver = known.get(op.receiver)
                value = receiver.values.get(op.attr_name.data) if receiver else None
                if value is None or value not in self.graph.objects:
                    raise _error(_USES, op, _USES_HINT)
                known[op.result] = self.graph.objects[value]
        return known

    def _calls(self, instance: _Instance) -> Iterator[tuple[CallOp, _Instance]]:
        """The calls in a function and the instances they call; checks the other uses of modules."""
        known = self._known(instance)
        for op in self.functions[instance.function].walk():
            modules = [v for v in op.operands if isinstance(v.type, t.NnModuleType)]
            if isinstance(op, CallOp) and op.callee.string_value() in self.functions:
                if any(v not in known for v in modules):
                    raise _error(_USES, op, _USES_HINT)
                objects = tuple(
                    (index, known[v])
                    for index, v in enumerate(op.arguments)
                    if isinstance(v.type, t.NnModuleType)
                )
                yield op, _Instance(op.callee.string_value(), objects)
            elif isinstance(op, GetAttrOp | SetAttrOp):
                if modules != [op.receiver] or op.receiver not in known:
                    raise _error(_USES, op, _USES_HINT)
            elif modules or any(isinstance(type, t.NnModuleType) for type in op.result_types):
                raise _error(_USES, op, _USES_HINT)

    def _instantiate(self, instance: _Instance) -> FuncOp:
        """The function of an instance: no module arguments, attributes are slots."""
        original = self.functions[instance.function]
        known = self._known(instance)
        calls = dict(self._calls(instance))
        new = original.clone()
        new.location = original.location
        copies = dict(zip(original.walk(), new.walk(), strict=True))
        modules = list[Operation]()
        for old, op in copies.items():
            op.location = old.location
            if isinstance(old, GetAttrOp) and isinstance(old.result.type, t.NnModuleType):
                modules.append(op)
            elif isinstance(old, GetAttrOp | SetAttrOp):
                self._access(old, op, known[old.receiver])
            elif isinstance(old, CallOp) and old in calls:
                _retarget(op, self.names[calls[old]])
        for op in reversed(modules):
            op.detach()
            op.erase()
        block = new.body.block
        kept = [i for i in range(len(block.args)) if i not in dict(instance.objects)]
        for index, _ in reversed(instance.objects):
            block.erase_arg(block.args[index])
        new.properties["sym_name"] = StringAttr(self.names[instance])
        new.properties.pop("sym_visibility", None)
        if (visibility := self.visibility[instance]) is not None:
            new.properties["sym_visibility"] = visibility
        new.properties["function_type"] = FunctionType.from_lists(
            [arg.type for arg in block.args], list(original.function_type.outputs)
        )
        if original.arg_attrs is not None:
            new.properties["arg_attrs"] = ArrayAttr([original.arg_attrs.data[i] for i in kept])
        return new

    def _access(self, old: RowOp, op: Operation, object: _Object) -> None:
        key = (object, old.attr_name.data)
        if key not in self.graph.slots:
            raise _error(f"the object has no slot '{old.attr_name.data}'", old, "add it")
        self.used.add(key)
        slot = SymbolRefAttr(self.graph.slots[key])
        access: Operation
        if isinstance(op, GetAttrOp):
            access = GlobalSlotGetOp.create(
                result_types=[op.result.type], properties={"slot": slot}
            )
            access.results[0].name_hint = op.result.name_hint
            op.result.replace_all_uses_with(access.results[0])
        else:
            value = op.operands[1]
            if isinstance(value.type, t.NnModuleType):
                raise _error(_USES, old, _USES_HINT)
            access = GlobalSlotSetOp.create(operands=[value], properties={"slot": slot})
        access.location = old.location
        place_before(op, access)
        op.detach()
        op.erase()

    def _slot(self, key: tuple[_Object, str]) -> GlobalSlotOp:
        object, name = key
        attribute = self.graph.class_of(object).attributes[name]
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(self.graph.slots[key]),
            "typeBound": attribute.type,
        }
        if attribute.is_private is not None:
            properties["sym_visibility"] = StringAttr("private")
        slot = GlobalSlotOp.create(properties=properties)
        slot.location = object.op.location
        return slot

    def _initializer(self, slots: list[tuple[_Object, str]]) -> RowOp:
        """The ops that compute the slots' initial values, in a region."""
        values = [object.values[name] for object, name in slots]
        needed = set[Operation]()
        work = [value.owner for value in values]
        while work:
            op = work.pop()
            if isinstance(op, Operation) and op not in needed:
                needed.add(op)
                work += [operand.owner for operand in op.operands]
        copies = dict[SSAValue, SSAValue]()
        block = Block()
        for op in self.module.body.block.ops:
            if op in needed:
                clone = op.clone(copies)
                clone.location = op.location
                block.add_op(clone)
        block.add_op(
            InitializeGlobalSlotsOp.create(
                operands=[copies[value] for value in values],
                properties={
                    "slotSymNames": ArrayAttr(SymbolRefAttr(self.graph.slots[k]) for k in slots)
                },
            )
        )
        return GlobalSlotModuleInitializerOp.create(regions=[Region(block)])

    def _erase_graph(self, first: Operation | None) -> None:
        """Everything from ``first`` on that the new ops stand for: last uses first."""
        op = self.module.body.block.last_op
        while op is not None:
            previous = None if op is first else op.prev_op
            unused = all(result.first_use is None for result in op.results)
            if isinstance(op, ClassTypeOp | FuncOp | NnModuleOp) or (op.results and unused):
                op.detach()
                op.erase()
            op = previous


def _retarget(call: Operation, callee: str) -> None:
    """Makes a call one of an instance: without its module arguments."""
    call.properties["callee"] = SymbolRefAttr(callee)
    call.operands = [v for v in call.operands if not isinstance(v.type, t.NnModuleType)]


@dataclass(frozen=True)
class GlobalizeObjectGraphPass(ModulePass):
    """See the module's docstring.

    Raises:
        PassError: the program has no root or several, uses a module as a value, or makes a method public that
            several objects have.
    """

    name = "torch-globalize-object-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Globalizer(op).run()
