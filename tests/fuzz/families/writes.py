"""Writes in place: to copies, to views of them, to arguments, by mask and by place, in loops."""

from __future__ import annotations

from tests.fuzz.families.movement import part, view
from tests.fuzz.generate import Draft, NoFit, Scope, Value, line

CHANGES = (
    "{t}.add_(1)",
    "{t}.mul_(2)",
    "{t}.neg_()",
    "{t}.zero_()",
    "{t}.fill_(3)",
    "{t}.clamp_(-1, 2)",
    "{t}.sub_(1)",
    "{t}.abs_()",
)
AUGMENTED = (
    "{t} += 1",
    "{t} *= 2",
    "{t} = 0",
    "{t} = 1.5",
    "{t} -= {t}",
    "{t} += {y}",
    "{t} = {y}",
)


def _writable(s: Scope) -> Value:
    """A variable whose memory is its own: a copy, or what a view was taken of."""
    x = s.pick(dtype="number")
    if any(0 in t.stride() and t.numel() > 1 for t in x.tensors):
        raise NoFit
    return x


@line("writes", 3)
def copy(s: Scope) -> Draft:
    """A copy to write to."""
    x = s.pick()
    form = s.choice(
        [
            "{x}.clone()",
            "{x} + 0",
            "torch.zeros_like({x})",
            "{x}.contiguous().clone()",
            "{x}.mT.clone()",
        ]
    )
    return Draft(f"{{out}} = {form.format(x=x)}", signed=form != "{x} + 0")


@line("writes", 3)
def whole(s: Scope) -> Draft:
    """A method that changes a variable, perhaps an argument."""
    x = _writable(s)
    return Draft(s.choice(CHANGES).format(t=x), writes=True)


@line("writes", 4)
def a_part(s: Scope) -> Draft:
    """A write to a part of a variable."""
    x = _writable(s)
    if not x.rank:
        raise NoFit
    y = s.pick(dtype="number")
    target = f"{x}{part(s, x)}"
    return Draft(s.choice(AUGMENTED).format(t=target, y=y), writes=True, gain=2.0)


@line("writes", 4)
def through_a_view(s: Scope) -> Draft:
    """A view, and a write through it that its base sees."""
    x = _writable(s)
    if s.chance(0.5):
        return Draft(f"{{out}} = {view(s, x)}\n{s.choice(CHANGES).format(t='{out}')}", writes=True)
    step = s.choice(["[::2]", "[:1]", "[-1]", "[1:]", "[..., 0]"])
    change = s.choice([" += 1", " *= 2", " = 3"])
    return Draft(f"{{out}} = {view(s, x)}\n{{out}}{step}{change}", writes=True)


@line("writes", 1)
def through_what_expands_nothing(s: Scope) -> Draft:
    """A write through ``expand`` to the sizes there are."""
    x = _writable(s)
    forms = [
        f"{x}.expand({x}.shape)",
        f"{x}.expand_as({x})",
        f"{x}.expand(1, *{x}.shape)",
        f"{x}.broadcast_to((1, 1, *{x}.shape))",
        f"{x}[None].expand(1, *{x}.shape)",
    ]
    change = s.choice([" += 1", " *= 2", " = 3"])
    part_of_it = s.choice(["[..., :1]", "[:1]", "[...]"]) if x.rank else "[...]"
    return Draft(f"{{out}} = {s.choice(forms)}\n{{out}}{part_of_it}{change}", writes=True)


@line("writes", 3)
def by_mask(s: Scope) -> Draft:
    """A write where an exact comparison holds."""
    x = _writable(s)
    if x.error:
        raise NoFit
    number = s.choice(["0", "1", "-1"])
    forms = [
        f"{x}[{x} > {number}] = 2",
        f"{x}[{x} < {number}] += 1",
        f"{x}.masked_fill_({x} == {number}, 4)",
        f"{x}[{x} > {number}] *= 2",
        f"{x}[{x} != {number}] = {x}[{x} != {number}] * 2",
        f"{x}.copy_(torch.where({x} > {number}, {x}, {x} - 1))",
    ]
    return Draft(s.choice(forms), writes=True, jumps=True)


@line("writes", 2)
def by_place(s: Scope) -> Draft:
    """A write to places."""
    x = _writable(s)
    if not x.rank:
        raise NoFit
    size = min(int(t.shape[0]) for t in x.tensors)
    if not size:
        raise NoFit
    i = s.positions(1, size)
    forms = [
        f"{x}[{i}] = 2",
        f"{x}[{i}[0]] += 1",
        f"{x}.index_fill_(0, {i}, 1)",
        f"{x}[{i}] *= 2",
        f"{x}[{i}] = {x}[0]",
    ]
    return Draft(s.choice(forms), writes=True)


@line("writes", 2)
def loop(s: Scope) -> Draft:
    """A loop over writes to a fresh tensor."""
    x = s.pick(rank=1, exact=True, dtype="number")
    i = s.positions(1, 3)
    forms = [
        f"{{out}} = torch.zeros_like({x})\nfor k in range(3):\n    {{out}}[{x} == k] = {x}[{x} == k] * (k + 1)",
        f"{{out}} = torch.zeros_like({x})\nfor k in range(3):\n    {{out}} += torch.where({x} > k, {x}, k)",
        f"{{out}} = {x}.clone()\nfor k in range(2):\n    {{out}}[k:] += {x}[:1]",
        f"{{out}} = {x}.clone()\nfor row in {{out}}[:2]:\n    row *= 2",
        f"{{out}} = torch.zeros(3)\nfor k in range(3):\n    {{out}}[k] = ({i} == k).sum()",
        f"{{out}} = {x}.clone()\nfor k in range(3):\n    {{out}} = {{out}}.roll(1, 0)\n    {{out}}[:1] -= k",
    ]
    return Draft(s.choice(forms), writes=True, jumps=True)


@line("writes", 1)
def output_argument(s: Scope) -> Draft:
    """A result that goes into another variable."""
    x = _writable(s)
    y = s.pick(dtype="number")
    return Draft(f"{x}.copy_({y})", writes=True)
