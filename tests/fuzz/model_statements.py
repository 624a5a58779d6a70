"""What a random model's ``forward`` may do around ops: state of every kind, hooks, modes, aliases, Python's numbers.

In every statement ``x`` is a tensor of rows of ``WIDTH`` floats, before and after it; ``{n}`` is a name of its own, ``{k}`` a small
number.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 4


@dataclass(frozen=True)
class Statement:
    """Lines of a module.

    Attributes:
        body: of ``forward``.
        init: of ``__init__``.
        weight: how often it is chosen, beside others.
    """

    body: str
    init: str = ""
    weight: int = 1


def _buffer(body: str, weight: int = 1) -> Statement:
    return Statement(body, f'self.register_buffer("{{n}}", torch.zeros({WIDTH}))', weight)


def _attribute(body: str, value: str, weight: int = 1) -> Statement:
    return Statement(body, f"self.{{n}} = {value}", weight)


def _layer(body: str, value: str, weight: int = 1, more: str = "") -> Statement:
    return Statement(body, f"self.{{n}} = {value}" + ("\n" + more if more else ""), weight)


_LINEAR = f"nn.Linear({WIDTH}, {WIDTH})"

STATEMENTS = (
    # ops
    Statement("x = torch.tanh(x) * {k}", weight=3),
    Statement("x = x + x.mean(0)", weight=3),
    Statement("x = x * x.shape[0] + x.dim()"),
    _layer("x = self.{n}(x)", _LINEAR, 3),
    _layer("x = torch.relu(self.{n}(self.{n}(x)))", _LINEAR),
    # buffers
    _buffer("self.{n} = self.{n} + x.mean(0)\nx = x + self.{n}", 2),
    _buffer("self.{n} = x.mean(0)"),
    _buffer("self.{n} += x.mean(0)\nx = x - self.{n}", 2),
    _buffer("self.{n}.mul_(0.5).add_(x.mean(0))\nx = x + self.{n}", 2),
    _buffer("with torch.no_grad():\n    self.{n}.lerp_(x.mean(0), 0.25)\nx = x - self.{n}", 2),
    _buffer("self.{n}[1:].add_(x.sum() * 0.125)\nx = x + self.{n}"),
    _buffer("self.{n}[0] = x.sum() * 0.125\nx = x + self.{n}"),
    _buffer("x = x + self.{n}\nself.{n}.copy_(x[0])"),
    _buffer("self.{n}.data.add_({k})\nx = x + self.{n}"),
    _buffer("self.{n}.data = self.{n}.data + {k}\nx = x + self.{n}"),
    _buffer("before = self.{n}.clone()\nself.{n}.fill_({k})\nx = x + before"),
    _buffer("if self.training:\n    self.{n} += x.mean(0)\nx = x + self.{n}", 2),
    _buffer("y = self.{n}.view(2, -1)\nself.{n} += {k}\nx = x + y.sum()"),
    Statement(
        "if self.{n} is None:\n    self.{n} = x.mean(0)\nx = x + self.{n}",
        'self.register_buffer("{n}", None)',
    ),
    # attributes that are no state to PyTorch
    _attribute("self.{n} += 1\nx = x * self.{n}", "0"),
    _attribute("self.{n} += 1", "0", 2),
    _attribute("self.{n}.append(x.sum())", "[]"),
    _attribute("self.{n}.append({k})\nx = x + len(self.{n})", "[]"),
    _attribute("self.{n}[0] = self.{n}[0] + x.mean(0)\nx = x + self.{n}[0]", "[torch.zeros(4)]"),
    _attribute(
        'if "sum" not in self.{n}:\n    self.{n}["sum"] = x.mean(0)\nx = x + self.{n}["sum"]', "{}"
    ),
    _attribute(
        "if x.shape[0] not in self.{n}:\n    self.{n}[x.shape[0]] = torch.arange(4.0)\nx = x * self.{n}[x.shape[0]]",
        "{}",
    ),
    _attribute("self.{n}.add_(x.mean(0))\nx = x + self.{n}", f"torch.zeros({WIDTH})"),
    _attribute("self.{n} = self.{n} + x.mean(0)\nx = x + self.{n}", f"torch.zeros({WIDTH})"),
    _attribute("self.{n} = x\nx = x + 1", "None"),
    _attribute("if self.{n} is not None:\n    x = x + self.{n}\nself.{n} = x.mean(0)", "None"),
    _attribute("x = x * self.{n}", "{k}", 2),
    _attribute("x = x * self.{n}[0] + self.{n}[1]['b']", "({k}, dict(b=2.0))"),
    # objects and variables
    _attribute("self.{n}.k += 1\nx = x * self.{n}.k", "SimpleNamespace(k=0)"),
    _attribute("x = x * self.{n}.k + self.{n}.l[0]", "SimpleNamespace(k=2, l=[1])", 2),
    _attribute("x = self.{n}(x)", "Counter()"),
    _attribute("x = self.{n}(x)", "counting()"),
    _attribute("x = x * next(self.{n})", "itertools.count(1)"),
    Statement("COUNTS['{n}'] = COUNTS.get('{n}', 0) + 1\nx = x * COUNTS['{n}']"),
    Statement("x = x * SCALES[0]", weight=2),
    Statement("global TOTAL\nTOTAL += 1\nx = x + TOTAL"),
    Statement("x = helper(x)"),
    Statement("x = x * Settings.scale", weight=2),
    Statement("Settings.scale += 1\nx = x * Settings.scale"),
    # parameters
    Statement("x = x * self.{n}", f"self.{{n}} = nn.Parameter(torch.ones({WIDTH}) * {{k}})", 2),
    Statement(
        "with torch.no_grad():\n    self.{n}.add_(x.mean(0).detach())\nx = x * self.{n}",
        f"self.{{n}} = nn.Parameter(torch.ones({WIDTH}))",
    ),
    Statement(
        "self.{n}.data.mul_(0.5)\nx = x * self.{n}",
        f"self.{{n}} = nn.Parameter(torch.ones({WIDTH}))",
    ),
    Statement(
        "x = x + sum(self.{n})",
        f"self.{{n}} = nn.ParameterList([torch.ones({WIDTH}), torch.ones({WIDTH})])",
    ),
    # layers with state, and those that are rewritten
    _layer("x = self.{n}(x)", f"nn.BatchNorm1d({WIDTH}, eps=0.1)", 2),
    _layer("x = self.{n}(x)", f"nn.BatchNorm1d({WIDTH}, eps=0.1, momentum=None)"),
    _layer("x = self.{n}(x)", f"nn.utils.parametrizations.spectral_norm({_LINEAR})"),
    _layer("x = self.{n}(x)", f"nn.utils.parametrizations.weight_norm({_LINEAR})"),
    _layer("x = self.{n}['b'](self.{n}['a'](x))", f"nn.ModuleDict(dict(a={_LINEAR}, b=nn.ReLU()))"),
    _layer("for layer in self.{n}:\n    x = layer(x)", f"nn.ModuleList([{_LINEAR}, nn.Tanh()])"),
    _layer(
        "x = self.{n}(x)",
        _LINEAR,
        more="self.{n}.register_forward_hook(lambda module, given, result: result * {k})",
    ),
    _layer(
        "x = self.{n}(x)",
        _LINEAR,
        more="self.{n}.register_forward_pre_hook(lambda module, given: (given[0] + {k},))",
    ),
    Statement(
        "x = self.{n}(x)",
        f"self.{{n}} = {_LINEAR}\nself.{{n}}c = []\n"
        "self.{n}.register_forward_hook(lambda module, given, result: self.{n}c.append(1))",
    ),
    # aliases
    Statement("y = x.contiguous()\ny.add_({k})\nx = x + y"),
    Statement("y = x.reshape(-1)\ny.mul_(2)\nx = x + y[0]"),
    Statement("x = x.t()\nx = x.contiguous().t()"),
    Statement("x.add_({k})", weight=2),
    Statement("x[:, 1:] *= {k}"),
    Statement("x[0] = 0"),
    Statement("y = x.clone()\nx.view(-1)[::3] = {k}\nx = x + y"),
    Statement("y = x[0]\nx = x.clone()\nx += 1\nx = x + y"),
    Statement("torch.add(x, {k}, out=x)"),
    # modes
    Statement("with torch.no_grad():\n    x = x * {k}"),
    Statement("with torch.enable_grad():\n    x = x + {k}"),
    Statement('with torch.autocast("cpu", enabled=False):\n    x = x * {k}'),
    Statement(
        "with torch.enable_grad():\n    z = x.detach().clone().requires_grad_()\n"
        "    g, = torch.autograd.grad((z * z).sum(), z)\nx = x + g.detach()"
    ),
    Statement("x = torch.func.vmap(lambda row: row * row.sum())(x)"),
    Statement("x = torch.func.grad(lambda z: (z * z).sum())(x)"),
    Statement("x = torch.utils.checkpoint.checkpoint(lambda z: z * {k}, x, use_reentrant=False)"),
    # Python's numbers and control flow; zero is what norms give but for rounding, so nothing is compared with that
    Statement("if x.shape[0] > 2:\n    x = x + {k}", weight=2),
    Statement("number = int((x > 0.123).sum())\nx = x * (number + 1)", weight=2),
    Statement("number = x.sum().item()\nx = x + number * 0.125"),
    Statement("if x.sum() > 0.123:\n    x = x * {k}"),
    Statement("if bool((x > 0.123).any()):\n    self.{n} += 1\nx = x * self.{n}", "self.{n} = 1"),
    Statement("for row in x[:2]:\n    x = x + row"),
    Statement("x = torch.stack([row * i for i, row in enumerate(x)])"),
    Statement("x = x * sum(1 for _ in self.parameters())"),
    Statement("x = x + float(f'{{k}}.5')"),
    Statement("x = torch.cat([x[x[:, 0] > 0], x[x[:, 0] <= 0]])"),
    Statement("try:\n    x = x @ x\nexcept RuntimeError:\n    x = x + {k}"),
    Statement("assert x.dim() == 2\nx = x + 1"),
)

STATEMENTS_OF_ARGUMENTS = (
    Statement("y.add_({k})\nx = x + y.mean(0)"),
    Statement("x = x + y.mean(0)", weight=2),
    Statement('batch["new"] = x + {k}'),
    Statement('batch["y"] = batch["y"] * 2\nx = x + batch["y"].mean(0)'),
    Statement('batch["seen"].append(x.mean())'),
    Statement('x = x + batch["seen"][0] if batch["seen"] else x - 1'),
    Statement('batch["y"].mul_(0.5)\nx = x + y.mean(0)'),
    Statement('x = x * batch.get("scale", 2)'),
    Statement('y = batch.pop("y")\nx = x + y.mean(0)'),
)
"""Of the whole model, which is given ``batch``, a dictionary, and has ``y = batch["y"]``, of as many rows as ``x``."""

RESULTS = (
    "x",
    "x",
    "(x, y)",
    "[x, x * 2]",
    "dict(x=x, y=y)",
    "(x, None, 3)",
    "(x, batch)",
    "(x, x.mean().item())",
    "(x, x[0], x.t())",
    "(x, x)",
)

ACTIONS = (
    "",
    "",
    "",
    "model.eval()",
    "model.train()",
    "model.load_state_dict({{name: value + 1 for name, value in model.state_dict().items()}})",
    "with torch.no_grad():\n    for p in model.parameters():\n        p.mul_(0.5)",
    "for p in model.parameters():\n    p.data = p.data * 0.5",
    "for part in model.parts:\n    part.scale = {k}",
    "for part in model.parts:\n    part.factor = nn.Parameter(torch.ones(4) * {k})",
    "model.parts[0].register_forward_hook(lambda module, given, result: result + {k})",
    "model.parts[0].forward = lambda x: x * {k}",
    "model.parts[-1] = nn.ReLU()",
    "model.config.scale = {k}",
    "model.config.more['offset'] = {k}",
    "model.space['SCALES'][0] = {k}",
    "model.space['TOTAL'] = {k}",
    "model.space['Settings'].scale = {k}",
    "type(model.parts[0]).forward = lambda self, x: x * {k}",
)
"""What a user does between two calls; every part has ``scale``, a number, and ``factor``, a parameter.

Not ``p.data.mul_(..)``, of which PyTorch tells nobody: ``refresh`` is for that.
"""

HEAD = """
COUNTS, SCALES, TOTAL = {}, [1.0], 0

class Settings:
    scale = 1

class Counter:
    def __init__(self):
        self.calls = 0
    def __call__(self, x):
        self.calls += 1
        return x * self.calls

def counting():
    calls = 0
    def count(x):
        nonlocal calls
        calls += 1
        return x + calls
    return count

def helper(x, calls=[0]):
    calls[0] += 1
    return x + calls[0] * SCALES[0]
"""
"""Before the classes of every model."""
