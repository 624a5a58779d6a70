"""A captured program: its module, how its function is called, and its text."""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.dialects.torch.types import ValueTensorType

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class UserInput:
    """A function argument the caller passes.

    ``position`` counts the leaves of the call's arguments; ``type`` is None for a symbolic integer.
    """

    name: str
    position: int
    type: ValueTensorType | None


@dataclass(frozen=True)
class Layout:
    """How an input lies in memory: its strides, and where in its storage it starts if that matters.

    ``is_written`` says that the program writes to the input, or to what shares its memory for such strides,
    ``is_asked`` that the model's code asks for them.
    """

    strides: Sequence[KnownSize]
    offset: int | None = None
    is_written: bool = False
    is_asked: bool = False


class Flag(NamedTuple):
    """What a tensor of a call answered to the model's code.

    Attributes:
        position: of the argument.
        name: what it was asked: ``requires_grad``.
        value: the answer.
    """

    position: int
    name: str
    value: Hashable


@dataclass(frozen=True)
class Decision:
    """What the code of a model, or of a decomposition, asked about sizes.

    Attributes:
        asked: the question, as a Python expression over symbols.
        answer: what it went on with.
        symbols: in the question.
        location: the line of the model.
        of_model: whether the model asked; decompositions are traced for several sizes, and differ for 0 and 1 only.
    """

    asked: str
    answer: bool
    symbols: tuple[str, ...]
    location: str
    of_model: bool

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether the answer is the same for given values of the symbols; true if they do not give one."""
        known = all(name in sizes for name in self.symbols)
        matters = self.of_model or any(sizes.get(name, 2) < 2 for name in self.symbols)
        if not known or not matters:
            return True
        try:
            return bool(eval(_code(self.asked), _WORDS, dict(sizes))) == self.answer
        except ZeroDivisionError:
            return True


@dataclass(frozen=True)
class Check:
    """A function result that is true where a program may go on: what it asserts of elements.

    Attributes:
        message: what does not hold where it is false.
        location: the line of the model.
    """

    message: str
    location: str


@dataclass(frozen=True)
class Precondition:
    """Between which integers the elements of an argument are, which are looked at before a call.

    Attributes:
        argument: its place among the function's.
        lowest, highest: the bounds.
        message: what does not hold outside of them.
        location: the line of the model.
        ignored: an integer outside of them that may be an element.
    """

    argument: int
    lowest: int
    highest: int
    message: str
    location: str
    ignored: int | None = None


_WORDS: dict[str, Any] = {
    "__builtins__": {},
    "math": math,
    **{word.__name__: word for word in (min, max, float, int, abs, round, len, range)},
}
"""What expressions of sizes are written with."""


@cache
def _code(expression: str) -> CodeType:
    return compile(expression, "<sizes>", "eval")


@dataclass(frozen=True)
class ConstantInput:
    """A leaf of the call's arguments that was fixed at capture time and is no function argument."""

    name: str
    position: int
    value: Any


@dataclass(frozen=True)
class StateInput:
    """A function argument the runtime passes: a buffer the program mutates, or a weight passed as an argument."""

    name: str
    tensor: Any
    type: ValueTensorType | None = None


@dataclass(frozen=True)
class SeedInput:
    """The last function argument of a program that draws random numbers: all of them are functions of this integer.

    The runtime draws it from PyTorch's default generator at every call; ``torch.manual_seed`` makes runs repeat.
    """

    type: ValueTensorType

    @staticmethod
    def draw() -> torch.Tensor:
        """The next one: a tensor of rank 0 and dtype int64."""
        import torch

        return torch.empty((), dtype=torch.int64).random_(-(1 << 63), None)


@dataclass(frozen=True)
class SizeInput:
    """A function argument behind all others: the real value of a size that is rounded up, as a tensor of rank 0.

    ``position`` counts from the end of what the runtime passes.
    """

    name: str
    position: int
    type: ValueTensorType


@dataclass(frozen=True)
class UserOutput:
    """A function result the caller gets; ``type`` is None for a Python number."""

    type: ValueTensorType | None


@dataclass(frozen=True)
class ConstantOutput:
    """A part of the caller's result that is the same in every call and no function result."""

    value: Any


@dataclass(frozen=True)
class ArgumentOutput:
    """A part of the caller's result that is the tensor given at ``position`` itself, and no function result."""

    position: int


@dataclass(frozen=True)
class Mutation:
    """A function result that is written back into a buffer, or into the caller's input at ``position``."""

    name: str
    position: int | None = None


FunctionInput = UserInput | StateInput | SeedInput | SizeInput
Output = UserOutput | ConstantOutput | ArgumentOutput


@dataclass
class Signature:
    """The calling convention of a captured program.

    The function takes the user inputs, then the state inputs, then the seed if it draws random numbers. It returns the
    mutations, then the user outputs, then the checks if the program is for an engine.
    Constant inputs and outputs exist only here. ``in_spec`` and ``out_spec`` are the pytrees of the call and of its
    result; ``ranges`` bounds the symbols that sizes are expressed in. ``parameters`` are the model's own, if they are
    known; ``size_names`` are the names the user gave sizes, by symbol, ``free_sizes`` those (position of the input and
    dimension) whose bounds the user left to capture. ``layouts`` are those that inputs must have,
    by position, where the program reads memory. ``decisions`` are what code asked about sizes.
    ``caches`` are those of the arguments that the result has, by their places among the caches of both, and whether
    the model changes them as objects. ``preconditions`` are looked at before a call, ``checks`` after it.
    ``returned`` are the results that are arguments, the same tensors, by their places. ``flags`` are what code asked
    about argument tensors; ``arrangements`` are what of the arguments' may not be another: the ``order`` of
    dictionaries, the ``type`` of lists and tuples.
    """

    inputs: list[FunctionInput] = field(default_factory=list)
    constants: list[ConstantInput] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    in_spec: Any = None
    out_spec: Any = None
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    parameters: inspect.Signature | None = None
    size_names: Mapping[str, str] = field(default_factory=dict)
    free_sizes: frozenset[tuple[int, int]] = frozenset()
    layouts: dict[int, Layout] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    caches: list[tuple[int, int, bool]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    preconditions: list[Precondition] = field(default_factory=list)
    returned: Mapping[int, int] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    arrangements: frozenset[str] = frozenset()

    @property
    def user_inputs(self) -> Sequence[UserInput]:
        """The arguments the caller passes, in order."""
        return [i for i in self.inputs if isinstance(i, UserInput)]

    @property
    def state_inputs(self) -> Sequence[StateInput]:
        """The tensors the runtime passes, in order."""
        return [i for i in self.inputs if isinstance(i, StateInput)]

    @property
    def written_state(self) -> Sequence[StateInput]:
        """Those of the state inputs that the program writes to."""
        names = {mutation.name for mutation in self.mutations if mutation.position is None}
        return [state for state in self.state_inputs if state.name in names]


@dataclass
class Program:
    """A module with one public function, and its calling convention.

    ``model`` is the Python module or function that it was captured from, and ``reads_elements`` tells whether the code
    of that has got elements of tensors it holds as numbers, which are constants here.
    """

    module: ModuleOp
    signature: Signature
    func_name: str = "main"
    output_type: str = "raw"
    model: Any = None
    reads_elements: bool = False

    def reached(self, output_type: str) -> None:
        """Notes that the module has been lowered, in place, to ``output_type``."""
        if self.output_type == "raw":
            arguments = entry_function(self.module, self.func_name).body.block.args
            if len(arguments) > len(self.signature.inputs):  # random numbers have got a seed
                self.signature.inputs.append(SeedInput(arguments[-1].type))  # type: ignore[arg-type]
        self.output_type = output_type


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function a program is called by."""
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and function.sym_name.data == name:
            return function
    raise KeyError(f"there is no function @{name}")


def renamed(program: Program, name: str) -> Program:
    """The program under another name of its function; in place."""
    entry_function(program.module, program.func_name).properties["sym_name"] = StringAttr(name)
    program.func_name = name
    return program
