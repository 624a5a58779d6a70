"""Graphs of the lazy device as programs of the torch dialect.

The device prints a TorchScript graph of functional ATen calls without overloads and without types. Types follow from
the parameters' tensors, so the graph is run once on fake tensors: the overload of every call is the one its
arguments fit, and the result is an FX graph for the importer of FX graphs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx.exported import import_graph
from torch2mlir.frontends.lazy.carried import (
    CALLS,
    LINK,
    MEMBER,
    Call,
    Carrier,
    TensorType,
    carrier,
)
from torch2mlir.frontends.lazy.graph_text import TextNode, parse
from torch2mlir.program import Program

aten = torch.ops.aten

_SCALED: dict[str, OpOverload] = {"addcmul": aten.mul.Tensor, "addcdiv": aten.div.Tensor}
"""``self + value * combine(one, other)``."""

_OF_CONSTANTS = {"norm"}
"""Calls that are another computation for every value of their number."""

_OF_NUMBERS = (torch.int64, torch.float64, torch.complex128)
"""Dtypes of the tensors in which the device keeps Python numbers."""

_IMPLICIT = {"aten::ScalarImplicit", "aten::IntImplicit", "aten::FloatImplicit"}
"""Python numbers, which the device keeps in rank-0 tensors so that a change of value is no new graph."""


@dataclass
class LazyProgram:
    """An imported computation of the lazy device.

    Attributes:
        program: takes the tensors behind the graph's parameters, in their order. Gives the graph's results, then the
            new values of the parameters it writes to.
        written: positions of these parameters.
        fixed: value of each parameter that became a constant of the program, by position. The program is right only
            where they are the same.
    """

    program: Program
    written: list[int] = field(default_factory=list)
    fixed: dict[int, Any] = field(default_factory=dict)


def import_lazy_graph(
    text: str,
    parameters: Sequence[torch.Tensor],
    results: Sequence[TensorType],
    *,
    fix_numbers: bool = False,
) -> LazyProgram:
    """The raw torch-dialect program of a graph.

    Floating-point numbers stay parameters (a learning rate or Adam's bias correction changes at every step);
    integers, and whatever decides about a shape or a path through PyTorch's own code, become constants.

    Args:
        text: the graph, as PyTorch prints it for tensors of the device.
        parameters: the tensors behind its parameters.
        results: dtype and shape the device has promised for each result.
        fix_numbers: make a constant of every Python number.

    Raises:
        CaptureError: something in the graph is no ATen call, or does not fit the tensors.
    """
    try:
        return _Import(text, parameters, results, fix_numbers).run()
    except _NumberNeededError:
        return _Import(text, parameters, results, fix_numbers=True).run()


def import_call(call: Call, operands: Sequence[TensorType]) -> tuple[Program, Any]:
    """The raw torch-dialect program of one call on tensors of these types; the type of its result, or a list of them.

    Raises:
        CaptureError: the call has no torch-dialect form, or gives something else than tensors of known shapes.
    """
    building = _Building(FakeTensorMode())
    placeholders = [
        building.placeholder(f"operand{position}", operand)
        for position, operand in enumerate(operands)
    ]
    node = building.add(call.target, *call.arguments(placeholders))
    value = node.meta["val"]
    if isinstance(value, torch.Tensor):
        return building.program([node]), TensorType.of(value)
    if not isinstance(value, list | tuple) or not all(
        member is None or isinstance(member, torch.Tensor) for member in value
    ):
        raise CaptureError("the call gives something else than tensors", op=str(call.target))
    members = [building.member(node, i) for i, member in enumerate(value) if member is not None]
    types = [None if member is None else TensorType.of(member) for member in value]
    return building.program(members), types


class _NumberNeededError(Exception):
    """PyTorch's own code decides by a number that was to be known at run time only."""


class _Building:
    """A graph of calls, each with what it gives on fake tensors."""

    def __init__(self, fakes: FakeTensorMode) -> None:
        self.graph = Graph()
        self.fakes = fakes

    def placeholder(self, name: str, type: TensorType) -> Node:
        """A parameter. Tensors of the device have no strides, whatever those behind them have."""
        node = self.graph.placeholder(name)
        with self.fakes:
            node.meta["val"] = torch.empty(type.shape, dtype=type.dtype)
        return node

    def add(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
        """Appends a call.

        Raises:
            CaptureError: PyTorch refuses it.
        """
        node = self.graph.call_function(target, args, kwargs)
        fake_args, fake_kwargs = torch.fx.node.map_arg((args, kwargs), lambda n: n.meta["val"])
        try:
            with self.fakes:
                result = target(*fake_args, **fake_kwargs)
                node.meta["val"] = pytree.tree_map_only(
                    torch.Tensor, torch.Tensor.contiguous, result
                )
        except Exception as error:
            reason = str(error).strip().splitlines()
            raise CaptureError(
                f"PyTorch refuses a call of the lazy graph: {reason[0] if reason else error!r}",
                op=str(target),
            ) from error
        return node

    def member(self, call: Node, index: int) -> Node:
        """One of several results of a call."""
        item = self.graph.call_function(operator.getitem, (call, index))
        item.meta["val"] = call.meta["val"][index]
        return item

    def program(self, results: Sequence[Node]) -> Program:
        """The raw torch-dialect program that gives these results."""
        self.graph.output(tuple(results))
        return import_graph(self.graph)


class _Import(_Building):
    """The import of one graph."""

    def __init__(
        self,
        text: str,
        parameters: Sequence[torch.Tensor],
        results: Sequence[TensorType],
        fix_numbers: bool,
    ) -> None:
        super().__init__(FakeTensorMode(shape_env=ShapeEnv()))
        self.source = parse(text)
        if len(self.source.parameters) != len(parameters):
            raise CaptureError(
                f"the lazy graph has {len(self.source.parameters)} parameters, the device {len(parameters)}",
                hint="report this graph: torch2mlir.lazy.last_computation().graph",
            )
        if len(self.source.results) != len(results):
            raise CaptureError(
                f"the lazy graph has {len(self.source.results)} results for {len(results)} tensors"
            )
        self.parameters = parameters
        self.promised = results
        self.fix_numbers = fix_numbers
        self.fixed = dict[int, Any]()
        self.values = dict[str, Any]()
        self.positions = {name: i for i, name in enumerate(self.source.parameters)}
        self.numbers = dict[str, Node]()
        self.written = dict[str, int]()
        self.calls = dict[str, Node]()

    def run(self) -> LazyProgram:
        for name, tensor in zip(self.source.parameters, self.parameters, strict=True):
            self.values[name] = self.placeholder(name, TensorType.of(tensor))
        for line in self.source.nodes:
            try:
                self._import(line)
            except CaptureError as error:
                error.op = error.op or line.kind
                raise
        returned = [
            self._as_promised(self.values[name], promise)
            for name, promise in zip(self.source.results, self.promised, strict=True)
        ]
        returned += [self.values[name] for name in self.written]
        return LazyProgram(self.program(returned), list(self.written.values()), self.fixed)

    def _import(self, line: TextNode) -> None:
        if line.kind == "prim::Constant":
            self.values[line.outputs[0]] = line.value
        elif line.kind == "prim::ListConstruct":
            self.values[line.outputs[0]] = [self.values[name] for name in line.inputs]
        elif line.kind == "prim::ListUnpack":
            self._bind(line.outputs, self.values[line.inputs[0]])
        elif line.kind in _IMPLICIT:
            self.values[line.outputs[0]] = self._number(line.inputs[0])
        elif line.kind.startswith("aten::"):
            self._call(line)
        else:
            raise CaptureError("the lazy graph has a node that is no ATen call", op=line.kind)

    def _number(self, name: str) -> Any:
        """The Python number in a rank-0 tensor."""
        value = self.values[name]
        position = self.positions.get(name)
        if not isinstance(value, Node):
            return value
        if position is None:
            raise CaptureError("a number of the lazy graph is computed by the graph itself")
        tensor = self.parameters[position]
        if self.fix_numbers or not tensor.is_floating_point():
            return self.fixed.setdefault(position, tensor.item())
        if name not in self.numbers:
            target = aten._local_scalar_dense.default
            self.numbers[name] = self.add(target, (value,), {})
        return self.numbers[name]

    def _call(self, line: TextNode) -> None:
        arguments = [self.values[name] for name in line.inputs]
        name = line.kind.removeprefix("aten::")
        if name == "detach_copy":
            self.values[line.outputs[0]] = arguments[0]
            return
        if (
            name == "arange"
        ):  # as PyTorch's code of other calls asks for it, with memory to write to
            out = arguments.pop().meta["val"]
            arguments = [self._constant(a) for a in arguments]
            arguments = [0] * (2 - len(arguments)) + arguments + [1] * (len(arguments) < 3)
            node = self.add(aten.arange.start_step, tuple(arguments), {"dtype": out.dtype})
            self._bind(line.outputs, node)
            return
        if name in (
            "as_strided",
            "as_strided_copy",
        ):  # the strides are those that the device reports, of no gaps
            dense = {"memory_format": torch.contiguous_format}
            arguments[0] = self.add(aten.clone.default, (arguments[0],), dense)
        if name == "pow":
            arguments = self._power(line, arguments)
        if name in _OF_CONSTANTS:
            arguments = [self._constant(argument) for argument in arguments]
        if name in _SCALED and isinstance(arguments[3], Node):
            self._bind(line.outputs, self._scaled(_SCALED[name], arguments))
            return
        if name == "convolution_backward" and (found := carrier(line.inputs, arguments)):
            self.values[line.outputs[2]] = self._carried(found, line.outputs[2])
            return
        target, args, kwargs = _overload(_value_variant(name), arguments)
        if target is aten.native_batch_norm.default:
            (self._batch_norm if args[5] else self._batch_norm_of_statistics)(line, args)
        else:
            self._bind(line.outputs, self.add(target, args, kwargs))

    def _carried(self, found: Carrier, name: str) -> Any:
        """A result of a call that another node carries, or the operands linked so far."""
        if found.code == MEMBER:
            call = self.calls[found.last]
        else:
            packed, last = self.values[found.packed], self.values[found.last]
            operands = [*packed, last] if isinstance(packed, list) else [packed, last]
            if found.code == LINK:
                return operands
            source = CALLS[found.code]
            operands = operands[len(operands) - source.operands :]
            call = self.calls[name] = self.add(source.target, *source.arguments(operands))
        several = isinstance(call.meta["val"], list | tuple)
        return self.member(call, found.position) if several else call

    def _power(self, line: TextNode, arguments: Sequence[Any]) -> list[Any]:
        """Base and exponent, Python numbers as such: PyTorch has kernels of its own for ``x**0.5`` and ``z**2``.

        Which of a tensor's powers are asked for seldom changes; a whole exponent of real numbers gives the same from a
        tensor, and may count steps.
        """
        given = list(arguments)
        types = [each.meta["val"] for each in given if isinstance(each, Node)]
        if len(types) < len(given) or all(type.dim() == 0 for type in types):
            return given
        is_complex = any(type.is_complex() for type in types)
        wanted = [each for each in _OF_NUMBERS if is_complex or each.is_floating_point]
        for place in range(len(given)) if is_complex else (1,):
            position, type = self.positions.get(line.inputs[place]), types[place]
            if position is not None and type.dim() == 0 and type.dtype in wanted:
                given[place] = self.fixed.setdefault(position, self.parameters[position].item())
        return given

    def _batch_norm(self, line: TextNode, args: tuple[Any, ...]) -> None:
        """Batch normalization in training, which writes to its running statistics although its schema hides it."""
        functional = aten._native_batch_norm_legit_functional.default
        statistics = line.inputs[3:5]
        if None in args[3:5]:
            functional = aten._native_batch_norm_legit.no_stats
            self._bind(line.outputs, self.add(functional, (*args[:3], *args[5:]), {}))
            return
        call = self.add(functional, args, {})
        self._bind((*line.outputs, *statistics), call)
        for name in statistics:
            if name in self.positions:
                self.written[name] = self.positions[name]

    def _batch_norm_of_statistics(self, line: TextNode, args: tuple[Any, ...]) -> None:
        """Batch normalization in inference; the device promises statistics where PyTorch's CPU gives empty tensors."""
        mean, variance, eps = args[3], args[4], args[7]
        self._bind(line.outputs, self.add(aten.native_batch_norm.default, args, {}))
        shifted = self.add(aten.add.Scalar, (variance, eps), {})
        self.values[line.outputs[1]] = mean
        self.values[line.outputs[2]] = self.add(aten.rsqrt.default, (shifted,), {})

    def _scaled(self, combine: OpOverload, arguments: Sequence[Any]) -> Node:
        """``addcmul`` or ``addcdiv`` with a factor of run time (Adam's step size), in calls that take tensors."""
        start, one, other, factor = arguments
        scaled = self.add(
            aten.mul.Tensor, (self.add(combine, (one, other), {}), factor.args[0]), {}
        )
        return self.add(aten.add.Tensor, (start, scaled), {})

    def _constant(self, value: Any) -> Any:
        """An argument with the value of its number in place of a number of run time."""
        if isinstance(value, Node) and value.target is aten._local_scalar_dense.default:
            position = self.positions[str(value.args[0])]
            return self.fixed.setdefault(position, self.parameters[position].item())
        return value

    def add(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
        try:
            return super().add(target, args, kwargs)
        except CaptureError as error:
            if self.numbers and not self.fix_numbers:
                raise _NumberNeededError from error
            raise

    def _bind(self, names: Sequence[str], value: Any) -> None:
        """Names what a call returns, or the members of it."""
        if isinstance(value, list):
            self.values.update(zip(names, value, strict=True))
        elif not isinstance(value.meta["val"], list | tuple):
            self.values[names[0]] = value
        else:
            returns_list = len(names) == 1
            if returns_list:
                self.values[names[0]] = value
                return
            for index, name in enumerate(names):
                self.values[name] = self.member(value, index)

    def _as_promised(self, node: Node, promise: TensorType) -> Node:
        """The result in the dtype the device has told its user.

        The graph does not know that a rank-0 tensor was a Python number, which takes no part in type promotion.
        """
        fake = node.meta["val"]
        if fake.shape != promise.shape:
            raise CaptureError(
                f"a result of the lazy graph has shape {list(fake.shape)}, the device promised {list(promise.shape)}",
                op=str(node.target),
            )
        if fake.dtype == promise.dtype:
            return node
        return self.add(aten._to_copy.default, (node,), {"dtype": promise.dtype})


def _value_variant(name: str) -> str:
    """``view`` for ``view_copy``: the dialect's tensors are values, a view of one is a copy."""
    base = name.removesuffix("_copy")
    return base if base != name and hasattr(aten, base) else name


_DTYPES = {number: dtype for dtype, number in dtypes.SCALAR_TYPE.items()}
_MEMORY_FORMATS = (
    torch.contiguous_format,
    torch.preserve_format,
    torch.channels_last,
    torch.channels_last_3d,
)


def _typed(type: str, value: Any) -> Any:
    """TorchScript writes dtypes, layouts and memory formats as integers; here they are what PyTorch takes."""
    if not isinstance(value, int):
        return value
    if "ScalarType" in type:
        return _DTYPES[value]
    if "MemoryFormat" in type:
        return _MEMORY_FORMATS[value]
    return torch.strided if "Layout" in type else value


_FITS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, torch.Tensor),
    "number": lambda v: isinstance(v, int | float | complex | torch.SymFloat | torch.SymInt),
    "int": lambda v: isinstance(v, int | torch.SymInt) and not isinstance(v, bool),
    "SymInt": lambda v: isinstance(v, int | torch.SymInt) and not isinstance(v, bool),
    "float": lambda v: (
        isinstance(v, int | float | torch.SymFloat | torch.SymInt) and not isinstance(v, bool)
    ),
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "Device": lambda v: isinstance(v, torch.device),
    "Generator": lambda v: isinstance(v, torch.Generator),
}


def _fits(type: Any, value: Any) -> bool:
    """Whether a value may be passed where the schema has this type."""
    kind = type.kind()
    if kind == "OptionalType":
        return value is None or _fits(type.getElementType(), value)
    if kind == "ListType":
        return isinstance(value, list) and all(_fits(type.getElementType(), v) for v in value)
    if kind == "TensorType":
        return isinstance(value, torch.Tensor)
    fits = _FITS.get(str(type))
    return fits is not None and fits(value)


def _overload(
    name: str, arguments: Sequence[Any]
) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """The overload whose schema the arguments fit, and the call of it; all arguments are given, in schema order."""
    packet = getattr(aten, name, None)
    values = torch.fx.node.map_arg(list(arguments), lambda n: n.meta["val"])
    for overload in packet.overloads() if packet is not None else ():
        target: OpOverload = getattr(packet, overload)
        parameters = target._schema.arguments
        if len(parameters) != len(values) or any(
            p.alias_info is not None and p.is_out for p in parameters
        ):
            continue
        if all(_fits(p.type, v) for p, v in zip(parameters, values, strict=True)):
            pairs = [
                (p, _typed(str(p.real_type), v)) for p, v in zip(parameters, arguments, strict=True)
            ]
            args = tuple(v for p, v in pairs if not p.kwarg_only)
            return (
                target,
                args,
                {
                    p.name: v
                    for p, v in pairs
                    if p.kwarg_only and not (v is None and p.has_default_value())
                },
            )
    shown = ", ".join(type(value).__name__ for value in values)
    raise CaptureError(f"PyTorch has no aten.{name} that takes ({shown})", op=f"aten::{name}")
