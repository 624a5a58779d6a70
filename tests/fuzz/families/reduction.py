"""Reductions, running reductions, products of matrices, softmax and statistics."""

from __future__ import annotations

import math

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line


def _dims(s: Scope, x: Value) -> str:
    """Some dimensions as an argument, or none for all of them."""
    if not x.rank or s.chance(0.25):
        return ""
    dims = sorted(s.rng.sample(range(x.rank), s.rng.randint(1, x.rank)))
    dims = [dim - x.rank if s.chance(0.3) else dim for dim in dims]
    shown = str(dims) if len(dims) > 1 or s.chance(0.4) else str(dims[0])
    return f", {shown}" + (", keepdim=True" if s.chance(0.4) else "")


def _dim(s: Scope, x: Value) -> str:
    return f"{s.dim(x)}" + (", keepdim=True" if s.chance(0.4) else "")


@line("reduction", 4)
def sums(s: Scope) -> Draft:
    """Sums and means; the sign of a sum of zeros is nobody's rule."""
    x = s.pick()
    name = s.choice(["sum", "mean", "sum", "nansum"]) if x.is_float else "sum"
    gain = max(x.tensors[0].numel(), x.tensors[-1].numel(), 1)
    rounds = "always" if name == "mean" else "inexact"
    return Draft(
        f"{{out}} = torch.{name}({x}{_dims(s, x)})", rounds, gain, terms=gain, signed=False
    )


@line("reduction", 2)
def sums_across(s: Scope) -> Draft:
    """A sum or extremum of rows with the same of all rows: computed twice, with a dimension of 1 in other places."""
    x = s.pick(rank=2)
    name = s.choice(["sum", "amax", "amin"])
    again = s.choice(
        [
            f"{x}.{name}(-1).unsqueeze(-2)",
            f"{x}.{name}(-1, keepdim=True).mT",
            f"{x}.unsqueeze(0).{name}(-1)[0].unsqueeze(-2)",
            f"{x}.unsqueeze(-2).{name}(-1).mT",
        ]
    )
    gain = 2 * max(x.tensors[0].shape[-1], x.tensors[-1].shape[-1], 1)
    rounds = "inexact" if name == "sum" else "never"
    both = f"{x}.{name}(-1, keepdim=True), {again}"
    combined = s.choice(["maximum", "minimum"] + ["add"] * (name == "sum"))
    return Draft(f"{{out}} = torch.{combined}({both})", rounds, gain, signed=False)


@line("reduction", 1)
def sum_to_dtype(s: Scope) -> Draft:
    """A sum in a given dtype."""
    x = s.pick(dtype="integer", rank=1)
    dtype = s.choice(["float32", "int32", "int64"])
    return Draft(f"{{out}} = {x}.sum({s.dim(x)}, dtype=torch.{dtype})", signed=False)


@line("extrema", 3)
def extremum(s: Scope) -> Draft:
    """The largest or smallest along dimensions."""
    x = s.pick()
    return Draft(f"{{out}} = torch.{s.choice(['amax', 'amin'])}({x}{_dims(s, x)})", signed=False)


@line("extrema", 2)
def whole_extremum(s: Scope) -> Draft:
    """Of a whole tensor."""
    x = s.pick()
    return Draft(f"{{out}} = {x}.{s.choice(['max', 'min'])}()", signed=False)


@line("extrema", 3)
def extremum_and_place(s: Scope) -> Draft:
    """With its place; the first of equals is PyTorch's own choice on the CPU."""
    x = s.pick(exact=True, rank=1)
    name = s.choice(["max", "min"])
    return Draft(f"{{out}}, {{out2}} = {x}.{name}({_dim(s, x)})", jumps=True, signed=False)


@line("extrema", 2)
def place(s: Scope) -> Draft:
    """The place of the largest or smallest."""
    x = s.pick(exact=True, dtype="number")
    argument = "" if s.chance(0.3) or not x.rank else _dim(s, x)
    return Draft(f"{{out}} = {x}.{s.choice(['argmax', 'argmin'])}({argument})", jumps=True)


@line("extrema", 1)
def running_extremum(s: Scope) -> Draft:
    """The largest or smallest so far, and where it was."""
    x = s.pick(exact=True, rank=1, dtype="number")
    name = s.choice(["cummax", "cummin"])
    if s.special:
        raise NoFit
    return Draft(f"{{out}}, {{out2}} = {x}.{name}({s.dim(x)})", jumps=True, signed=False)


@line("reduction", 2)
def truth(s: Scope) -> Draft:
    """Whether any, all, how many."""
    x = s.pick(exact=True)
    name = s.choice(["any", "all", "count_nonzero"])
    dims = "" if s.chance(0.3) or not x.rank else f", {s.dim(x)}"
    return Draft(f"{{out}} = torch.{name}({x}{dims})", jumps=True)


def _of_few(x: Value) -> Value:
    """A value whose lines are so short that their products are small, for other elements too: one zero hides the rest."""
    if max(max(t.shape) for t in x.tensors) > 8:
        raise NoFit
    return x


@line("reduction", 1)
def product(s: Scope) -> Draft:
    """A product of few."""
    x = _of_few(s.pick(rank=1))
    clamped = f"{x}.clamp(-2, 2)" if x.dtype.is_floating_point or x.is_integer else f"{x}"
    return Draft(f"{{out}} = {clamped}.prod({_dim(s, x)})", "inexact", 2.0**5 * 5, signed=False)


@line("reduction", 2)
def running_sum(s: Scope) -> Draft:
    """A running sum or product."""
    x = s.pick(rank=1)
    gain = max(t.numel() for t in x.tensors) + 1
    if s.chance(0.7):
        return Draft(f"{{out}} = {x}.cumsum({s.dim(x)})", "inexact", gain, signed=False)
    return Draft(
        f"{{out}} = {_of_few(x)}.to(torch.float32).clamp(-1.5, 1.5).cumprod({s.dim(x)})",
        "inexact",
        60,
        signed=False,
    )


@line("reduction", 2)
def normed(s: Scope) -> Draft:
    """Softmax and its like."""
    x = s.pick(dtype="float", rank=1)
    forms = [
        f"torch.softmax({x}, {s.dim(x)})",
        f"torch.log_softmax({x}, {s.dim(x)})",
        f"F.softmin({x}, {s.dim(x)})",
        f"torch.logsumexp({x}, {_dim(s, x)})",
        f"torch.logcumsumexp({x}, {s.dim(x)})",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 4.0, signed=False)


@line("reduction", 2)
def statistics(s: Scope) -> Draft:
    """Variance, norms."""
    x = s.pick(dtype="float", rank=1)
    dims = _dims(s, x)
    forms = [
        f"torch.var({x}{dims or ', None'}{', correction=0' if s.chance(0.5) else ''})",
        f"torch.linalg.vector_norm({x} + 3, 2{dims})",
        f"torch.linalg.vector_norm({x}, 1{dims})",
        f"torch.linalg.vector_norm({x}, float('inf'){dims})",
        f"F.layer_norm({x}, ({x.size(-1)},), eps=0.5)",
    ]
    most = max(t.numel() for t in x.tensors) + 1
    gain = most + 4 * x.largest()
    return Draft(f"{{out}} = {s.choice(forms)}", "always", gain, signed=False)


@line("products", 3)
def matrices(s: Scope) -> Draft:
    """A product of matrices or vectors, with a transposed or a new factor."""
    x = s.pick(dtype="number", rank=1, most=4)
    if x.rank == 1:
        form = s.choice([f"torch.dot({x}, {x})", f"torch.outer({x}, {x})", f"{x} @ {x}"])
    else:
        columns = s.choice([1, 2, 3])
        if x.varies(-1):
            form = f"{x} @ {x}.mT"
        else:
            y = s.input_like((int(x.shape[-1]), columns), str(x.dtype).removeprefix("torch."))
            forms = [
                f"{x} @ {y}",
                f"{x} @ {x}.mT",
                f"F.linear({x}, {y}.t())",
                f"torch.matmul({x}, {y}[:, 0])",
            ]
            form = s.choice(forms)
    most = max(t.shape[-1] for t in x.tensors) + 1
    return Draft(f"{{out}} = {form}", "inexact", most * (x.largest() + 3), signed=False)


def _of_small_numbers(x: Value) -> str:
    """A value of elements of up to 2."""
    scale = 2.0 ** -max(0, math.ceil(math.log2(max(x.largest(), 1.0) / 2)))
    return str(x) if scale == 1 else f"({x} * {scale})"


@line("products", 2)
def batches(s: Scope) -> Draft:
    """Batched products and contractions."""
    x = s.pick(dtype="float", rank=3, most=3)
    small = _of_small_numbers(
        x
    )  # scores in the thousands are rounded by more than weights of the best ones differ
    forms = [
        f"torch.bmm({x}, {x}.transpose(1, 2))",
        f"torch.einsum('bij,bkj->bik', {x}, {x})",
        f"torch.einsum('bij,bij->ij', {x}, {x})",
        f"torch.baddbmm({x} @ {x}.mT, {x}, {x}.mT, beta=0.5)",
        f"F.scaled_dot_product_attention({small}, {small}, {x})",
        f"F.scaled_dot_product_attention({small}, {small}, {x}, is_causal=True)",
        f"torch.cdist({x}, {x} + 4)",
    ]
    most = max(t.shape[-1] * t.shape[0] for t in x.tensors) + 1
    return Draft(
        f"{{out}} = {s.choice(forms)}", "always", 4 * most * (x.largest() + 1), signed=False
    )
