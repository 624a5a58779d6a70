"""A random program: lines of PyTorch code with what they are called with, and the module they make."""

from __future__ import annotations

import linecache
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.while_loop import while_loop as traced_while_loop

LIKE_FUNCTIONS = {1: "hash", 2: "filter"}
"""Names of arguments, by their places, that a function of Python's has too."""
NAME = re.compile(rf"\b(?:[xv]\d+|{'|'.join(LIKE_FUNCTIONS.values())})\b")
WRITE = re.compile(r"\w_\(|^\s*\w+(\[.*\])? [-+*]= |^\s*\w+\[.*\] = ", re.MULTILINE)
LAYER = re.compile(r"\bself\.([lb]\d+)\b")
SYMBOLS = ("B", "S")
"""Names of sizes that may vary."""


@dataclass(frozen=True)
class Sizes:
    """What a program's sizes are.

    Attributes:
        fixed: those that do not vary are among these.
        most_elements: of a tensor.
        captured: those that vary, when it is captured.
        other: other ones that it is grown at.
        bounds: further ones to call it with.
        largest: the upper bound that is declared for them.
    """

    fixed: Sequence[int]
    most_elements: int
    captured: Mapping[str, int]
    other: Mapping[str, int]
    bounds: Sequence[Mapping[str, int]]
    largest: int


SMALL = Sizes(
    fixed=(1, 2, 3, 3, 4, 5),
    most_elements=640,
    captured={"B": 5, "S": 4},
    other={"B": 7, "S": 6},
    bounds=({"B": 0, "S": 4}, {"B": 1, "S": 1}, {"B": 8, "S": 8}, {"B": 5, "S": 0}),
    largest=8,
)
WIDE = Sizes(
    fixed=(1, 2, 3, 7, 8, 15, 16, 17, 32, 33, 64),
    most_elements=4096,
    captured={"B": 17, "S": 33},
    other={"B": 16, "S": 40},
    bounds=({"B": 0, "S": 32}, {"B": 1, "S": 1}, {"B": 64, "S": 64}, {"B": 31, "S": 15}),
    largest=64,
)
"""Those of vectors and tiles and around them, which engines compute otherwise than what does not fill one."""
BLOCKS = Sizes(
    fixed=(1, 2, 8, 24, 33, 64),
    most_elements=100_000,
    captured={"B": 48, "S": 64},
    other={"B": 33, "S": 96},
    bounds=({"B": 1, "S": 64}, {"B": 1, "S": 1}, {"B": 64, "S": 96}, {"B": 2, "S": 33}),
    largest=96,
)
"""Those of products that kernels compute in blocks."""
LARGE = Sizes(
    fixed=(1, 3, 4, 16, 40, 250, 1000),
    most_elements=200_000,
    captured={"B": 40, "S": 1000},
    other={"B": 33, "S": 1203},
    bounds=({"B": 0, "S": 900}, {"B": 1, "S": 1}, {"B": 64, "S": 2048}, {"B": 31, "S": 700}),
    largest=2048,
)
"""Those of tensors that several threads compute, long enough to be seen half done."""


def cond(predicate: Any, on_true: Any, on_false: Any, operands: Sequence[Any]) -> Any:
    """``torch.cond``; eagerly a branch of Python's, because PyTorch compiles something at every call."""
    if torch.compiler.is_exporting():
        return torch.cond(predicate, on_true, on_false, operands)
    return on_true(*operands) if bool(predicate) else on_false(*operands)


def while_loop(condition: Any, body: Any, carried: Sequence[Any]) -> Any:
    """PyTorch's ``while_loop``; eagerly a loop of Python's, for the same reason."""
    if torch.compiler.is_exporting():
        return traced_while_loop(condition, body, carried)
    while bool(condition(*carried)):
        carried = body(*carried)
    return carried


SPECIAL = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.0, -1.5, 2.0, 0.5, -3.0)
NAMES: Mapping[str, Any] = {
    "torch": torch,
    "nn": nn,
    "F": F,
    "cond": cond,
    "while_loop": while_loop,
}
"""What the lines of a program may name."""


@dataclass(frozen=True)
class Input:
    """An argument.

    Attributes:
        name: ``x0`` and so on, or one of :data:`LIKE_FUNCTIONS`.
        dtype: PyTorch's name of it.
        shape: sizes, or names of those that vary.
        kind: ``grid`` (small multiples of a quarter, exact in every dtype), ``normal``, ``special`` (NaN,
            infinities, both zeros) or ``large`` (integers at the ends of their range).
        below: integers are not negative and below this, to be positions; 0 if they are just numbers.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    kind: str = "grid"
    below: int = 0

    def draw(self, seed: int, sizes: Mapping[str, int]) -> torch.Tensor:
        """Elements for a call."""
        dtype: torch.dtype = getattr(torch, self.dtype)
        shape = [size if isinstance(size, int) else sizes[size] for size in self.shape]
        generator = torch.Generator().manual_seed(seed)
        if dtype is torch.bool:
            return torch.randint(0, 2, shape, generator=generator).bool()
        if self.below:
            return torch.randint(0, self.below, shape, generator=generator).to(dtype)
        if self.kind == "special":
            chosen = torch.randint(0, len(SPECIAL), shape, generator=generator)
            return torch.tensor(SPECIAL, dtype=dtype)[chosen]
        if self.kind == "normal":
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
        if self.kind == "large":
            low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
            ends = torch.tensor([low, low + 1, -1 if low else 1, 0, 1, high - 1, high], dtype=dtype)
            return ends[torch.randint(0, len(ends), shape, generator=generator)]
        if dtype.is_floating_point:
            return (torch.randint(-12, 13, shape, generator=generator) / 4).to(dtype)
        low = 0 if dtype is torch.uint8 else -5
        return torch.randint(low, 6, shape, generator=generator).to(dtype)


@dataclass(frozen=True)
class Output:
    """A result.

    Attributes:
        name: of the variable.
        error: how far from eager's an element may be, in absolute terms; 0 where it is exact.
        signed: whether the sign of a zero is defined.
    """

    name: str
    error: float
    signed: bool


@dataclass(frozen=True)
class Program:
    """A program; plain data, so that it goes to another process and into a report.

    Attributes:
        seed: it was generated from, and its weights are made with.
        inputs: its arguments.
        layers: lines of ``__init__``.
        lines: statements of ``forward``; each may span several lines of text.
        outputs: its results.
        training: whether its layers are in training mode.
        written: what may be expected of the arguments after a call, one for each.
        sizes: of its arguments.
    """

    seed: int
    inputs: tuple[Input, ...]
    layers: tuple[str, ...]
    lines: tuple[str, ...]
    outputs: tuple[Output, ...]
    training: bool = False
    written: tuple[Output, ...] = ()
    sizes: Sizes = SMALL

    @property
    def dynamic(self) -> bool:
        """Whether a size varies."""
        return any(isinstance(size, str) for x in self.inputs for size in x.shape)

    @property
    def writes(self) -> bool:
        """Whether something is written in place."""
        return any(WRITE.search(line) for line in self.lines)

    def text(self) -> str:
        """The program as code."""
        head = [
            "class Program(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
        ]
        init = [f"        {line}" for line in self.layers]
        names = "".join(f", {x.name}" for x in self.inputs)
        body = [f"        {part}" for line in self.lines for part in line.split("\n")]
        results = "".join(f"{output.name}, " for output in self.outputs).rstrip()
        forward = [f"    def forward(self{names}):", *body, f"        return ({results})"]
        return "\n".join([*head, *init, "", *forward]) + "\n"

    def report(self) -> str:
        """The program, and how it is called."""
        calls = [
            f"# {x.name}: {x.dtype}{list(x.shape)}".replace("'", "")
            + (f" below {x.below}" if x.below else f" ({x.kind})")
            for x in self.inputs
        ]
        mode = "train" if self.training else "eval"
        head = f"# seed {self.seed}, {'dynamic' if self.dynamic else 'static'}, .{mode}()"
        return "\n".join([head, *calls, self.text()])

    def file(self) -> str:
        """What its lines are said to be of."""
        return f"fuzz_{abs(hash(self.report()))}.py"

    def module(self) -> nn.Module:
        """The module, with the same weights at every call."""
        source, file = self.text(), self.file()
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        namespace = dict(NAMES)
        exec(compile(source, file, "exec"), namespace)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed % 2**31)
            made: nn.Module = namespace["Program"]()
        return made.train(self.training)

    def arguments(self, draw: int, sizes: Mapping[str, int]) -> list[torch.Tensor]:
        """The arguments of a call; ``draw`` numbers the values."""
        return [
            x.draw((self.seed * 31 + number * 7 + draw * 1009) % 2**31, sizes)
            for number, x in enumerate(self.inputs)
        ]

    def pruned(self) -> Program:
        """The program without what no result needs: an in-place line is needed by all that follows it."""
        wanted = {output.name for output in self.outputs}
        lines = list[str]()
        for line in reversed(self.lines):
            names = set(NAME.findall(line))
            if names & wanted or "self.b" in line or WRITE.search(line):
                lines.append(line)
                wanted |= names
        kept = tuple(reversed(lines))
        layers = {name for line in kept for name in LAYER.findall(line)}
        inputs = tuple(x for x in self.inputs if x.name in wanted) or self.inputs[:1]
        names = {x.name for x in inputs}
        return replace(
            self,
            lines=kept,
            written=tuple(given for given in self.written if given.name in names),
            layers=tuple(line for line in self.layers if layers & set(_layer_names(line))),
            inputs=inputs,
        )


def _layer_names(line: str) -> Iterator[str]:
    yield from re.findall(r"\b[lb]\d+\b", line)


def random_from(seed: int) -> random.Random:
    """The source of a program's choices."""
    return random.Random(seed * 2654435761 % 2**32)
