"""Loops and branches over several tensors, in one another, and what updates or reads the same tensors beside them."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line

STEPS = (
    "{p} + {q}",
    "{p} - {q}",
    "{q}.clone()",
    "{q}.clone()",
    "{p}.clone()",
    "{p} * 2",
    "{p}.flip(0)",
    "{p}.roll(1, 0)",
    "torch.maximum({p}, {q})",
    "torch.where({p} > {q}, {p}, {q} + 1)",
    "{p}.clone().mul_(2)",
    "torch.cat([{q}[1:], {p}[:1]])",
    "{p}.sort(0)[0]",
    "{p}.index_copy(0, {i}, {q}[:{k}])",
    "{p}.index_copy(0, {i}, {q}[-{k}:])",
    "{p}.index_add(0, {i}, {q}[:{k}])",
    "{p}.index_put(({i},), {q}[:{k}])",
    "{p}.slice_scatter({q}[:1], 0, 0, 1)",
    "{p}.select_scatter({q}[0], 0, -1)",
    "{p}.masked_fill({q} > 0, 3)",
)
"""What a tensor may become of itself and another one of its shape and dtype."""


def _pair(s: Scope) -> tuple[Value, str]:
    """A tensor with rows, and the code of another one of its shape and dtype; both exact."""
    x = s.pick(dtype="number", rank=1, exact=True)
    others = [
        value
        for value in s.values
        if not value.error
        and value.dtype == x.dtype
        and all(a.shape == b.shape for a, b in zip(value.tensors, x.tensors, strict=True))
    ]
    return x, s.choice([*map(str, others), f"({x} + 1)", f"({x} * 2)"])


def _step(s: Scope, x: Value, p: str, q: str) -> str:
    """What ``p`` becomes; places are few and each once."""
    rows = min(int(tensor.shape[0]) for tensor in x.tensors)
    form = s.choice(STEPS)
    many = min(rows, s.choice([1, 2, 2]))
    if "{i}" in form and not many:
        raise NoFit
    places = s.rng.sample(range(rows), many)
    return str(form.format(p=p, q=q, i=f"torch.tensor({places})", k=many))


def _count(s: Scope) -> str:
    """How often: a number, or an argument's."""
    if s.chance(0.5):
        return str(s.rng.randint(0, 3))
    return f"{s.positions(0, 4)}"


def _condition(s: Scope) -> str:
    """A condition that is the same on every engine."""
    x = s.pick(dtype="number", exact=True, nonempty=True)
    forms = [f"({x} > 0).any()", f"({x} == 0).all()", f"{x}.flatten()[0] > 0"]
    return str(s.choice([*forms, f"{x}.sum() > 0"] if x.grid else forms))


def _outer(s: Scope, y: str, q: str) -> str:
    """A tensor from around a body, or one that it is given."""
    return y if s.chance(0.2) else q


@line("loops", 4)
def carried(s: Scope) -> Draft:
    """A loop that carries two tensors, which its steps exchange and update."""
    x, y = _pair(s)
    first = _step(s, x, "p", _outer(s, y, "q"))
    second = _step(s, x, "q", _outer(s, str(x), "p"))
    made = s.choice(["_, {out}, {out2}", "_, {out}, _"])
    return Draft(
        f"{made} = while_loop(lambda i, p, q: i < {_count(s)}, lambda i, p, q: (i + 1, {first},"
        f" {second}), (torch.tensor(0), {s.choice([f'{x}.clone()', f'{x} + 1'])}, {y}.clone()))",
        signed=False,
        jumps=True,
    )


@line("loops", 4)
def branched(s: Scope) -> Draft:
    """A branch over two tensors, with one result or two."""
    x, y = _pair(s)
    a, b = (_step(s, x, "p", _outer(s, y, "q")) for _ in range(2))
    if s.chance(0.5):
        c, d = (_step(s, x, "q", _outer(s, str(x), "p")) for _ in range(2))
        text = (
            f"{{out}}, {{out2}} = cond({_condition(s)}, lambda p, q: ({a}, {c}),"
            f" lambda p, q: ({b}, {d}), ({x}, {y}))"
        )
    else:
        text = f"{{out}} = cond({_condition(s)}, lambda p, q: {a}, lambda p, q: {b}, ({x}, {y}))"
    return Draft(text, signed=False, jumps=True)


@line("loops", 1)
def branch_in_a_branch(s: Scope) -> Draft:
    """A branch in one of two branches."""
    x, y = _pair(s)
    a, b = (_step(s, x, "r", _outer(s, y, "t")) for _ in range(2))
    inner = f"cond((p > q).any(), lambda r, t: {a}, lambda r, t: {b}, (p, q))"
    other = _step(s, x, "p", "q")
    arms = s.choice([(inner, other), (other, inner)])
    return Draft(
        f"{{out}} = cond({_condition(s)}, lambda p, q: {arms[0]}, lambda p, q: {arms[1]}, ({x}, {y}))",
        signed=False,
        jumps=True,
    )


@line("loops", 2)
def branch_in_a_loop(s: Scope) -> Draft:
    """A branch in each turn of a loop."""
    x, y = _pair(s)
    a, b = (_step(s, x, "r", _outer(s, y, "t")) for _ in range(2))
    second = _step(s, x, "q", "p")
    inner = f"cond((p > q).any(), lambda r, t: {a}, lambda r, t: {b}, (p, q))"
    return Draft(
        f"_, {{out}}, {{out2}} = while_loop(lambda i, p, q: i < {_count(s)}, lambda i, p, q:"
        f" (i + 1, {inner}, {second}), (torch.tensor(0), {x}.clone(), {y}.clone()))",
        signed=False,
        jumps=True,
    )


def _inner_loop(s: Scope, x: Value, condition: str, result: int) -> str:
    """A loop in the body of another op, over that body's ``p`` and ``q``."""
    first, second = _step(s, x, "r", "t"), _step(s, x, "t", "r")
    return (
        f"while_loop(lambda j, r, t: j < {condition}, lambda j, r, t: (j + 1, {first}, {second}),"
        f" (torch.tensor(0), p.clone(), q.clone()))[{result}]"
    )


@line("loops", 2)
def loop_in_a_branch(s: Scope) -> Draft:
    """A loop that one of two branches runs."""
    x, y = _pair(s)
    inner = _inner_loop(s, x, str(s.rng.randint(0, 3)), s.choice([1, 2]))
    other = _step(s, x, "p", "q")
    arms = s.choice([(inner, other), (other, inner)])
    return Draft(
        f"{{out}} = cond({_condition(s)}, lambda p, q: {arms[0]}, lambda p, q: {arms[1]}, ({x}, {y}))",
        signed=False,
        jumps=True,
    )


@line("loops", 1)
def loop_in_a_loop(s: Scope) -> Draft:
    """A loop in each turn of a loop."""
    x, y = _pair(s)
    inner = _inner_loop(s, x, "i", 1)
    return Draft(
        f"_, {{out}}, {{out2}} = while_loop(lambda i, p, q: i < {_count(s)}, lambda i, p, q:"
        f" (i + 1, {inner}, {_step(s, x, 'q', 'p')}), (torch.tensor(0), {x}.clone(), {y}.clone()))",
        signed=False,
        jumps=True,
    )


@line("loops", 5)
def updated(s: Scope) -> Draft:
    """The same steps outside of loops: updates of what they begin with or hand on."""
    x, y = _pair(s)
    return Draft(f"{{out}} = {_step(s, x, str(x), y)}", signed=False, jumps=True)


@line("loops", 3)
def read(s: Scope) -> Draft:
    """What reads such a tensor, and computes for a while where it is large."""
    x = s.pick(dtype="number", rank=1)
    if not x.is_float:
        return Draft(f"{{out}} = {x}.sum(0)", signed=False)
    form = s.choice(["torch.tanh({x})", "{x}.cos()", "{x} @ {x}.mT", "torch.logsumexp({x}, -1)"])
    if "@" in form and x.rank < 2:
        raise NoFit
    size = max(int(tensor.shape[-1]) for tensor in x.tensors)
    gain = 2.0 * size * max(x.largest(), 1)
    return Draft(f"{{out}} = {form.format(x=x)}", "always", gain, signed=False)
