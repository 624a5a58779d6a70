"""Elements at places that a tensor says: reads, and writes that leave the original alone."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line


def _smallest(x: Value, dim: int) -> int:
    size = min(int(t.shape[dim]) for t in x.tensors)
    if not size:
        raise NoFit
    return size


def _name(x: Value) -> str:
    return str(x.dtype).removeprefix("torch.")


@line("indexing", 4)
def rows(s: Scope) -> Draft:
    """Rows at places."""
    x = s.pick(rank=1)
    i = s.positions(s.choice([1, 1, 2]), _smallest(x, 0))
    forms = [f"{x}[{i}]", f"{x}[{i} - {x.size(0)}]"]
    if i.rank == 1:
        forms += [f"{x}.index_select(0, {i})", f"torch.index_select({x}, 0, {i}.flip(0))"]
    if i.dtype is not None and x.rank == 2:
        forms.append(f"F.embedding({i}.long(), {x})")
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("indexing", 3)
def columns(s: Scope) -> Draft:
    """Places in a later dimension, or in two at once."""
    x = s.pick(rank=2)
    i = s.positions(1, _smallest(x, 1))
    forms = [
        f"{x}[:, {i}]",
        f"{x}[:1, {i}]",
        f"{x}[..., {i} % {x.size(-1)}]",
        f"{x}[:, {i}[:, None]]",
    ]
    k, rows = s.rng.randrange(_smallest(x, 1)), f"torch.arange({x.size(0)})"
    forms += [f"{x}[{rows}, {k}]", f"{x}[:, {k}][{rows}.flip(0)]", f"{x}[:, {k}].flip(0)"]
    if x.rank > 2:
        forms += [f"{x}[0, :, {i} % {x.size(2)}]", f"{x}[:, {i}, 0]"]
    if s.chance(0.5):
        j = s.input_like(tuple(int(n) for n in i.shape), "int64")
        forms = [f"{x}[{j} % {x.size(0)}, {i}]", f"{x}[({j} % {x.size(0)})[:, None], {i}]"]
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("indexing", 2)
def by_known_masks(s: Scope) -> Draft:
    """Elements that a mask or counts select which depend on no input: their number is known before a call."""
    x = s.pick(rank=1)
    dim = s.dim(x) % x.rank
    if x.varies(dim):
        raise NoFit
    size = int(x.shape[dim])
    counts = [s.rng.randrange(3) for _ in range(size)]
    places, mask = ":, " * dim, f"torch.tensor({[count > 0 for count in counts]}, dtype=torch.bool)"
    made = f"(torch.arange({size}) % 3 != 1)"
    forms = [
        f"{x}[{places}{mask}]",
        f"{x}[{places}{made}]",
        f"{x}[{places}{made} & {mask}].flip({dim})",
        f"{x}.repeat_interleave(torch.tensor({counts}, dtype=torch.int64), {dim})",
        f"{x}.index_select({dim}, {made}.nonzero()[:, 0])",
    ]
    if not any(x.varies(d) for d in range(x.rank)) and dim == x.rank - 1:
        forms.append(f"{x}.masked_select({made})")
    if s.chance(0.2):
        update = f"{{out}}[{places}{mask}] = {{out}}[{places}{mask}].flip({dim})"
        return Draft(f"{{out}} = {x}.clone()\n{update}", "never")
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("indexing", 2)
def gathered(s: Scope) -> Draft:
    """``gather`` and its like along a dimension."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    forms = [
        f"{x}.gather({dim}, torch.zeros_like({x}, dtype=torch.int64))",
        f"{x}.gather({dim}, {x}.to(torch.float32).argsort({dim}, stable=True))"
        if not x.error
        else "",
        f"torch.take_along_dim({x}, torch.ones_like({x}, dtype=torch.int64) * ({x.size(dim)} - 1), {dim})",
        f"{x}.take(torch.tensor([0, -1, 1]))",
    ]
    return Draft(f"{{out}} = {s.choice([f for f in forms if f])}", "never", jumps=False)


@line("indexing", 3)
def added(s: Scope) -> Draft:
    """Sums into places."""
    x = s.pick(rank=1, dtype="number")
    i = s.positions(1, _smallest(x, 0))
    if i.error or i.rank != 1:
        raise NoFit
    shape = [int(i.shape[0]), *(int(n) for n in x.shape[1:])]
    if any(x.varies(d) for d in range(1, x.rank)):
        raise NoFit
    y = s.input_like(shape, _name(x))
    full = f"{i}.long().view({', '.join(['-1'] + ['1'] * (x.rank - 1))}).expand({', '.join(map(str, shape))})"
    forms = [
        f"{x}.index_add(0, {i}, {y})",
        f"{x}.index_add(0, {i}, {y}, alpha=2)",
        f"{x}.scatter_add(0, {full}, {y})",
        f"{x}.index_put(({i},), {y}, accumulate=True)",
        f"{x}.scatter_reduce(0, {full}, {y}, '{s.choice(['amax', 'amin', 'sum'])}')",
        f"{x}.scatter_reduce(0, {full}, {y}, 'amax', include_self=False)",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", gain=6.0, signed=False)


@line("indexing", 2)
def put(s: Scope) -> Draft:
    """Writes to places that are all different."""
    x = s.pick(rank=1)
    size = _smallest(x, 0)
    count = s.rng.randint(1, size)
    places = s.rng.sample(range(size), count)
    if any(x.varies(d) for d in range(1, x.rank)):
        raise NoFit
    y = s.input_like([count, *(int(n) for n in x.shape[1:])], _name(x))
    i = f"torch.tensor({places})"
    full = f"{i}.view({', '.join(['-1'] + ['1'] * (x.rank - 1))}).expand_as({y})"
    forms = [
        f"{x}.index_copy(0, {i}, {y})",
        f"{x}.index_put(({i},), {y})",
        f"{x}.scatter(0, {full}, {y})",
        f"{x}.scatter(0, {full}, 1)",
        f"{x}.index_fill(0, {i}, 2)",
        f"torch.slice_scatter({x}, {y}, 0, {size - count}, {size})",
        f"torch.select_scatter({x}, {y}[0], 0, {places[0]})",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")


@line("indexing", 1)
def hot(s: Scope) -> Draft:
    """One-hot rows and counts."""
    i = s.positions(s.choice([1, 2]), 4)
    forms = [
        f"F.one_hot({i}.long(), 4)",
        f"torch.bincount({i}.flatten(), minlength=5)",
        f"({i}.unsqueeze(-1) == torch.arange(4)).sum(0)",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")


@line("indexing", 2)
def by_mask(s: Scope) -> Draft:
    """Writes where a mask is set, with as many elements as the original."""
    mask = s.pick(dtype="bool", rank=1)
    x = s.like(mask, rank=1)
    if x.rank != mask.rank:
        raise NoFit
    forms = [
        f"{x}.masked_scatter({mask}, {x}.flip(0))",
        f"{x}.masked_fill({mask}, 3)",
        f"{x}.index_put(({mask},), torch.tensor(1, dtype={x.dtype}))",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")


@line("indexing", 1)
def beside_masks(s: Scope) -> Draft:
    """Writes where a mask is set, in the rows that positions say."""
    x = s.pick(rank=2)
    if x.error:
        raise NoFit
    size, last = _smallest(x, 0), x.rank - 1
    mask = f"({x}[(0,) * {last}] != {s.choice([0, 1])})"
    if s.chance(0.3):
        mask += ".to(torch.uint8)"
    between = s.choice([":, " * (last - 1), "..., "])
    i, k = s.positions(1, size), s.rng.randrange(size)
    place = s.choice([f"{i}", f"{i} - {x.size(0)}", str(k), f"{i}[:1]"])
    if place.startswith(f"{i}") and not place.endswith("]"):
        place = f"({place})[:, None]"
    change = s.choice(["= 2", "= 0.5", "= 1"])
    written = f"{{out}}[{place}, {between}{mask}] {change}"
    return Draft(f"{{out}} = {x}.clone()\n{written}", "never", jumps=True)
