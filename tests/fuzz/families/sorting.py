"""Order: sorts, the largest few, medians, places in a sorted row."""

from __future__ import annotations

import torch

from tests.fuzz.generate import Draft, Scope, line


@line("sorting", 3)
def sort(s: Scope) -> Draft:
    """A stable sort with the places."""
    x = s.pick(exact=True, rank=1)
    down = s.choice(["", ", descending=True"])
    return Draft(
        f"{{out}}, {{out2}} = torch.sort({x}, dim={s.dim(x)}, stable=True{down})",
        jumps=True,
        signed=False,
    )


@line("sorting", 1)
def sorted_values(s: Scope) -> Draft:
    """The values in order, which rounding may only exchange with their equals."""
    x = s.pick(rank=1)
    return Draft(f"{{out}} = {x}.sort({s.dim(x)})[0]", signed=False)


@line("sorting", 1)
def argsort(s: Scope) -> Draft:
    """The places alone."""
    x = s.pick(exact=True, rank=1)
    return Draft(f"{{out}} = torch.argsort({x}, {s.dim(x)}, stable=True)", jumps=True)


@line("sorting", 2)
def top(s: Scope) -> Draft:
    """The largest or smallest few: which of equals it is is not said, so only the values."""
    x = s.pick(rank=1, dtype="number", nonempty=True)
    dim = s.dim(x)
    count = min(int(min(t.shape[dim] for t in x.tensors)), s.rng.randint(1, 3))
    largest = s.choice(["True", "False"])
    return Draft(f"{{out}} = torch.topk({x}, {count}, {dim}, largest={largest})[0]", signed=False)


@line("sorting", 1)
def middle(s: Scope) -> Draft:
    """Medians and the k-th value."""
    x = s.pick(rank=1, exact=True, dtype="number", nonempty=True)
    dim = s.dim(x)
    forms = [f"{x}.median({dim})[0]", f"{x}.median()", f"{x}.kthvalue(1, {dim})[0]"]
    return Draft(f"{{out}} = {s.choice(forms)}", jumps=True, signed=False)


@line("sorting", 1)
def search(s: Scope) -> Draft:
    """Places in a sorted row."""
    x = s.pick(exact=True, dtype="number")
    right = s.choice(["", ", right=True"])
    row = "torch.tensor([-1.0, 0.0, 0.5, 2.0])"
    if x.is_integer:  # sorted in a dtype without signs too
        low = 0 if x.dtype is torch.uint8 else -2
        row = f"torch.tensor([{low}, {low + 1}, {low + 2}, 3, 5])"
    return Draft(f"{{out}} = torch.bucketize({x}, {row}.to({x}.dtype){right})", jumps=True)


@line("sorting", 1)
def counted(s: Scope) -> Draft:
    """Equal neighbours and differences along a dimension."""
    x = s.pick(exact=True, rank=1, dtype="number")
    return Draft(f"{{out}} = torch.diff({x}, dim={s.dim(x)})", gain=2.0)
