"""TorchScript programs as the runtime calls them: what callers leave out, what is written, what comes back."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from torch2mlir import named_pipelines as pipelines
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.lists import is_written
from torch2mlir.dialects.torch.symbols import declare_symbols, retype_function
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.dialects.weights import WeightAttr
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.decisions import noted
from torch2mlir.frontends.torchscript.asked_layouts import AskedLayouts
from torch2mlir.frontends.torchscript.example_args import ExampleArgs
from torch2mlir.frontends.torchscript.objects import ScriptObject
from torch2mlir.frontends.torchscript.script import Script, import_script
from torch2mlir.frontends.torchscript.types import TypeImporter
from torch2mlir.frontends.torchscript.values import ValueImporter
from torch2mlir.frontends.torchscript.writes import written_arguments
from torch2mlir.frontends.weights import TorchSource, refuse_sharing_in_part
from torch2mlir.pipeline import run_steps
from torch2mlir.program import (
    ConstantOutput,
    Decision,
    Mutation,
    Output,
    Program,
    Signature,
    StateInput,
    UserInput,
    UserOutput,
)
from torch2mlir.transforms.adjust_calling_conventions import cast_tensor
from torch2mlir.transforms.folding.casts import underived
from torch2mlir.transforms.inline import InlinePass
from torch2mlir.transforms.prepare_for_globalize_object_graph import (
    PrepareForGlobalizeObjectGraphPass,
)
from torch2mlir.transforms.simplification import rounds
from torch2mlir.transforms.state_as_arguments import State, state_as_arguments
from torch2mlir.turns import in_turn


@in_turn()
def script_program(
    script: Script, example_args: ExampleArgs, ignore_traced_shapes: bool = False
) -> Program:
    """The functions of a TorchScript program without objects and calls, and how ``forward`` is called.

    Without a method of this name it is the first that has example arguments. Buffers and arguments that a method
    writes are results of its function too.
    """
    decisions = list[Decision]()
    with noted(decisions):
        program = _script_program(script, example_args, ignore_traced_shapes)
    program.signature.decisions = list(dict.fromkeys(decisions))
    return program


def _script_program(
    script: Script, example_args: ExampleArgs, ignore_traced_shapes: bool
) -> Program:
    module = import_script(script, example_args, ignore_traced_shapes)
    first: tuple[type[ModulePass], ...] = (
        pipelines.TorchscriptModuleToTorchBackendPipeline.first
        if isinstance(script, ScriptObject)
        # calls of functions that are values become calls by name, which can be inlined
        else (
            PrepareForGlobalizeObjectGraphPass,
            *pipelines.TorchFunctionToTorchBackendPipeline.first,
        )
    )
    passes: list[type[ModulePass]] = [*first, InlinePass]
    run_steps([each() for each in passes], module)
    layouts = {  # before a copy that changes no value is dropped
        name: AskedLayouts(function, example_args.methods[name])
        for name, function in _functions(module, example_args)
    }
    methods = {
        name: _Method(script, function, len(example_args.methods[name]))
        for name, function in _functions(module, example_args)
    }
    for method in methods.values():
        method.bind_defaults()
        method.bind_symbols(example_args.ranges)
        method.return_written_arguments()
    held = _held_tensors(module)  # as long as no constant is folded
    _simplify(module)
    states = state_as_arguments(module)
    if any(states.values()):
        _simplify(module)
    for name, method in methods.items():
        for state in states.get(name, ()):
            refuse_sharing_in_part(_tensor(state), held)
            method.add_state(StateInput(state.name, _tensor(state), state.type))
        method.flatten_results()
    name = "forward" if "forward" in methods else next(iter(methods))
    signature = methods[name].signature
    for method in methods.values():
        signature.ranges = {**signature.ranges, **method.signature.ranges}
    found = {name: each.answer(methods[name].function) for name, each in layouts.items()}
    for place, layout in found[name].items():
        item = signature.inputs[place]
        if isinstance(item, UserInput):
            signature.layouts[item.position] = layout
    return Program(module, signature, name)


def _simplify(module: ModuleOp) -> None:
    for each in rounds(module):
        run_steps([each], module)


def _functions(module: ModuleOp, example_args: ExampleArgs) -> Iterator[tuple[str, FuncOp]]:
    """The functions of the methods that have example arguments."""
    found = {
        function.sym_name.data: function for function in module.ops if isinstance(function, FuncOp)
    }
    called = {op.callee.string_value() for op in module.walk() if isinstance(op, CallOp)}
    for name in example_args.methods:
        if name not in found:
            raise CaptureError(f"the program has no function '{name}'")
        if name in called:
            raise CaptureError(
                f"'{name}' calls itself", hint="write the recursion as a loop: MLIR has no stack"
            )
        yield name, found[name]


class _Method:
    """One function of a program and its calling convention, from what TorchScript says of it.

    Args:
        script: the program.
        function: of the module.
        given: the number of arguments that callers pass.
    """

    def __init__(self, script: Script, function: FuncOp, given: int) -> None:
        self.function = function
        self._block = function.body.block
        owner: Any = script
        if isinstance(script, ScriptObject):
            owner = script.cpp_module._get_method(function.sym_name.data)
        self._own = int(isinstance(script, ScriptObject))
        self._graph = owner.inlined_graph
        self._arguments = list(owner.schema.arguments)[self._own :]
        (self._returned,) = owner.schema.returns
        self.signature = Signature()
        for position, name in enumerate(_names(self._arguments[:given])):
            type = self._block.args[position].type
            known = type if isinstance(type, t.ValueTensorType) else None
            self.signature.inputs.append(UserInput(name, position, known))
        self.signature.in_spec = pytree.tree_structure(((0,) * given, {}))
        self.signature.parameters = _parameters(self._arguments)

    @property
    def _end(self) -> ReturnOp:
        end = self._block.last_op
        assert isinstance(end, ReturnOp)
        return end

    def bind_defaults(self) -> None:
        """What callers do not pass is its default."""
        given = len(self.signature.inputs)
        ops = list[Operation]()
        literals, types = ValueImporter(ops.append), TypeImporter()
        for argument in self._arguments[given:]:
            old = self._block.args[given]
            value = literals.of(argument.default_value, types.of(argument.type))
            if value.type != old.type:
                ops.append(core.DerefineOp.create(operands=[value], result_types=[old.type]))
                value = ops[-1].results[0]
            old.replace_all_uses_with(value)
            self._block.erase_arg(old)
        self._insert_at_start(ops)
        attributes = self.function.arg_attrs
        if attributes is not None:
            self.function.properties["arg_attrs"] = ArrayAttr(attributes.data[:given])
        retype_function(self.function)

    def _insert_at_start(self, ops: Sequence[Operation]) -> None:
        if ops and self._block.first_op is not None:
            self._block.insert_ops_before(list(ops), self._block.first_op)

    def bind_symbols(self, ranges: Mapping[str, tuple[int, int]]) -> None:
        """Declares the symbols of the arguments' sizes, with the ranges that are known of them."""
        declared = declare_symbols(self._block.args, ranges)
        self._insert_at_start(declared.ops)
        self.signature.ranges = declared.ranges
        self.signature.size_names = {name: name for name in ranges if name in declared.ranges}

    def return_written_arguments(self) -> None:
        """Arguments that are written are results, before the program's own."""
        written = {position - self._own for position in written_arguments(self._graph)}
        finish, results = Builder(InsertPoint.before(self._end)), list[SSAValue]()
        for argument in self.signature.user_inputs:
            memory = _memory(self._block.args[argument.position])
            if argument.position in written and memory is not None and argument.type is not None:
                results.append(cast_tensor(finish, memory, argument.type))
                self.signature.mutations.append(Mutation(argument.name, argument.position))
        self._end.operands = [*results, *self._end.operands]
        retype_function(self.function)

    def add_state(self, state: StateInput) -> None:
        """Says that an argument and a result are a buffer."""
        self.signature.inputs.append(state)
        count = len(self.signature.state_inputs)
        self.signature.mutations.insert(count - 1, Mutation(state.name))

    def flatten_results(self) -> None:
        """Returns the members of lists and dicts, and notes how callers get them."""
        end, count = self._end, len(self.signature.mutations)
        results = _Results(end.operands[count:])
        template = results.of_schema(self._returned.type)
        end.operands = [*end.operands[:count], *results.values]
        retype_function(self.function)
        self.signature.outputs = results.outputs
        self.signature.out_spec = pytree.tree_structure(template)


def _names(arguments: Sequence[Any]) -> list[str]:
    """What arguments are called; tracing ``forward(*args)`` may give several the same name."""
    names = [argument.name for argument in arguments]
    return [
        f"{name}_{names[:position].count(name)}" if name in names[:position] else name
        for position, name in enumerate(names)
    ]


def _parameters(arguments: Sequence[Any]) -> inspect.Signature | None:
    """How a method is called; None if its arguments have names that no caller can write."""
    names = [argument.name for argument in arguments]
    if len({*names}) < len(names) or not all(map(str.isidentifier, names)):
        return None
    plain, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    defaults = [a.default_value if a.has_default_value() else empty for a in arguments]
    pairs = zip(arguments, defaults, strict=True)
    return inspect.Signature([inspect.Parameter(a.name, plain, default=d) for a, d in pairs])


def _held_tensors(module: ModuleOp) -> dict[str, torch.Tensor]:
    """The tensors of the objects that the program consists of, by name."""
    elements = (attribute for op in module.walk() for attribute in op.properties.values())
    sources = (each.source.data for each in elements if isinstance(each, WeightAttr))
    return {each.name: each.tensor for each in sources if isinstance(each, TorchSource)}


def _tensor(state: State) -> torch.Tensor:
    """The buffer itself, which the runtime writes to."""
    assert isinstance(state.elements, WeightAttr)
    source = state.elements.source.data
    assert isinstance(source, TorchSource)
    return source.tensor


def _memory(argument: SSAValue) -> SSAValue | None:
    """The tensor that can be written inside a function that takes a value."""
    for use in argument.uses:
        op = use.operation
        if isinstance(op, core.CopyToNonValueTensorOp):
            return op.results[0]
        if isinstance(op, core.TensorStaticInfoCastOp):
            return _memory(op.results[0])
    return None


class _Results:
    """What a function returns, member by member.

    Args:
        returned: the operands of its return; members of tuples stand for tuples already.
    """

    def __init__(self, returned: Sequence[SSAValue]) -> None:
        self._returned = iter(returned)
        self._values = Values()
        self.values = list[SSAValue]()
        self.outputs = list[Output]()

    def of_schema(self, type: Any) -> Any:
        """Takes what has a TorchScript type; its structure, with zeros for values."""
        if type.kind() == "TupleType":
            return tuple(self.of_schema(member) for member in type.elements())
        if type.kind() == "NoneType":
            return self._constant(None)
        return self._of_value(underived(next(self._returned)))

    def _constant(self, value: Any) -> int:
        self.outputs.append(ConstantOutput(value))
        return 0

    def _of_value(self, value: SSAValue) -> Any:
        op = value.owner
        if isinstance(value.type, t.NoneType):
            return self._constant(None)
        if isinstance(value.type, t.StringType) and isinstance(
            known := self._values.of(value), str
        ):
            return self._constant(known)
        if isinstance(op, core.PrimTupleConstructOp):
            return tuple(self._of_value(underived(member)) for member in op.operands)
        if isinstance(op, core.PrimListConstructOp) and not is_written(value):
            return [self._of_value(underived(member)) for member in op.operands]
        if isinstance(op, core.PrimDictConstructOp) and not is_written(value):
            half = len(op.operands) // 2
            keys = [self._values.of(key) for key in op.operands[:half]]
            if not any(isinstance(key, Unknown) for key in keys):
                members = map(self._of_value, map(underived, op.operands[half:]))
                return dict(zip(keys, members, strict=True))
        type = t.vtensor(None, None) if isinstance(value.type, t.AnyTensorType) else None
        self.values.append(value)
        self.outputs.append(UserOutput(type))
        return 0
