"""Branches and loops that a program decides on while it runs, and sizes as numbers."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, line

ARMS = (
    "a + 1",
    "a * 2",
    "a.abs()",
    "a - a.sum()",
    "torch.tanh(a)",
    "a.flip(0)",
    "a.clone()",
    "-a",
    "torch.where(a > 0, a, a * 0.5)",
)
STEPS = ("a + 1", "a * 0.5", "a.roll(1, 0)", "a - 1", "a.neg()", "a + i.to(a.dtype)")


@line("branches", 2)
def branch(s: Scope) -> Draft:
    """``torch.cond`` of an exact condition."""
    x = s.pick(dtype="float", rank=1, exact=True, nonempty=True)
    on_true, on_false = s.choice(ARMS), s.choice(ARMS)
    condition = s.choice(
        [f"{x}.sum() > 0", f"({x} > 0).any()", f"{x}.flatten()[0] > 0", f"({x} == 0).all()"]
    )
    if not x.grid:
        condition = f"({x} > 0).any()"
    return Draft(
        f"{{out}} = cond({condition}, lambda a: {on_true}, lambda a: {on_false}, ({x},))",
        gain=8.0 + len(x.tensors[0].flatten()),
        rounds="always",
        signed=False,
    )


@line("branches", 2)
def repeated(s: Scope) -> Draft:
    """``while_loop`` that counts, or runs until the data says so."""
    x = s.pick(dtype="float", rank=1, exact=True)
    count = s.rng.randint(0, 4)
    step = s.choice(STEPS)
    condition = f"i < {count}"
    return Draft(
        f"_, {{out}} = while_loop(lambda i, a: {condition}, lambda i, a: (i + 1, {step}),"
        f" (torch.tensor(0), {x}.clone()))",
        signed=False,
    )


@line("branches", 1)
def nested(s: Scope) -> Draft:
    """A branch in a branch."""
    x = s.pick(dtype="float", rank=1, exact=True, nonempty=True)
    arms = [s.choice(ARMS[:3]) for _ in range(3)]
    return Draft(
        f"{{out}} = cond(({x} > 0).any(), lambda a: cond((a > 1).all(), lambda b: b + 1,"
        f" lambda b: b * 2, (a,)), lambda a: {arms[0]}, ({x},))",
        signed=False,
    )


@line("branches", 2)
def unrolled(s: Scope) -> Draft:
    """A Python loop that capture unrolls."""
    x = s.pick(dtype="number", exact=True)
    step = s.choice(
        [
            "{out} + {x}",
            "torch.maximum({out}, {x} - k)",
            "{out} * 0.5 + k",
            "torch.where({x} > k, {out}, {x})",
        ]
    )
    return Draft(
        f"{{out}} = {x}\nfor k in range(3):\n    {{out}} = {step.replace('{x}', str(x))}",
        signed=False,
    )


@line("branches", 1)
def sizes(s: Scope) -> Draft:
    """Arithmetic of sizes."""
    x = s.pick(rank=1)
    if not s.dynamic or not x.is_float:
        raise NoFit
    size = f"{x}.shape[{s.dim(x)}]"
    forms = [
        f"{x} * {size}",
        f"{x} + {size} // 2",
        f"{x} / (1 + {size})",
        f"torch.full((2,), {size} % 3)",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "inexact", 8.0)
