"""Small tensors made of numbers, written to by any of their views, and asked for their elements as Python numbers.

PyTorch's own export is wrong about them, so that they are for ``tests.fuzz.entrances`` only, which asks ours.
"""

from __future__ import annotations

import torch

from tests.fuzz.families.movement import view
from tests.fuzz.generate import Draft, NoFit, Scope, Value, line

LITERALS = (
    "torch.tensor(3)",
    "torch.tensor(2.0)",
    "torch.tensor([3])",
    "torch.tensor([1.0])",
    "torch.tensor([1, 2, 3])",
    "torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
    "torch.arange(4)",
    "torch.arange(2, 4) * 2.0",
    "torch.zeros(2, 2)",
    "torch.ones(1)",
    "torch.full((3,), 2)",
    "torch.zeros(())",
)
WRITES = (
    "{t}.add_({v})",
    "{t}.add_({v})",
    "{t}.copy_({v})",
    "{t}.fill_({v})",
    "{t}.mul_({v})",
    "{t}.flatten()[:1].copy_({v})",
    "{t}.view(-1)[-1:].add_({v})",
    "{t}[...] = {v}",
    "{t}.reshape(-1)[0] = {v}",
    "{t}.detach().add_({v})",
    "torch._foreach_add_([{t}], [{v}])",
    "torch.add({t}, {v}, out={t})",
    "{t}.masked_fill_({t} == {t}, {v})",
    "{t}.index_put_(({t} == {t},), {v})",
    "for e in {t}.view(-1):\n    e.add_({v})",
    "{t}.unbind(0)[0].add_({v})",
    "{t}.clamp_({v})",
    "{t}.swapaxes(0, -1).add_({v})",
    "{t}.as_strided((1,), (1,)).add_({v})",
)
OF_ONE = ("{t} + 1", "{t} * 2", "{t}.clone()", "{t}.contiguous()", "{t}.detach()", "{t}[...]")
"""The same dtype and shape again, in the same memory or in new one."""
READS = (
    "{t}.flatten().tolist()[{k}]",
    "{t}.tolist(){ks}",
    "{t}.flatten()[{k}].item()",
    "float({t}.view(-1)[{k}])",
    "int({t}.reshape(-1)[{k}])",
    "{t}.sum().item()",
    "({t} * 2).flatten().tolist()[{k}]",
    "{t}.clone().flatten()[{k}].item()",
)


def _small(s: Scope) -> Value:
    """A tensor of a few numbers."""
    t = s.pick(dtype="number", exact=True, nonempty=True, most=2)
    if any(tensor.numel() > 8 for tensor in t.tensors) or t.name.startswith("x"):
        raise NoFit
    return t


@line("constants", 2)
def literal(s: Scope) -> Draft:
    """A tensor made of numbers."""
    return Draft(f"{{out}} = {s.choice(LITERALS)}")


@line("constants", 6)
def written_and_read(s: Scope) -> Draft:
    """The same, written to what it is or to a view of it, and asked for a number."""
    literal = str(s.choice(LITERALS))
    t = Value("{out}", [eval(literal, {"torch": torch})], 0.0, True, True)
    x = s.pick(dtype="number")
    lines = [f"{{out}} = {literal}", *(_write(s, t) for _ in range(s.choice([1, 1, 2])))]
    if s.chance(0.3):
        lines.insert(1, f"{{out}} = {s.choice(OF_ONE).format(t=t)}")
    return Draft(
        "\n".join([*lines, f"{{out2}} = {_computed(s, x, t)}"]),
        writes=True,
        jumps=True,
        signed=False,
    )


@line("constants", 2)
def of_it(s: Scope) -> Draft:
    """A view of one, or what is computed of it."""
    t = _small(s)
    return Draft(f"{{out}} = {s.choice([view(s, t)] * 3 + [form.format(t=t) for form in OF_ONE])}")


@line("constants", 3)
def written(s: Scope) -> Draft:
    """A number, or one of an argument's, is written to one or to a part of it."""
    t = _small(s)
    if any(0 in tensor.stride() and tensor.numel() > 1 for tensor in t.tensors):
        raise NoFit
    return Draft(_write(s, t), writes=True, signed=False)  # the largest of two zeros is either


@line("constants", 3)
def read(s: Scope) -> Draft:
    """An element as a Python number, which a tensor is computed with."""
    return Draft(f"{{out}} = {_computed(s, s.pick(dtype='number'), _small(s))}", jumps=True)


def _write(s: Scope, t: Value) -> str:
    form = str(s.choice(WRITES))
    value = str(s.rng.randint(1, 3)) if s.chance(0.3) else _of_an_argument(s, t)
    if value.isdigit() and ("foreach" in form or "copy_" in form or "index_put" in form):
        value = f"torch.tensor({value}, dtype={t.dtype})"
    return form.format(t=t, v=value)


def _of_an_argument(s: Scope, t: Value) -> str:
    x = s.pick(dtype="number", exact=True, nonempty=True)
    number = s.choice([f"{x}.amax()", f"{x}.flatten()[0]", f"({x} > 0).sum()"])
    return f"{number}.to({t.dtype})"


def _computed(s: Scope, x: Value, t: Value) -> str:
    """A tensor with one of the numbers of another."""
    place = s.rng.randrange(min(tensor.numel() for tensor in t.tensors))
    index = "".join(f"[{i}]" for i in _unraveled(place, t))
    number = s.choice(READS).format(t=t, k=place, ks=index)
    return f"{x} {s.choice('+*-')} {number}"


def _unraveled(place: int, t: Value) -> list[int]:
    places = list[int]()
    for size in reversed(t.shape):
        places.insert(0, place % size)
        place //= size
    return places
