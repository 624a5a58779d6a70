"""Layers with weights and state: convolutions, normalizations, pooling, recurrences, buffers."""

from __future__ import annotations

from tests.fuzz.generate import Draft, NoFit, Scope, Value, line


def _float(s: Scope, rank: int, most: int) -> Value:
    x = s.pick(dtype="float32", rank=rank, most=most, nonempty=True)
    return x


@line("layers", 5)
def convolution(s: Scope) -> Draft:
    """A convolution of one to three dimensions, perhaps transposed, grouped, strided, dilated, padded."""
    x = _float(s, 3, 5)
    places = x.rank - 2
    channels = s.fixed_size(x, 1)
    divisors = [n for n in range(2, channels + 1) if channels % n == 0]
    groups = s.choice([1, 1, 1, *divisors])
    out = groups * s.rng.randint(1, 3)
    transposed = s.chance(0.25)
    kernel = s.rng.randint(1, 3)
    options = [f"kernel_size={kernel}", f"groups={groups}", f"bias={s.chance(0.7)}"]
    stride = s.choice([1, 1, 2])
    padding = s.choice(["0", "1", "1", "'same'" if stride == 1 and not transposed else "1"])
    options += [f"stride={stride}", f"padding={padding}"]
    if s.chance(0.3):
        options.append("dilation=2")
    if not transposed and s.chance(0.1) and padding != "0":
        options.append("padding_mode='reflect'" if s.chance(0.5) else "padding_mode='circular'")
    name = f"nn.Conv{'Transpose' if transposed else ''}{places}d"
    layer, made = s.layer(f"{name}({channels}, {out}, {', '.join(options)})")
    return Draft(f"{{out}} = {layer}({x})", "always", 12.0, signed=False, layers=[made])


@line("layers", 3)
def pooling(s: Scope) -> Draft:
    """Pooling in windows."""
    x = _float(s, 3, 5)
    places = x.rank - 2
    kernel, stride = s.rng.randint(1, 3), s.choice([1, 2])
    padding = s.rng.randint(0, kernel // 2)
    ceil = s.chance(0.3)
    forms = [
        f"F.max_pool{places}d({x}, {kernel}, {stride}, {padding}, ceil_mode={ceil})",
        f"F.avg_pool{places}d({x}, {kernel}, {stride}, {padding}, ceil_mode={ceil}, count_include_pad={s.chance(0.5)})",
        f"F.adaptive_avg_pool{places}d({x}, {s.rng.randint(1, 2)})",
        f"F.interpolate({x}, scale_factor=2)",
    ]
    if places == 2:
        forms += [
            f"F.interpolate({x}, scale_factor=2, mode='bilinear', align_corners={s.chance(0.5)})",
            f"F.pixel_unshuffle({x}, 1)",
            f"F.unfold({x}, 2)",
        ]
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 4.0, signed=False)


@line("layers", 4)
def normalization(s: Scope) -> Draft:
    """A normalization that may keep statistics; the epsilon is large, so that equal rows do not magnify rounding."""
    x = _float(s, 2, 5)
    channels = s.fixed_size(x, 1)
    places = {2: "1d", 3: "1d", 4: "2d", 5: "3d"}[x.rank]
    track = s.chance(0.5)
    forms = [
        f"nn.BatchNorm{places}({channels}, eps=0.5)",
        f"nn.BatchNorm{places}({channels}, eps=0.5, momentum=None)",
        f"nn.BatchNorm{places}({channels}, eps=0.5, affine=False)",
        f"nn.GroupNorm(1, {channels}, eps=0.5)",
        f"nn.GroupNorm({channels}, {channels}, eps=0.5)",
    ]
    if x.rank > 2:
        forms.append(
            f"nn.InstanceNorm{places}({channels}, eps=0.5, affine=True, track_running_stats={track})"
        )
    if not x.varies(-1):
        forms += [
            f"nn.LayerNorm({int(x.shape[-1])}, eps=0.5)",
            f"nn.RMSNorm({int(x.shape[-1])}, eps=0.5)",
        ]
    layer, made = s.layer(s.choice(forms))
    most = max(t.numel() for t in x.tensors) ** 0.5
    return Draft(f"{{out}} = {layer}({x})", "always", 8.0 + most, signed=False, layers=[made])


@line("layers", 3)
def linear(s: Scope) -> Draft:
    """A linear map, perhaps used twice."""
    x = _float(s, 1, 4)
    size = s.fixed_size(x, -1)
    layer, made = s.layer(f"nn.Linear({size}, {s.choice([size, 1, 2, 3])}, bias={s.chance(0.7)})")
    text = f"{layer}({x})" if s.chance(0.7) else f"F.relu({layer}({x})) + {layer}({x})"
    return Draft(f"{{out}} = {text}", "always", 6.0, signed=False, layers=[made])


@line("layers", 1)
def embedding(s: Scope) -> Draft:
    """Rows of a table."""
    i = s.positions(s.choice([1, 2]), 5)
    layer, made = s.layer(
        f"nn.Embedding(5, {s.rng.randint(1, 4)}{s.choice(['', ', padding_idx=1'])})"
    )
    return Draft(f"{{out}} = {layer}({i})", "never", layers=[made])


@line("layers", 1)
def recurrent(s: Scope) -> Draft:
    """A recurrent layer over rows."""
    x = _float(s, 2, 3)
    size = s.fixed_size(x, -1)
    if x.varies(0):
        raise NoFit
    name = s.choice(["LSTM", "GRU", "RNN"])
    layer, made = s.layer(f"nn.{name}({size}, 2, batch_first={s.chance(0.5)})")
    return Draft(f"{{out}} = {layer}({x})[0]", "always", 12.0, signed=False, layers=[made])


@line("layers", 2)
def bilinear(s: Scope) -> Draft:
    """Parameters in plain arithmetic."""
    x = _float(s, 1, 4)
    size = s.fixed_size(x, -1)
    layer, made = s.layer(f"nn.Parameter(torch.randn({size}))")
    forms = [
        f"{x} * {layer} + {layer}",
        f"F.linear({x}, torch.softmax({layer}, 0)[None])",
        f"{x} + {layer}.exp().sum()",
        f"F.prelu({x}, {layer}[:1])",
    ]
    return Draft(f"{{out}} = {s.choice(forms)}", "always", 8.0, signed=False, layers=[made])


@line("layers", 3)
def state(s: Scope) -> Draft:
    """A buffer that calls change."""
    x = s.pick(dtype="float", rank=1, exact=True)
    if not x.grid:
        raise NoFit
    name = f"b{len(s.layers)}"
    made = f"self.register_buffer('{name}', torch.arange(3.0))"
    forms = [
        f"self.{name}.add_(1)\n{{out}} = {x} + self.{name}[0]",
        f"self.{name}[0] += {x}.sum().to(torch.float32)\n{{out}} = self.{name} * 2",
        f"{{out}} = self.{name} + {x}.amax().to(torch.float32)\nself.{name}.copy_({{out}} * 0.5)",
        f"self.{name}.copy_(self.{name} + 1)\n{{out}} = self.{name}.clone()",
        f"{{out}} = self.{name}.clone()\nself.{name}.roll(1)\nself.{name}[1:] = {x}.flatten()[0].to(torch.float32)",
    ]
    return Draft(
        s.choice(forms), "always", 4.0 + x.tensors[-1].numel(), signed=False, layers=[made]
    )
