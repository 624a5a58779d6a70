"""Programs grown line by line: a line is kept if eager PyTorch takes it and its values stay numerically meaningful.

Every value carries a bound on how far from eager's an engine may be. A value whose bound is 0 is the same on every engine
to the last bit: small multiples of a quarter that were added, multiplied, compared and moved. What jumps (comparisons, floor,
positions, casts to integers) takes only those, so that a rounding error is never magnified to a difference that means nothing;
everything else adds its own rounding and passes on that of its operands, and the bound is the tolerance of the comparison.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import prod
from textwrap import indent
from typing import Any

import torch
from torch import nn

from tests.fuzz.program import (
    LIKE_FUNCTIONS,
    NAME,
    NAMES,
    SMALL,
    SYMBOLS,
    WIDE,
    Input,
    Output,
    Program,
    Sizes,
    random_from,
)

FLOATS = ("float32", "float32", "float32", "float32", "float16", "bfloat16", "float64")
REGIONS = ("no_grad", *[""] * 19)
"""What lines are in: one in twenty is in a region."""
INTEGERS = ("int64", "int64", "int32", "int32", "uint8", "int8", "int16")


class NoFit(Exception):
    """A kind of line that does not fit the values there are."""


@dataclass
class Value:
    """A variable while a program grows.

    Attributes:
        name: of the variable.
        tensors: what it is at each of the sizes the program is grown at.
        error: how far an engine may be from eager, absolute.
        grid: whether its elements are small multiples of a power of two.
        signed: whether the sign of its zeros is defined.
    """

    name: str
    tensors: list[torch.Tensor]
    error: float
    grid: bool
    signed: bool

    def __str__(self) -> str:
        return self.name

    @property
    def dtype(self) -> torch.dtype:
        """Of the tensor."""
        return self.tensors[0].dtype

    @property
    def rank(self) -> int:
        """Of the tensor."""
        return self.tensors[0].dim()

    @property
    def shape(self) -> torch.Size:
        """At capture."""
        return self.tensors[0].shape

    @property
    def is_float(self) -> bool:
        """Whether it has a floating-point dtype."""
        return self.dtype.is_floating_point

    @property
    def is_integer(self) -> bool:
        """Whether it has an integer dtype; booleans have not."""
        return not self.is_float and self.dtype is not torch.bool

    def varies(self, dim: int) -> bool:
        """Whether a size is another one at other sizes of the inputs."""
        return len({tensor.shape[dim] for tensor in self.tensors}) > 1

    def size(self, dim: int) -> str:
        """A size as code: a number, or a question to the tensor."""
        return f"{self}.shape[{dim}]" if self.varies(dim) else str(self.shape[dim])

    def largest(self) -> float:
        """The largest finite magnitude."""
        return max((_largest(tensor) for tensor in self.tensors), default=0.0)


def _largest(tensor: torch.Tensor) -> float:
    wide = tensor.detach().double().abs()
    wide = wide[wide.isfinite()]
    return float(wide.max()) if wide.numel() else 0.0


@dataclass
class Draft:
    """A line that may be added.

    Attributes:
        text: the statement; ``{out}`` and ``{out2}`` are the names of new variables.
        rounds: ``never`` (elements are moved), ``inexact`` (on a grid the result is exact) or ``always``.
        gain: by how much an error of an operand grows.
        terms: how many of an operand's elements are added up, which may be larger than their sum.
        jumps: whether operands must be exact.
        signed: whether the sign of zeros is defined if it is in the operands.
        layers: new lines of ``__init__``.
        writes: whether it changes a variable in place.
    """

    text: str
    rounds: str = "inexact"
    gain: float = 1.0
    terms: float = 1.0
    jumps: bool = False
    signed: bool = True
    layers: Sequence[str] = ()
    writes: bool = False


Family = Callable[["Scope"], Draft]
FAMILIES: dict[str, list[tuple[int, Family]]] = {}
"""Kind of program -> its lines and how often they are tried."""


def line(family: str, weight: int = 1) -> Callable[[Family], Family]:
    """Registers a kind of line."""

    def register(function: Family) -> Family:
        FAMILIES.setdefault(family, []).append((weight, function))
        return function

    return register


class Scope:
    """A program that grows."""

    def __init__(
        self, seed: int, dynamic: bool, special: bool, training: bool, sizes: Sizes = SMALL
    ) -> None:
        self.seed, self.special = seed, special
        self.sizes = sizes
        self.rng: random.Random = random_from(seed)
        self.environments = [self.sizes.captured, self.sizes.other][: 1 + dynamic]
        self.dynamic = dynamic
        self.values: list[Value] = []
        self.inputs: list[Input] = []
        self.lines: list[str] = []
        self.layers: list[str] = []
        self.training = training
        self.holders = [nn.Module().train(training) for _ in self.environments]
        self.written = set[str]()

    # what lines ask for

    def pick(
        self,
        *,
        dtype: str = "",
        rank: int = 0,
        most: int = 9,
        exact: bool = False,
        nonempty: bool = False,
    ) -> Value:
        """A variable; ``dtype`` is ``float``, ``integer``, ``number``, ``bool`` or a dtype of PyTorch's."""
        fitting = [
            value
            for value in self.values
            if rank <= value.rank <= most
            and _is_kind(value, dtype)
            and not (exact and value.error)
            and not (nonempty and any(not t.numel() for t in value.tensors))
        ]
        if not fitting:
            raise NoFit
        latest = fitting[-3:]
        return self.rng.choice(latest if self.rng.random() < 0.6 else fitting)

    def like(self, other: Value, **wanted: Any) -> Value:
        """A variable that broadcasts with another."""
        for _ in range(4):
            value = self.pick(**wanted)
            try:
                for one, two in zip(value.tensors, other.tensors, strict=True):
                    torch.broadcast_shapes(one.shape, two.shape)
            except RuntimeError:
                continue
            return value
        raise NoFit

    def dim(self, value: Value) -> int:
        """A dimension of a value, from the front or the back."""
        if not value.rank:
            raise NoFit
        return self.rng.randrange(-value.rank, value.rank)

    def fixed_size(self, value: Value, dim: int) -> int:
        """A size that does not vary."""
        if value.varies(dim):
            raise NoFit
        return int(value.shape[dim])

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.rng.random() < probability

    def choice(self, among: Sequence[Any]) -> Any:
        """One of them."""
        return self.rng.choice(among)

    def positions(self, rank: int, below: int) -> Value:
        """A new argument of places below a size."""
        shape = tuple(self.rng.randint(1, 4) for _ in range(rank))
        dtype = self.choice(["int64", "int64", "int64", "int32"])
        return self.add_input(Input(self._argument(), dtype, shape, below=below))

    def input_like(self, shape: Sequence[int | str], dtype: str, kind: str = "grid") -> Value:
        """A new argument of a shape."""
        return self.add_input(Input(self._argument(), dtype, tuple(shape), kind))

    def _argument(self) -> str:
        number = len(self.inputs)
        return LIKE_FUNCTIONS.get(number, f"x{number}")

    def layer(self, constructor: str) -> tuple[str, str]:
        """The name of a new layer and its line of ``__init__``."""
        name = f"l{len(self.layers)}"
        return f"self.{name}", f"self.{name} = {constructor}"

    # growing

    def add_input(self, given: Input) -> Value:
        """A new argument."""
        self.inputs.append(given)
        tensors = [given.draw(self.seed, sizes) for sizes in self.environments]
        value = Value(given.name, tensors, 0.0, given.kind == "grid", True)
        self.values.append(value)
        return value

    def draw_input(self) -> Value:
        """An argument of any kind."""
        if self.special:
            dtype, kind = (
                self.choice(["float32"] * 4 + ["float16", "bfloat16", "float64"]),
                "special",
            )
        elif (dice := self.rng.random()) < 0.62:
            dtype, kind = self.choice(FLOATS), self.choice(["grid", "grid", "normal"])
        elif dice < 0.9:
            dtype = self.choice(INTEGERS)
            kind = "large" if self.chance(0.08) else "grid"
        else:
            dtype, kind = "bool", "grid"
        rank = self.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        shape = [self._size() for _ in range(rank)]
        while prod(lengths := [self._length(size) for size in shape]) > self.sizes.most_elements:
            shape[lengths.index(max(lengths))] = 3
        return self.input_like(shape, dtype, kind)

    def _length(self, size: int | str) -> int:
        """A size when the program is captured."""
        return size if isinstance(size, int) else self.sizes.captured[size]

    def _size(self) -> int | str:
        if self.dynamic and self.chance(0.5):
            return str(self.choice(SYMBOLS))
        return 0 if self.chance(0.015) else int(self.choice(self.sizes.fixed))

    def try_line(self, family: Family) -> bool:
        """Adds a line if it fits."""
        inputs, values = len(self.inputs), len(self.values)
        try:
            if self._add(family(self)):
                return True
        except NoFit:
            pass
        del self.inputs[inputs:], self.values[values:]
        return False

    def _add(self, draft: Draft) -> bool:
        names = {"out": f"v{len(self.lines)}0", "out2": f"v{len(self.lines)}1"}
        text = self._in_region(draft.text.format(**names))
        by_name = {value.name: value for value in self.values}
        used = [by_name[name] for name in dict.fromkeys(NAME.findall(text)) if name in by_name]
        if draft.jumps and any(value.error for value in used):
            return False
        before = self._saved() if draft.writes else None
        made = self._run(text, draft.layers, [name for name in names.values() if name in text])
        if made is None:
            self._restore(before)
            return False
        changed = self._sharing(used) if draft.writes else []
        after = [self._judged(name, tensors, used, draft) for name, tensors in made.items()]
        touched = [self._judged(v.name, v.tensors, [v, *used], draft) for v in changed]
        if not all(self._is_tame(value) for value in (*after, *touched)):
            self._restore(before)
            return False
        for value, new in zip(changed, touched, strict=True):
            value.error, value.grid, value.signed = new.error, new.grid, new.signed
        self.lines.append(text)
        self.layers.extend(draft.layers)
        self.values.extend(after)
        return True

    def _in_region(self, text: str) -> str:
        """A line, or the line in a region of autograd, which an exported program has as a body of its own."""
        mode = random_from(self.seed ^ (len(self.lines) << 20)).choice(REGIONS)
        return f"with torch.{mode}():\n{indent(text, ' ' * 4)}" if mode else text

    def _run(
        self, text: str, layers: Sequence[str], names: Sequence[str]
    ) -> dict[str, list[torch.Tensor]] | None:
        """What the line makes at each of the sizes, unless PyTorch refuses it."""
        results: dict[str, list[torch.Tensor]] = {name: [] for name in names}
        for number, holder in enumerate(self.holders):
            scope = {**NAMES, "self": holder}
            scope |= {value.name: value.tensors[number] for value in self.values}
            try:
                with torch.no_grad(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for each in layers:
                        torch.manual_seed(self.seed)
                        exec(each, scope)
                    holder.train(self.training)
                    exec(text, scope)
            except Exception:
                return None
            for name in names:
                if not isinstance(scope[name], torch.Tensor) or scope[name].dtype.is_complex:
                    return None
                results[name].append(scope[name])
        return results

    def _saved(self) -> Any:
        return deepcopy([(value, value.tensors) for value in self.values])

    def _restore(self, saved: Any) -> None:
        if saved is not None:
            for value, (_, tensors) in zip(self.values, saved, strict=True):
                value.tensors = tensors

    def _sharing(self, used: Sequence[Value]) -> list[Value]:
        """The variables that share memory with those that a line names."""
        storages = {value.tensors[0].untyped_storage().data_ptr() for value in used}
        return [v for v in self.values if v.tensors[0].untyped_storage().data_ptr() in storages]

    def _judged(
        self, name: str, tensors: list[torch.Tensor], used: Sequence[Value], draft: Draft
    ) -> Value:
        value = Value(name, tensors, 0.0, False, True)
        inherited = max((u.error for u in used), default=0.0)
        value.signed = draft.signed and all(u.signed or not u.is_float for u in used)
        value.grid = all(u.grid for u in used) and _on_grid(value)
        if not value.is_float:
            return value  # what makes integers of floats jumps
        if draft.rounds == "never":
            value.error = inherited
            return value
        value.error = draft.gain * sum(u.error for u in used)
        if draft.rounds == "always" or value.error or not value.grid:
            # the coarsest of the dtypes: engines may compute a half in f32, or not
            eps = max(torch.finfo(v.dtype).eps for v in (value, *used) if v.is_float)
            partial_sums = draft.terms**0.5 * max((u.largest() for u in used), default=0.0)
            value.error += (
                4 * eps * max(1.0, value.largest(), partial_sums if draft.terms > 1 else 0.0)
            )
            value.grid = False
        return value

    def _is_tame(self, value: Value) -> bool:
        most = self.sizes.most_elements
        if any(tensor.numel() > most or tensor.dim() > 5 for tensor in value.tensors):
            return False
        if self.special or not value.is_float:
            return value.error < 1
        finite = all(bool(tensor.isfinite().all()) for tensor in value.tensors)
        return finite and value.largest() < 2**10 and value.error < 0.05 * max(1.0, value.largest())

    def program(self) -> Program:
        """The program as it is: the last values, and every variable that was written in place."""
        used = [name for text in self.lines for name in set(NAME.findall(text))]
        made = [value for value in self.values if value.name.startswith("v")]
        last = [value for value in made if used.count(value.name) == 1 or value is made[-1]][-6:]
        outputs = tuple(Output(v.name, v.error, v.signed) for v in last)
        given = {v.name: Output(v.name, v.error, v.signed) for v in self.values}
        whole = Program(
            self.seed,
            tuple(self.inputs),
            tuple(self.layers),
            tuple(self.lines),
            outputs,
            self.training,
            tuple(given[x.name] for x in self.inputs),
            self.sizes,
        )
        return whole.pruned()


def _is_kind(value: Value, dtype: str) -> bool:
    match dtype:
        case "":
            return True
        case "float":
            return value.is_float
        case "integer":
            return value.is_integer
        case "number":
            return value.dtype is not torch.bool
        case _:
            return value.dtype is getattr(torch, dtype)


def _on_grid(value: Value) -> bool:
    """Whether the elements are so small and so round that a few more operations stay exact, with other values too."""
    if not value.is_float:
        return value.largest() <= 2**20
    bits = {torch.float16: 11, torch.bfloat16: 8}.get(value.dtype, 24)
    scale = 2 ** (bits // 3)
    for tensor in value.tensors:
        wide = tensor.detach().double()
        wide = wide[wide.isfinite()]
        if wide.numel() and not bool((wide * scale == (wide * scale).round()).all()):
            return False
    return value.largest() <= 2 ** (bits // 3)


def generate(
    seed: int,
    families: Sequence[str] = (),
    dynamic: bool | None = None,
    lines: int = 0,
    sizes: Sizes | None = None,
) -> Program:
    """The program of a seed.

    Args:
        seed: decides everything.
        families: kinds of lines, all of them if empty.
        dynamic: whether sizes vary; the seed decides if it is None.
        lines: how many lines are tried; the seed decides if it is 0.
        sizes: what the inputs' may be; the seed decides between few and those of vectors and tiles if it is None.
    """
    chooser = random_from(seed ^ 0x5EED)
    decided = chooser.random() < 0.25 if dynamic is None else dynamic
    special = chooser.random() < 0.12
    training = chooser.random() < 0.3
    among = sizes or (WIDE if random_from(seed ^ 0x51DE).random() < 0.2 else SMALL)
    named = families or FAMILIES.keys() - APART
    wanted = [name for name in sorted(FAMILIES) if name in named]
    if special:
        wanted = [name for name in wanted if name in SPECIAL_FAMILIES] or wanted
    # a few families a program: lines that have to do with each other meet more often
    some = chooser.sample(wanted, min(len(wanted), chooser.choice([1, 2, 2, 3, len(wanted)])))
    table = [entry for name in some for entry in FAMILIES[name]]
    attempt = 0
    while True:
        scope = Scope(seed + attempt * 10**12, decided, special, training, among)
        scope.seed = seed
        for _ in range(scope.choice([1, 1, 2, 2, 3])):
            scope.draw_input()
        wanted_lines = lines or scope.choice([1, 2, 3, 4, 5, 6, 8])
        for _ in range(wanted_lines * 6):
            family = scope.rng.choices([f for _, f in table], [w for w, _ in table])[0]
            scope.try_line(family)
            if len(scope.lines) >= wanted_lines:
                break
        if scope.lines:
            program = scope.program()
            if program.dynamic == decided:
                return program
        attempt += 1


APART = {"blocks", "constants", "sizes"}
"""Kinds of lines that are only taken where they are named."""
SPECIAL_FAMILIES = ("elementwise", "movement", "comparison", "casts", "extrema", "writes")
"""Kinds of lines for which PyTorch says what becomes of NaN, infinities and the sign of zeros."""
