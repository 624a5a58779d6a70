"""Attentions, linear layers and convolutions of the sizes that kernels compute in blocks, and what is computed with their results.

Engines make one kernel of a product and of what is behind it, differently for whole blocks and for what is left of them.
"""

from __future__ import annotations

from tests.fuzz.generate import SYMBOLS, Draft, NoFit, Scope, Value, line

ROWS = (1, 2, 4, 8, 16, 33, 48, 64, 65, 96, 128)
COLUMNS = (8, 16, 24, 32, 48, 64, 72, 96, 100, 128, 192)
"""Blocks of columns are 16, 24, 32, 48 or 64, as the processor and the engine have it."""
DTYPES = ("float32", "float32", "float16", "bfloat16")
"""Of one program in four; the others, which OpenVINO takes too, are of 32 bits."""
SMOOTH = (
    "torch.tanh({})",
    "torch.sigmoid({})",
    "F.gelu({})",
    "F.silu({})",
    "F.relu({})",
    "{}.abs()",
)


@line("blocks", 4)
def attention(s: Scope) -> Draft:
    """Values that are weighted by a softmax of products."""
    rank, heads = s.choice([2, 3, 4, 4, 4]), s.choice([1, 2, 3])
    lead = [1, heads][4 - rank :]
    rows, size, columns = _rows(s), s.choice([8, 16, 32, 64]), s.choice(COLUMNS)
    keys = s.choice([rows, rows, _rows(s), *ROWS[3:]])
    dtype = _dtype(s)
    q, k, v = (
        s.input_like([*lead, *shape], dtype, "normal")
        for shape in ((rows, size), (keys, size), (keys, columns))
    )
    scores = f"{q} @ {k}.mT * {size**-0.5!r}"
    forms = [f"torch.softmax({scores}, -1) @ {v}"]
    of_scores = s.choice(["row", "column", "full"])
    other = _beside(s, [*lead, rows, keys], of_scores, dtype)
    forms.append(f"torch.softmax({scores} {s.choice('+-*')} {other}, -1) @ {v}")
    forms.append(f"(torch.softmax({scores}, -1) * torch.sigmoid({other})) @ {v}")
    if rank == 4:
        mask = _beside(s, [*lead, rows, keys], s.choice(["column", "full", "matrix"]), dtype)
        function = f"F.scaled_dot_product_attention({q}, {k}, {v}"
        forms += [
            f"{function})",
            f"{function}, is_causal=True)",
            f"{function}, {mask} > -1)",
            f"{function}, {mask})",
        ]
    terms = _terms(dtype, size)
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 8.0, terms, signed=False)


@line("blocks", 4)
def linear_layers(s: Scope) -> Draft:
    """Two linear layers, of few rows or many, perhaps with a function between."""
    lead, rows = s.choice([[], [], [2]]), _rows(s)
    sizes = [s.choice(COLUMNS) for _ in range(3)]
    dtype = _dtype(s)
    x = s.input_like([*lead, rows, sizes[0]], dtype, "normal")
    between = s.choice(["{}", *SMOOTH])
    text, made = str(x), list[str]()
    for number, (size, columns) in enumerate(zip(sizes, sizes[1:], strict=False)):
        name = f"l{len(s.layers) + number}"
        options = f"bias={s.chance(0.6)}, dtype=torch.{dtype}"
        made.append(f"self.{name} = nn.Linear({size}, {columns}, {options})")
        text = f"self.{name}({text})"
        if not number:
            text = between.format(text)
    terms = _terms(dtype, 8)
    return Draft(f"{{out}} = {text}", "always", 8.0, terms, signed=False, layers=made)


@line("blocks", 2)
def product(s: Scope) -> Draft:
    """A product of matrices that are no weights, in batches or not."""
    lead = s.choice([[], [2], [1, 3]])
    rows, size, columns = _rows(s), s.choice(COLUMNS), s.choice([_rows(s), *COLUMNS])
    dtype = _dtype(s)
    x = s.input_like([*lead, rows, size], dtype, "normal")
    y = s.input_like([*s.choice([lead, []]), size, columns], dtype, "normal")
    forms = [
        f"{x} @ {y} * {size**-0.5!r}",
        f"{x} @ torch.tanh({y})",
        f"torch.softmax({x}, -1) @ {y}",
    ]
    terms = _terms(dtype, size)
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 8.0, terms, signed=False)


@line("blocks", 3)
def convolution(s: Scope) -> Draft:
    """A convolution of images, perhaps grouped or of one place, or transposed, with a function behind it."""
    channels, out = s.choice(COLUMNS[:6]), s.choice(COLUMNS[:6])
    batch, dtype = s.choice([1, 2, _rows(s) if s.dynamic else 1]), _dtype(s)
    x = s.input_like([batch, channels, s.choice([5, 8]), s.choice([5, 8, 17])], dtype, "normal")
    groups = s.choice([1, 1, 1, 2, 8])
    kernel, stride, padding = s.choice([(1, 1, 0), (3, 1, 1), (3, 2, 1), (2, 2, 0), (5, 1, 2)])
    name = s.choice(["Conv2d", "Conv2d", "Conv2d", "ConvTranspose2d"])
    options = f"{channels}, {out}, {kernel}, {stride}, {padding}, groups={groups}"
    layer, made = s.layer(f"nn.{name}({options}, bias={s.chance(0.6)}, dtype=torch.{dtype})")
    text = s.choice(["{}", "{}", *SMOOTH]).format(f"{layer}({x})")
    terms = _terms(dtype, 8)
    return Draft(f"{{out}} = {text}", "always", 8.0, terms, signed=False, layers=[made])


@line("blocks", 8)
def beside(s: Scope) -> Draft:
    """A result together with a tensor that broadcasts to it."""
    x = _result(s)
    kind = s.choice(["row", "row", "column", "full", "matrix", "batch", "one"])
    y = _beside(s, _sizes(s, x), kind, str(x.dtype).removeprefix("torch."))
    other = s.choice(["{}", "{}", "torch.sigmoid({})", "{}.abs()"]).format(y)
    forms = [
        f"{x} + {other}",
        f"{x} - {other}",
        f"{other} - {x}",
        f"{x} * {other}",
        f"{x} / (1 + {y}.abs())",
        f"torch.where({y} > 0, {x}, 0.5)",
        f"torch.where({y} > 0, {x}, {other})",
        f"F.relu({x} + {other}) + {x}",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 3.0, signed=False)


@line("blocks", 3)
def alone(s: Scope) -> Draft:
    """A function of a result."""
    x = _result(s)
    forms = [*SMOOTH, "{} * 0.5", "1 - {}", "{} / 3", "F.layer_norm({0}, {0}.shape[-1:], eps=0.5)"]
    return Draft(f"{{out}} = {s.choice(forms).format(x)}", "always", 6.0, signed=False)


@line("blocks", 2)
def heads_together(s: Scope) -> Draft:
    """Heads beside each other."""
    x = _result(s)
    if x.rank != 4:
        raise NoFit
    forms = [f"{x}.transpose(1, 2).flatten(2)", f"{x}.transpose(1, 2)", f"{x}.flatten(0, 1)"]
    return Draft(f"{{out}} = {s.choice(forms)}", "never", signed=False)


@line("blocks", 2)
def projected(s: Scope) -> Draft:
    """A linear layer on a result."""
    x = _result(s)
    columns = s.choice(COLUMNS)
    if x.varies(-1):
        raise NoFit
    options = f"bias={s.chance(0.6)}, dtype={x.dtype}"
    layer, made = s.layer(f"nn.Linear({x.shape[-1]}, {columns}, {options})")
    terms = _terms(str(x.dtype), 8)
    return Draft(f"{{out}} = {layer}({x})", "always", 6.0, terms, signed=False, layers=[made])


def _result(s: Scope) -> Value:
    """What a line of this family has made."""
    x = s.pick(dtype="float", rank=2, most=4, nonempty=True)
    if not x.name.startswith("v"):
        raise NoFit
    return x


def _dtype(s: Scope) -> str:
    return str(s.choice(DTYPES)) if s.seed % 4 == 0 else "float32"


def _rows(s: Scope) -> int | str:
    """A number of rows, or the name of one that varies."""
    return str(s.choice(SYMBOLS)) if s.dynamic and s.chance(0.7) else int(s.choice(ROWS))


def _sizes(s: Scope, x: Value) -> list[int | str]:
    """The sizes of a tensor, and the names of those that vary."""
    found = list[int | str]()
    for dim, size in enumerate(x.shape):
        names = [name for name in SYMBOLS if x.varies(dim) and s.sizes.captured[name] == size]
        if x.varies(dim) and not names:  # it is computed from one
            raise NoFit
        found.append(names[0] if names else size)
    return found


def _terms(dtype: str, number: int) -> float:
    """How many terms a sum is rounded after: halves are added up in 32 bits."""
    return float(number) if dtype.endswith("float32") else 1.0


def _beside(s: Scope, shape: list[int | str], kind: str, dtype: str) -> Value:
    rows, columns = shape[-2:]
    lead = [size if s.chance(0.5) else 1 for size in shape[:-2]]
    of_kind = {
        "row": s.choice([[rows, 1], [*lead, rows, 1]]),
        "column": [columns],
        "full": shape,
        "matrix": [rows, columns],
        "batch": [*lead, 1, 1],
        "one": [1],
    }
    return s.input_like(of_kind[kind], dtype, "normal")
