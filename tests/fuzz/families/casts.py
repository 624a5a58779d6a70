"""Other dtypes, and tensors made from sizes and numbers."""

from __future__ import annotations

from tests.fuzz.generate import FLOATS, INTEGERS, Draft, Scope, line


@line("casts", 3)
def to_float(s: Scope) -> Draft:
    """To a float of another width, or from an integer."""
    x = s.pick()
    dtype = s.choice(FLOATS)
    return Draft(f"{{out}} = {x}.to(torch.{dtype})")


@line("casts", 2)
def to_integer(s: Scope) -> Draft:
    """To an integer or a boolean, from exact values that fit."""
    x = s.pick(exact=True)
    dtype = s.choice([*INTEGERS, "bool"])
    if s.special and x.is_float:
        dtype = "bool"
    if x.is_float and dtype == "uint8":
        return Draft(f"{{out}} = {x}.abs().to(torch.uint8)", jumps=True)
    return Draft(f"{{out}} = {x}.to(torch.{dtype})", jumps=True)


@line("casts", 1)
def of_another(s: Scope) -> Draft:
    """The dtype of another value."""
    x, y = s.pick(exact=True, dtype="integer"), s.pick()
    return Draft(f"{{out}} = {x}.type_as({y})", jumps=True)


@line("casts", 1)
def bits(s: Scope) -> Draft:
    """The bits of a value in another dtype of the same width."""
    x = s.pick(exact=True, dtype="number")
    same = {1: ["int8", "uint8"], 2: ["int16", "float16"], 4: ["int32"], 8: ["int64"]}
    return Draft(f"{{out}} = {x}.view(torch.{s.choice(same[x.dtype.itemsize])})", jumps=True)


@line("casts", 2)
def constructors(s: Scope) -> Draft:
    """Tensors like another, or of its sizes."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    size = x.size(dim)
    forms = [
        f"torch.zeros_like({x})",
        f"torch.ones_like({x})",
        f"torch.full_like({x}, 2)",
        f"torch.arange({size})",
        f"torch.arange(1, {size} + 1, dtype=torch.float32)",
        f"torch.arange({size}, 0, -1)",
        f"torch.full(({size}, 2), 1.5)",
        f"torch.eye({size})",
        f"{x}.new_zeros({size}, 2)",
        f"torch.tensor([1, 2, {s.rng.randint(-4, 4)}])",
        f"torch.linspace(0, 4, 5).to({x}.dtype)",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")
