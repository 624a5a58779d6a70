"""Random programs: core ops composed over random shapes and dtypes, as hypothesis draws them.

A value is *exact* while every dialect computes it to the last bit: small whole numbers and halves that were added,
multiplied, compared and moved. Ops with jumps (comparisons, floor, positions, casts to integers) take exact values only, so
that a rounding error of an engine is never magnified into a difference that means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import nn

INPUT_DTYPES = (torch.float32, torch.int64, torch.int32, torch.bool, torch.uint8, torch.float16)
LARGEST = 2**10
"""An exact float stays below this, so that products of two are exact in float16's 11 bits only if small; see ``exact``."""


@dataclass(frozen=True)
class Step:
    """One call: ``function(*values at operands)``."""

    name: str
    function: Callable[..., torch.Tensor]
    operands: tuple[int, ...]


class Composition(nn.Module):
    """A program: inputs first, then a value per step; the last values are the outputs."""

    def __init__(self, steps: Sequence[Step], outputs: int) -> None:
        super().__init__()
        self.steps = list(steps)
        self.outputs = outputs

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Runs the steps."""
        values = list(inputs)
        for step in self.steps:
            values.append(step.function(*(values[i] for i in step.operands)))
        return tuple(values[-self.outputs :])

    def __repr__(self) -> str:
        return "; ".join(f"{step.name}{step.operands}" for step in self.steps)


@dataclass(frozen=True)
class Value:
    """What is known of a value while a program is drawn."""

    tensor: torch.Tensor
    exact: bool


Draw = Callable[..., Any]
Choice = tuple[str, Callable[..., torch.Tensor], bool] | None
"""A name, a function of the chosen values and whether its result is exact; None where the op does not fit."""


def _is_float(x: Value) -> bool:
    return x.tensor.dtype.is_floating_point


SMOOTH = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "atan": torch.atan,
    "gelu": nn.functional.gelu,
    "softsign": nn.functional.softsign,
    "exp_of_tanh": lambda x: torch.exp(torch.tanh(x)),
    "log1p_of_abs": lambda x: torch.log1p(torch.abs(x)),
    "rsqrt_of_square": lambda x: torch.rsqrt(1 + x * x),
}
EXACT_UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "relu": torch.relu,
    "halve": lambda x: x * 0.5,
    "clamp": lambda x: torch.clamp(x, -3, 3),
}
JUMPS = {
    "floor": torch.floor,
    "ceil": torch.ceil,
    "round": torch.round,
    "trunc": torch.trunc,
    "sign": torch.sign,
    "is_positive": lambda x: x > 0,
    "is_zero": lambda x: x == 0,
}
BINARY = {
    "add": torch.add,
    "sub": lambda x, y: x - y,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
COMPARISONS = {"lt": torch.lt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne}
REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin}


def unary(draw: Draw, x: Value) -> Choice:
    """A function of one value."""
    table = {**EXACT_UNARY}
    if x.tensor.dtype in (torch.bool, torch.uint8):
        return None
    if _is_float(x):
        table |= SMOOTH
        if x.exact:
            table |= JUMPS
    name = draw(st.sampled_from(sorted(table)))
    return name, table[name], x.exact and name not in SMOOTH


def binary(draw: Draw, x: Value, y: Value) -> Choice:
    """Arithmetic, or a comparison of exact values; shapes broadcast."""
    try:
        torch.broadcast_shapes(x.tensor.shape, y.tensor.shape)
    except RuntimeError:
        return None
    if torch.bool in (x.tensor.dtype, y.tensor.dtype):
        return None
    table = dict(BINARY)
    exact = x.exact and y.exact
    if exact:
        table |= COMPARISONS
    name = draw(st.sampled_from(sorted(table)))
    return name, table[name], exact


def where(draw: Draw, condition: Value, x: Value, y: Value) -> Choice:
    """A selection."""
    try:
        torch.broadcast_shapes(condition.tensor.shape, x.tensor.shape, y.tensor.shape)
    except RuntimeError:
        return None
    if condition.tensor.dtype is not torch.bool:
        return None
    return "where", torch.where, x.exact and y.exact


def reduction(draw: Draw, x: Value) -> Choice:
    """A reduction along some dimensions."""
    if not x.tensor.dim() or not x.tensor.numel() or x.tensor.dtype is torch.bool:
        return None
    dims = draw(st.sets(st.integers(0, x.tensor.dim() - 1), min_size=1))
    keepdim = draw(st.booleans())
    names = sorted(REDUCTIONS) if _is_float(x) else ["amax", "amin", "sum"]
    name = draw(st.sampled_from(names))
    function = REDUCTIONS[name]
    return (
        f"{name}{sorted(dims)}",
        lambda v: function(v, dim=sorted(dims), keepdim=keepdim),
        x.exact and name != "mean",
    )


def position(draw: Draw, x: Value) -> Choice:
    """The position of an extremum of exact values, or a running sum of integers."""
    if not x.tensor.dim() or not x.tensor.numel() or x.tensor.dtype is torch.bool or not x.exact:
        return None
    dim = draw(st.integers(0, x.tensor.dim() - 1))
    name = draw(st.sampled_from(["argmax", "argmin", "cumsum"]))
    function = getattr(torch, name)
    return f"{name}{dim}", lambda v: function(v, dim), True


def movement(draw: Draw, x: Value) -> Choice:
    """Other places for the same elements."""
    shape, rank = x.tensor.shape, x.tensor.dim()
    if not rank:
        return "unsqueeze", lambda v: v.unsqueeze(0), x.exact
    dim = draw(st.integers(0, rank - 1))
    order = draw(st.permutations(range(rank)))
    start = draw(st.integers(0, max(shape[dim] - 1, 0)))
    step = draw(st.integers(1, 2))
    moves: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        f"permute{order}": lambda v: v.permute(order),
        "flatten": lambda v: v.reshape(-1),
        f"unsqueeze{dim}": lambda v: v.unsqueeze(dim),
        f"flip{dim}": lambda v: v.flip(dim),
        f"slice{dim},{start}::{step}": lambda v: v.narrow(
            dim, start, v.shape[dim] - start
        ).index_select(dim, torch.arange(0, v.shape[dim] - start, step)),
        f"roll{dim}": lambda v: v.roll(1, dim),
        f"repeat{dim}": lambda v: torch.cat([v, v], dim),
        f"pad{dim}": lambda v: nn.functional.pad(v, [1, 2]),
        f"stack{dim}": lambda v: torch.stack([v, v.flip(dim)], dim),
        f"tril{dim}": lambda v: v.tril() if v.dim() > 1 else v.clone(),
    }
    name = draw(st.sampled_from(sorted(moves)))
    return name, moves[name], x.exact


def matmul(draw: Draw, x: Value) -> Choice:
    """A product with its own transpose, normed so that values stay small."""
    if x.tensor.dim() < 2 or x.tensor.dtype is not torch.float32 or not x.tensor.numel():
        return None
    return "gram", lambda v: torch.matmul(v, v.mT) / (1 + v.shape[-1] * v.abs().amax() ** 2), False


def softmax(draw: Draw, x: Value) -> Choice:
    """Softmax or a layer norm along the last dimension."""
    if not x.tensor.dim() or x.tensor.dtype is not torch.float32 or not x.tensor.numel():
        return None
    if draw(st.booleans()):
        return "softmax", lambda v: torch.softmax(v, -1), False
    return "log_softmax", lambda v: torch.log_softmax(v, 0), False


def cast(draw: Draw, x: Value) -> Choice:
    """Another dtype; integers only from exact values that fit."""
    wanted = [torch.float32]
    if x.exact:
        wanted += [torch.int64, torch.int32, torch.bool]
    dtype = draw(st.sampled_from(wanted))
    return f"to {dtype}", lambda v: v.to(dtype), x.exact


def gather(draw: Draw, x: Value, index: Value) -> Choice:
    """Elements at the places an integer vector says."""
    if not x.tensor.dim() or index.tensor.dtype not in (torch.int64, torch.int32):
        return None
    if index.tensor.dim() != 1 or not x.tensor.shape[0]:
        return None
    size = x.tensor.shape[0]
    return "take rows", lambda v, i: v[torch.remainder(i.long(), size)], x.exact


OPS: tuple[tuple[int, Callable[..., Choice]], ...] = (
    (1, unary),
    (1, movement),
    (2, binary),
    (1, reduction),
    (3, where),
    (1, position),
    (1, cast),
    (1, matmul),
    (1, softmax),
    (2, gather),
)


@st.composite
def compositions(draw: Draw) -> tuple[Composition, tuple[torch.Tensor, ...]]:
    """A program of up to eight steps and its inputs."""
    values = [_input(draw) for _ in range(draw(st.integers(1, 3)))]
    inputs = tuple(value.tensor for value in values)
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 8))):
        arity, op = draw(st.sampled_from(OPS))
        operands = tuple(draw(st.integers(0, len(values) - 1)) for _ in range(arity))
        chosen = op(draw, *(values[i] for i in operands))
        if chosen is None:
            continue
        name, function, exact = chosen
        result = function(*(values[i].tensor for i in operands))
        if result.numel() > 512 or not _is_tame(result):
            continue
        steps.append(Step(name, function, operands))
        values.append(Value(result, exact))
    return Composition(steps, max(1, min(3, len(steps)))), inputs


def _is_tame(x: torch.Tensor) -> bool:
    """Finite, and whole numbers small enough for every dtype they may meet."""
    if x.dtype is torch.bool:
        return True
    return bool(torch.isfinite(x.double()).all()) and bool((x.double().abs() <= LARGEST).all())


def _input(draw: Draw) -> Value:
    dtype = draw(st.sampled_from(INPUT_DTYPES))
    shape = draw(st.lists(st.integers(1, 5), min_size=0, max_size=3))
    seed = draw(st.integers(0, 2**16))
    generator = torch.Generator().manual_seed(seed)
    low = 0 if dtype in (torch.bool, torch.uint8) else -4
    numbers = torch.randint(low, 2 if dtype is torch.bool else 5, shape, generator=generator)
    return Value((numbers / 2 if dtype.is_floating_point else numbers).to(dtype), True)
