"""What a program computes of the sizes of its tensors: where slices begin, how long tensors are, factors, branches.

Programs of these lines are for ``tests.fuzz.sizes``, which calls them with many sizes; in other campaigns most calls would be
of sizes that they are not for.
"""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line

NUMBERS = (
    "{n}",
    "{n}",
    "{n}",
    "{n} - 1",
    "{n} + 1",
    "{n} // 2",
    "({n} + 1) // 2",
    "{n} % 3",
    "2 * {n}",
    "{n} - {m}",
    "{m} - {n}",
    "{n} + {m}",
    "max({n}, {m})",
    "min({n}, {m})",
    "{n} - 2",
    "min({n}, 3)",
    "max({n} - 3, 0)",
)
"""Whole numbers of one or two sizes."""
PLACES = (*NUMBERS, "-{n}", "-{n}", "-({n} - 1)", "-({n} // 2)", "1", "-1", "2")
"""Where a slice begins or ends."""
CHANGES = (" = 0", " = 1.5", " += 1", " *= 2", " = {y}", " += {y}")


def _size(s: Scope) -> str:
    """A size of any value, as a question to it."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    if not x.varies(dim) and s.chance(0.8):
        raise NoFit
    forms = [f"{x}.shape[{dim}]", f"{x}.shape[{dim}]", f"{x}.size({dim})"]
    if x.rank == 1:
        forms.append(f"{x}.numel()")
    if dim in (0, -x.rank):
        forms.append(f"len({x})")
    return str(s.choice(forms))


def _some_size(s: Scope) -> str:
    """The same, tried a few times, so that most are of sizes that vary."""
    for _ in range(4):
        try:
            return _size(s)
        except NoFit:
            continue
    raise NoFit


def number(s: Scope) -> str:
    """A whole number of sizes, as code."""
    return str(s.choice(NUMBERS)).format(n=_some_size(s), m=_some_size(s))


def place(s: Scope) -> str:
    """A place in a dimension, from the front or the back."""
    return str(s.choice(PLACES)).format(n=_some_size(s), m=_some_size(s))


def part(s: Scope, x: Value) -> str:
    """A subscript of slices between places that sizes say, in one dimension."""
    if not x.rank:
        raise NoFit
    ends = s.choice(["{a}:", ":{a}", ":{a}", "{a}:{b}", "{a}:", "{a}:{a} + 1", "{a}::2", ":{a}:2"])
    text = ends.format(a=place(s), b=place(s))
    before = s.choice(["", "", "..., ", ":, " if x.rank > 1 else ""])
    return f"[{before}{text}]"


@line("sizes", 6)
def sliced(s: Scope) -> Draft:
    """A part of a tensor."""
    x = s.pick(rank=1)
    return Draft(f"{{out}} = {x}{part(s, x)}", "never")


@line("sizes", 3)
def taken(s: Scope) -> Draft:
    """A part of a tensor by the name of an op."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    forms = [
        f"{x}.narrow({dim}, {place(s)}, {number(s)})",
        f"{x}.narrow({dim}, 0, {number(s)})",
        f"{x}.select({dim}, {place(s)})",
        f"{x}[{place(s)}]",
        f"{x}.split({number(s)}, {dim})[0]",
        f"{x}.split([{(n := number(s))}, {x}.shape[{dim}] - ({n})], {dim})[1]",
        f"{x}.tensor_split([{number(s)}], {dim})[1]",
        f"{x}.unfold({dim}, {number(s)}, 1)",
        f"{x}.diagonal({place(s)})" if x.rank > 1 else f"{x}.flip(0)",
        f"{x}.index_select({dim}, torch.arange({number(s)}))",
        f"{x}.chunk(2, {dim})[0]",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("sizes", 4)
def moved(s: Scope) -> Draft:
    """The elements of a tensor at other places, or more of them."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    forms = [
        f"{x}.roll({place(s)}, {dim})",
        f"{x}.roll({place(s)})",
        f"F.pad({x}, [0, {number(s)}])",
        f"F.pad({x}, [{number(s)}, 0])",
        f"F.pad({x}, [{place(s)}, {place(s)}])",
        f"{x}.unsqueeze(0).expand({number(s)}, *[-1] * {x.rank})",
        f"{x}.repeat({', '.join([number(s), *['1'] * (x.rank - 1)])})",
        f"{x}.repeat_interleave({number(s)}, {dim})",
        f"torch.cat([{x}{part(s, x)}, {x}], 0)",
        f"torch.stack([{x}, {x}.flip({dim})], 0)[{s.choice([0, 1])}]",
    ]
    if x.rank > 1:
        forms += [
            f"{x}.tril({place(s)})",
            f"{x}.triu({place(s)})",
            f"{x}.reshape({number(s)}, -1)",
            f"{x}.flatten(0, 1){part(s, x)}",
            f"{x}.reshape({x}.shape[0] * {x}.shape[1], *{x}.shape[2:])",
        ]
    if x.is_float and x.rank in (2, 3):
        mode = s.choice(["reflect", "replicate", "circular"])
        forms.append(f"F.pad({x}, [{number(s)}, 0], mode='{mode}')")
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("sizes", 4)
def made(s: Scope) -> Draft:
    """A tensor of sizes that are computed."""
    n, m = number(s), number(s)
    x = s.pick()
    forms = [
        f"torch.arange({n})",
        f"torch.arange({n}, dtype=torch.float32)",
        f"torch.arange({place(s)}, {n})",
        f"torch.arange({n}, {m}, 2)",
        f"torch.arange({n}, -1, -1)",
        f"torch.zeros({n}, {m})",
        f"torch.ones({n})",
        f"torch.full(({n}, 2), {s.choice(['2.5', '3'])})",
        f"{x}.new_zeros({n}, {m})",
        f"{x}.new_full(({n},), 2)",
        f"torch.eye({n})",
        f"torch.eye({n}, {m})",
        f"torch.ones({n}, {m}).tril({place(s)})",
        f"torch.ones({n}, {m}).triu({place(s)})",
        f"torch.arange({n})[:, None] - torch.arange({m})[None]",
        f"torch.arange({n}).unsqueeze(0) < torch.arange({m}).unsqueeze(1)",
        f"torch.linspace(0, 1, {n})",
        f"torch.full((2,), {n})",
        f"torch.tensor([1.0]) * ({n})",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")


@line("sizes", 4)
def scaled(s: Scope) -> Draft:
    """Arithmetic of a tensor and a number that sizes make."""
    x = s.pick(dtype="number")
    n = number(s)
    forms = [
        f"{x} * ({n})",
        f"{x} + ({n})",
        f"({n}) - {x}",
        f"{x} / (abs({n}) + 1)",
        f"{x} * ({_some_size(s)} / 2)",
        f"{x} * (abs({n}) + 1) ** -0.5",
        f"torch.clamp({x}, max={n})",
        f"torch.where({x} > {n}, {x}, {x} - 1)",
        f"{x}.sum() / max({n}, 1)",
    ]
    if x.is_integer:
        forms += [f"{x} // (abs({n}) + 1)", f"{x} % (abs({n}) + 1)"]
    rounds = "always" if x.is_float else "inexact"
    return Draft(f"{{out}} = {s.choice(forms)}", rounds, gain=16.0, signed=False)


@line("sizes", 2)
def decided(s: Scope) -> Draft:
    """What is done depends on sizes."""
    x = s.pick(dtype="float")
    n, m = number(s), number(s)
    operator = s.choice([">", "<", "==", ">=", "!="])
    forms = [
        f"{{out}} = {x} + 1 if {n} {operator} {m} else {x} * 2",
        f"{{out}} = {x}\nif {n} {operator} {m}:\n    {{out}} = -{{out}}",
        f"{{out}} = {x} * 1\nfor k in range(min({n}, 2)):\n    {{out}} = {{out}} + k",
    ]
    return Draft(s.choice(forms), signed=False)


@line("sizes", 2)
def joined(s: Scope) -> Draft:
    """Two tensors, cut to the same length or padded to it."""
    x, y = s.pick(rank=1, dtype="number"), s.pick(rank=1, dtype="number")
    shorter = f"min({x}.shape[0], {y}.shape[0])"
    forms = [
        f"{x}[:{shorter}] + {y}[:{shorter}]",
        f"{x}[-{shorter}:] - {y}[-{shorter}:]",
        f"{x} + {y}[:{x}.shape[0]]",
        f"{x} + {y}[-{x}.shape[0]:]",
        f"torch.cat([{x}, {y}])[{place(s)}:]",
        f"torch.cat([{x}, {y}])[:{x}.shape[0]]",
        f"torch.cat([{x}, {y}])[{x}.shape[0]:]",
        f"torch.cat([{x}[:{number(s)}], {y}])",
    ]
    if x.rank == 1 and y.rank == 1:
        forms.append(f"F.pad({x}, [0, {number(s)} - {x}.shape[0]])")
        forms.append(f"torch.outer({x}, {y}).reshape({y}.shape[0], {x}.shape[0])")
    return Draft(f"{{out}} = {s.choice(forms)}", gain=2.0, signed=False)


@line("sizes", 2)
def reduced(s: Scope) -> Draft:
    """A part of a tensor, combined to one element."""
    x = s.pick(rank=1, dtype="number")
    method = s.choice(["sum(0)", "sum()", "amax(0)", "cumsum(0)", "flip(0)", "float().mean(0)"])
    rounds = "always" if "mean" in method or "sum" in method else "never"
    return Draft(
        f"{{out}} = {x}{part(s, x)}.{method}",
        rounds if x.is_float or "float" in method else "inexact",
        gain=16.0,
        signed=False,
    )


@line("sizes", 5)
def written(s: Scope) -> Draft:
    """A write between places that sizes say: to a copy, or to an argument."""
    x, y = s.pick(rank=1, dtype="number"), s.pick(dtype="number")
    change = str(s.choice(CHANGES)).format(y=y)
    if s.chance(0.25):
        if any(0 in t.stride() and t.numel() > 1 for t in x.tensors):
            raise NoFit
        return Draft(f"{x}{part(s, x)}{change}", writes=True, gain=2.0)
    copy = s.choice(["{x}.clone()", "torch.zeros_like({x})", "{x} * 1"]).format(x=x)
    return Draft(
        f"{{out}} = {copy}\n{{out}}{part(s, x)}{change}", writes=True, gain=2.0, signed=False
    )


@line("sizes", 2)
def scattered(s: Scope) -> Draft:
    """A copy with a part that is another tensor."""
    x, y = s.pick(rank=1, dtype="number"), s.pick(rank=1, dtype="number")
    dim = s.dim(x)
    forms = [
        f"torch.slice_scatter({x}, {y}, 0, {(a := place(s))}, {a} + {y}.shape[0])",
        f"torch.slice_scatter({x}, {y}, 0, 0, {y}.shape[0])",
        f"torch.slice_scatter({x}, {y}, 0, {x}.shape[0] - {y}.shape[0])",
        f"torch.select_scatter({x}, {x}.select({dim}, 0), {dim}, {place(s)})",
        f"{x}.index_fill({dim}, torch.arange({number(s)}), 2)",
        f"{x}.index_copy(0, torch.arange({y}.shape[0]), {y})",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", gain=2.0)


@line("sizes", 1)
def selected(s: Scope) -> Draft:
    """The elements that a mask selects: as many as the data say."""
    x = s.pick(rank=1, dtype="number", exact=True)
    forms = [f"{x}[{x} > 0]", f"torch.nonzero({x})", f"{x}[{x} == {x}.flip(0)]"]
    return Draft(f"{{out}} = {s.choice(forms)}", "never", jumps=True)
