"""The same elements at other places: views, slices, joins, padding."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line


def part(s: Scope, x: Value) -> str:
    """A subscript of slices, places and new axes."""
    parts = []
    for dim in range(x.rank):
        size = int(x.shape[dim])
        dice = s.rng.random()
        if dice < 0.3:
            parts.append(":")
        elif dice < 0.75:
            start, stop = s.rng.randint(-size, size), s.rng.randint(-size, size + 1)
            step = s.choice(["", "", "", ":2", ":3"])
            first = "" if s.chance(0.3) else str(start)
            last = "" if s.chance(0.5) else str(stop)
            parts.append(f"{first}:{last}{step}")
        elif dice < 0.9 and size:
            parts.append(str(s.rng.randrange(-size, size)))
        elif dice < 0.95:
            parts.append("None, :")
        else:
            parts.append("...")
            break
    return f"[{', '.join(parts) or '...'}]"


def view(s: Scope, x: Value) -> str:
    """An expression that shares the memory of a value."""
    forms = [f"{x}.unsqueeze({s.rng.randint(-x.rank - 1, x.rank)})", f"{x}[None]"]
    if x.rank:
        dim, other = s.dim(x), s.dim(x)
        size = int(x.shape[dim])
        forms += [f"{x}{part(s, x)}"] * 4
        forms += [
            f"{x}.transpose({dim}, {other})",
            f"{x}.movedim({dim}, {other})",
            f"{x}.squeeze({dim})",
            f"{x}.narrow({dim}, {s.rng.randint(0, size)}, {s.rng.randint(0, max(size - 1, 0))})",
            f"{x}.unfold({dim}, {min(2, max(size, 1))}, {s.choice([1, 2])})",
            f"{x}.squeeze()",
        ]
        if size:
            forms += [
                f"{x}.select({dim}, {s.rng.randrange(-size, size)})",
                f"{x}.chunk(2, {dim})[{s.choice([0, -1])}]",
                f"{x}.split(2, {dim})[0]",
                f"{x}.unbind({dim})[{s.rng.randrange(-size, size)}]"
                if not x.varies(dim)
                else f"{x}[-1]",
                f"{x}.tensor_split(2, {dim})[{s.choice([0, 1])}]",
            ]
    if x.rank > 1:
        order = list(range(x.rank))
        s.rng.shuffle(order)
        forms += [f"{x}.permute({', '.join(map(str, order))})"] * 2
        forms += [
            f"{x}.mT",
            f"{x}.diagonal({s.rng.randint(-1, 1)})",
            f"{x}.diagonal({s.rng.randint(-1, 1)}, -1, -2)",
            f"{x}.flatten({s.choice(['0, 1', '-2, -1', '0', '1'])})",
        ]
    forms += [_reshaped(s, x)] * 2
    if not s.dynamic and x.tensors[0].numel() > 1:
        strides = x.tensors[0].stride()
        forms.append(
            f"{x}.as_strided({tuple(x.shape)}, {strides}, {x.tensors[0].storage_offset()})"
            if s.chance(0.3)
            else f"{x}.as_strided((2, 1), (1, 1), {x.tensors[0].storage_offset()})"
        )
    chosen = s.choice(forms)
    return str(chosen)


def _reshaped(s: Scope, x: Value) -> str:
    """A reshape that keeps the number of elements."""
    name = s.choice(["view", "reshape", "reshape"])
    forms = [f"{x}.{name}(-1)"]
    if x.rank:
        dim = s.dim(x)
        if not x.varies(dim) and x.shape[dim] in (2, 4):
            forms.append(f"{x}.unflatten({dim}, (2, {int(x.shape[dim]) // 2}))")
        forms.append(f"{x}.{name}(1, {x.size(0)}, -1)" if 0 not in x.shape else f"{x}.{name}(-1)")
        if x.rank > 1:
            forms.append(f"{x}.{name}({x.size(-1)}, -1)" if 0 not in x.shape else f"{x}.{name}(-1)")
    return str(s.choice(forms))


@line("movement", 6)
def viewed(s: Scope) -> Draft:
    """A view."""
    x = s.pick()
    return Draft(f"{{out}} = {view(s, x)}", "never")


@line("movement", 2)
def viewed_twice(s: Scope) -> Draft:
    """A part of a view."""
    x = s.pick(rank=1)
    second = s.choice(
        [
            ".flatten()",
            "[:1]",
            "[-1:]",
            "[::2]",
            ".unsqueeze(0)",
            "[..., :2]",
            "[..., -1]",
            ".mT",
            ".clone()",
            ".contiguous()",
        ]
    )
    return Draft(f"{{out}} = {view(s, x)}{second}", "never")


@line("movement", 2)
def expanded(s: Scope) -> Draft:
    """A broadcast to more."""
    x = s.pick(most=3)
    forms = [f"{x}.expand(2, {', '.join(['-1'] * x.rank)})" if x.rank else f"{x}.expand(3)"]
    y = s.pick()
    forms += [f"{x}.expand_as({y})", f"torch.broadcast_to({x}, {y}.shape)"]
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("movement", 3)
def rearranged(s: Scope) -> Draft:
    """A copy in another order."""
    x = s.pick(rank=1)
    dim = s.dim(x)
    forms = [
        f"{x}.flip({dim})",
        f"{x}.roll({s.rng.randint(-3, 3)}, {dim})",
        f"{x}.roll({s.rng.randint(-3, 3)})",
        f"{x}.repeat({', '.join(['2'] + ['1'] * (x.rank - 1))})",
        f"torch.tile({x}, (2,))",
        f"{x}.repeat_interleave(2, {dim})",
        f"torch.stack([{x}, {x}.flip({dim})], {dim})",
        f"torch.cat([{x}, {x}[:1]], 0)",
    ]
    if x.rank > 1:
        forms += [
            f"{x}.tril({s.rng.randint(-2, 2)})",
            f"{x}.triu({s.rng.randint(-2, 2)})",
            f"torch.rot90({x}, {s.rng.randint(1, 3)}, [0, 1])",
            f"torch.block_diag({x}, {x})" if x.rank == 2 else f"{x}.flip(0, 1)",
        ]
    if x.rank == 1:
        forms += [
            f"torch.diag({x})",
            f"torch.diag_embed({x}, 1)",
            f"torch.meshgrid({x}, {x}, indexing='ij')[1]",
        ]
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("movement", 2)
def joined(s: Scope) -> Draft:
    """Two values in a row; of two dtypes they are promoted."""
    x, y = s.pick(rank=1), s.pick(rank=1)
    name = s.choice(["cat", "cat", "stack", "hstack", "vstack"])
    dim = f", {s.dim(x)}" if name in ("cat", "stack") else ""
    return Draft(f"{{out}} = torch.{name}([{x}, {y}]{dim})")


@line("movement", 2)
def parts_joined(s: Scope) -> Draft:
    """Parts of one value in another order, some of them computed with: rotations of pairs, quaternions."""
    x = s.pick(dtype="number", rank=1)
    dim, count = -1 if s.chance(0.6) else s.dim(x), s.rng.randint(2, 4)
    order = s.rng.sample(range(count), count)
    if s.chance(0.2):
        order[s.rng.randrange(count)] = s.rng.randrange(count)
    others = ("{p} * -1", "{p} * 2", "{p}.abs()", f"{{p}}.flip({dim})")
    forms = (*["{p}"] * 5, *["-{p}"] * 4, *others)
    parts = [f"{x}.tensor_split({count}, {dim})[{place}]" for place in order]
    joined = ", ".join(s.choice(forms).format(p=part) for part in parts)
    return Draft(f"{{out}} = torch.cat([{joined}], {dim})")


@line("movement", 2)
def padded(s: Scope) -> Draft:
    """More at the ends."""
    x = s.pick(rank=1)
    low, high = s.rng.randint(-1, 2), s.rng.randint(-1, 2)
    forms = [f"F.pad({x}, [{low}, {high}])", f"F.pad({x}, [{low}, {high}], value=2)"]
    if x.is_float and x.rank in (2, 3, 4):
        mode = s.choice(["reflect", "replicate", "circular"])
        pads = [s.rng.randint(0, 2) for _ in range(2 if x.rank < 4 else 4)]
        forms.append(f"F.pad({x}, {pads}, mode='{mode}')")
    return Draft(f"{{out}} = {s.choice(forms)}", "never")


@line("movement", 1)
def by_size(s: Scope) -> Draft:
    """A part that the size of another value says."""
    x, y = s.pick(rank=1), s.pick(rank=1)
    dim = s.dim(y)
    size = y.size(dim)
    if x.rank < 1:
        raise NoFit
    forms = [
        f"{x}[:{size}]",
        f"{x}[-{size}:]",
        f"{x}[{size}:]",
        f"{x}[..., :{size} - 1]",
        f"{x}[..., -{size}:]",
        f"{x} * {size}",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}")
