"""What users of torch.compile write, beside eager PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.dynamo.agreement import assert_close, assert_same, compiled
from torch2mlir import dynamo
from torch2mlir.runtime import segment

torch.manual_seed(0)
X = torch.linspace(-2, 2, 12).view(3, 4)
LEAF = X.clone().requires_grad_()


def views_of_intermediates(x: torch.Tensor) -> Any:
    y = x.t() + 1
    return y, y.reshape(-1), y[0], y.t()


def writes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(y)
    y.mul_(2)
    return x + y


def writes_through_views(x: torch.Tensor) -> torch.Tensor:
    x[0].zero_()
    x.t()[1].add_(3)
    return x * 2


def swaps(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    kept = a.clone()
    a.copy_(b)
    b.copy_(kept)
    return a - b


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "elementwise": (lambda x: (x + 1, x.sin() * 2), (LEAF,)),
    "views_of_intermediates": (views_of_intermediates, (X,)),
    "views_of_inputs": (lambda x: (x.t(), x.view(-1), x), (X,)),
    "writes": (writes, (X, X + 1)),
    "writes_through_views": (writes_through_views, (X,)),
    "swaps": (swaps, (X, X + 1)),
    "targets_behind_the_end": (
        lambda x: F.multilabel_margin_loss(
            x, torch.tensor([[0, 2, -1, 1], [3, -1, 0, 0], [-1, 1, 2, 3]])
        ),
        (LEAF,),
    ),
    "determinants": (
        # LAPACK's factors are the transposed matrix's where this lies in memory row by row, and so is the gradient's formula
        lambda x: (torch.linalg.det(x), torch.linalg.slogdet(x), torch.linalg.det(x.mT * 2)),
        ((torch.randn(2, 4, 4) + 2 * torch.eye(4)).requires_grad_(),),
    ),
    "expanded_results": (lambda x: ((x + 1)[:, None].expand(3, 5, 4), x.sum().expand(7)), (X,)),
    "results_with_gaps": (lambda x: (x + 1)[:, ::2], (X,)),
    "channels_last": (
        lambda x, w: F.conv2d(x, w).relu(),
        (
            torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),
            torch.randn(8, 3, 3, 3, requires_grad=True),
        ),
    ),
    "dtypes": (
        lambda a, b: (a + b, b.to(torch.uint8) + 3, a > 0, a.double() * 2, a.to(torch.bfloat16)),
        (X, torch.arange(12).view(3, 4)),
    ),
    "complex": (
        lambda x: (x * (1 + 2j), torch.view_as_real(x.conj() * 2), x.conj()),
        (torch.randn(3, 4, dtype=torch.complex64),),
    ),
    "empty": (lambda x: (x + 1, torch.cat([x, x]), x.sum()), (torch.randn(0, 4),)),
    "attention": (
        lambda q: F.scaled_dot_product_attention(q, q * 2, q + 1, is_causal=True),
        (torch.randn(2, 2, 8, 16, requires_grad=True) / 4,),
    ),
    "grad": (lambda x: torch.func.grad(lambda t: (t.sin() ** 2).sum())(x), (X,)),
    "vmap": (lambda x: torch.vmap(lambda row: row.softmax(0) * row.sum())(x), (X,)),
    "jvp": (
        lambda x: torch.func.jvp(lambda t: t.exp().sum(0), (x,), (torch.ones_like(x),)),
        (X,),
    ),
    "cond": (
        lambda x: torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,)),
        (X,),
    ),
    "nested": (lambda x: {"a": [x + 1, (x.sum(), 3, None, "s")]}, (X,)),
}


@pytest.mark.share(24)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    function, arguments = PROGRAMS[name]
    assert_same(function, *arguments)


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["elementwise", "writes_through_views"])
def test_program_on_iree(name: str) -> None:
    function, arguments = PROGRAMS[name]
    options = {"engine": "iree", "output_type": "linalg-on-tensors"}
    assert_same(function, *arguments, options=options, dynamic=True)


def test_the_backend_is_found_by_its_entry_point() -> None:
    assert "torch2mlir" in torch._dynamo.list_backends()
    assert torch._dynamo.lookup_backend("torch2mlir") is dynamo.backend


# random numbers


def drawing(x: torch.Tensor) -> Any:
    return (
        torch.rand(3),
        torch.randn_like(x),
        torch.randint(0, 10, (4,)),
        x.clone().uniform_(2, 3),
        torch.bernoulli(x.sigmoid()),
        F.dropout(x, 0.5),
        torch.randperm(7),
        x.clone().exponential_(),
        torch.multinomial(x.softmax(-1), 2),
        F.dropout2d(x.view(1, 3, 2, 2), 0.5),
        F.alpha_dropout(x, 0.3, training=True),
        torch.normal(x, x.abs()),
        F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.3),
    )


def test_random_numbers_are_those_of_eager_mode() -> None:
    assert_same(drawing, X)
    assert dynamo.metrics().draws == 13, dynamo.metrics()


def dropping(x: torch.Tensor) -> Any:
    """Dropout draws in the order in which elements lie."""
    image = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    return (
        F.dropout(x.t() * 2, 0.5),
        F.dropout(x.t(), 0.5),
        F.dropout(x[:, ::2], 0.5),
        F.dropout(x.view(3, 2, 2).permute(2, 0, 1) * 2, 0.5),
        F.dropout(x[:, :1].expand(-1, 6) * 2, 0.5),
        F.dropout(image * x.sum(), 0.5),
    )


def test_dropout_of_what_does_not_lie_in_order() -> None:
    assert_same(dropping, X)
    assert dynamo.metrics().draws == 6, dynamo.metrics()
    assert_same(lambda x: checkpoint(dropping, x, use_reentrant=False), LEAF)


def test_random_numbers_of_dynamic_sizes() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x * 2, 0.5) + torch.rand(x.shape[0] * 2, 4)[: x.shape[0]]

    other = compiled(function, dynamic=True)
    for size in (3, 5, 8):
        x = torch.randn(size, 4)
        torch.manual_seed(size)
        actual = other(x)
        torch.manual_seed(size)
        assert_close(actual, function(x))


def test_dropout_of_a_checkpoint_is_the_same_in_the_backward() -> None:
    layers = nn.Sequential(
        nn.Linear(4, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 4), nn.Dropout(0.2)
    )
    assert_same(lambda x: checkpoint(layers, x, use_reentrant=False).sin(), LEAF)
    assert dynamo.metrics().draws >= 3


# sizes


@pytest.mark.parametrize("engine, programs", [("xla", 3), (None, 1)])
def test_dynamic_sizes_compile_once_for_each_size_where_the_engine_needs_that(
    engine: str | None, programs: int
) -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.softmax(x @ x.t(), -1).sum(0), x.shape[0] * 2

    other = compiled(function, {"engine": engine}, dynamic=True)
    for size in (3, 5, 7, 5, 3):
        x = torch.randn(size, 4)
        assert_close(other(x), function(x))
    metrics = dynamo.metrics()
    assert (metrics.graphs, metrics.programs) == (1, programs)
    by_rule = [] if engine else ["segment of 4 calls: onnxruntime, f32 in varying sizes"]
    assert metrics.choices == by_rule


def test_weights_that_come_with_every_call_stay_on_xla() -> None:
    layer = nn.Conv2d(3, 64, 3).requires_grad_(False)
    other = compiled(layer)
    for _ in range(3):
        x = torch.randn(1, 3, 64, 64)
        torch.testing.assert_close(other(x), layer(x), rtol=1e-4, atol=1e-3)
        layer.weight.data.add_(1)  # nobody counts this write
    assert not dynamo.metrics().choices and dynamo.metrics().programs == 1


def test_programs_of_old_sizes_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "MOST_PROGRAMS", 2)
    other = compiled(lambda x: x.sum(0), {"engine": "xla"}, dynamic=True)
    for size in (2, 3, 4, 2, 4):
        x = torch.randn(size, 4)
        assert_close(other(x), x.sum(0))
    assert dynamo.metrics().programs == 4


def test_a_size_that_changes_becomes_dynamic() -> None:
    layer = nn.Linear(4, 4)
    other = compiled(lambda x: layer(x).relu())
    for size in (3, 5, 7, 2, 1):
        x = torch.randn(size, 4)
        y = other(x)
        assert_close(y, layer(x).relu())
        y.sum().backward()
    assert dynamo.metrics().graphs == 6  # forward and backward; static, dynamic, and a size of one


@pytest.mark.share(2)
@pytest.mark.parametrize("options", [None, {"engine": "iree", "output_type": "linalg-on-tensors"}])
def test_training_on_dynamic_sizes(options: dict[str, Any] | None) -> None:
    model = nn.Sequential(
        nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.3), nn.Linear(8, 2)
    )
    other = compiled(model, options, dynamic=True)
    for size in (3, 5, 2):
        x = torch.randn(size, 4)
        found = []
        for run in (other, model):
            torch.manual_seed(size)
            run(x).square().mean().backward()
            found.append([p.grad for p in model.parameters()])
            model.zero_grad()
        assert_close(*found)
    assert not dynamo.metrics().fallbacks


def test_numbers_as_arguments() -> None:
    def function(x: torch.Tensor, n: int, factor: float) -> Any:
        return x * n * factor, torch.zeros(n), x.new_ones(n, 2).sum()

    other = compiled(function, dynamic=True)
    for n, factor in ((2, 0.5), (3, 0.25), (4, 1.5), (9, 3.0)):
        assert_close(other(X, n, factor), function(X, n, factor))


def test_sizes_that_depend_on_elements_run_in_pytorch() -> None:
    def function(x: torch.Tensor) -> Any:
        return x * (x > 0).sum().item(), x[x > 0].exp().sum()

    config = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
    with torch._dynamo.config.patch(**config):
        other = compiled(function)
        with pytest.warns(dynamo.FallbackWarning, match="depends on the elements"):
            assert_close(other(X), function(X))
        assert_close(other(-X * 2), function(-X * 2))
    assert dynamo.metrics().compiled


# graphs


def test_a_graph_break_in_the_middle() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        y = y * 2 if y.sum() > 0 else y - 1
        torch._dynamo.graph_break()
        return y.cos()

    other = compiled(function)
    for sign in (1, -1, 1, -1):
        assert_close(other(X.abs() * sign), function(X.abs() * sign))
    assert dynamo.metrics().graphs == 4

    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(function, fullgraph=True)(X)


def test_modules_of_one_class_share_code_and_not_weights() -> None:
    class Affine(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    modules = [Affine() for _ in range(3)]
    for module in modules:
        module.compile(backend=dynamo.backend)
    for module in modules * 2:
        assert_close(module(X), X * module.weight)
    assert dynamo.metrics().programs <= 2


# state and modes


def test_batch_norm_keeps_its_statistics() -> None:
    ours = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    theirs = copy.deepcopy(ours)
    other = compiled(ours)
    for _ in range(3):
        x = torch.randn(2, 3, 8, 8)
        results = other(x), theirs(x)
        assert_close(*results)
        for result in results:
            result.sum().backward()
        assert_close([*ours.buffers()], [*theirs.buffers()])
        assert_close(
            [p.grad for p in ours.parameters()], [p.grad for p in theirs.parameters()], 1e-4
        )
    ours.eval(), theirs.eval()
    assert_close(other(x), theirs(x))


def test_autocast() -> None:
    layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))

    def function(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layers(x)

    assert_same(function, LEAF, tolerance=3e-2)


def test_modes_of_gradients() -> None:
    layer = nn.Linear(4, 4)
    other = compiled(layer)
    with torch.no_grad():
        assert_close(other(X), layer(X))
        assert not other(X).requires_grad
    with torch.inference_mode():
        assert_close(other(X), layer(X))
        assert other(X).is_inference()
    assert other(LEAF).requires_grad


def test_writes_to_weights_are_seen_however_they_are_made() -> None:
    layer = nn.Linear(4, 4)
    other = compiled(layer)

    def replace() -> None:
        layer.weight.data = torch.randn(4, 4)

    def write_by_numpy() -> None:
        layer.weight.detach().numpy()[:] = 2

    with torch.no_grad():
        for write in (lambda: layer.weight.data.mul_(3), replace, write_by_numpy):
            write()
            assert_close(other(X), layer(X))


def test_hooks() -> None:
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda module, inputs, output: output * 2)

    def function(x: torch.Tensor) -> torch.Tensor:
        y = layer(x)
        y.register_hook(lambda gradient: gradient * 3)
        return y.tanh()

    assert_same(function, LEAF)
    calls = []
    layer.weight.register_hook(lambda gradient: calls.append(gradient))
    compiled(layer)(X).sum().backward()
    assert len(calls) == 1


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: torch.optim.AdamW(p, lr=0.01),
        lambda p: torch.optim.RMSprop(p, lr=0.01),
    ],
    ids=["sgd", "adamw", "rmsprop"],
)
def test_compiled_optimizer_step(make: Callable[[Any], torch.optim.Optimizer]) -> None:
    ours = nn.Linear(4, 4)
    theirs = copy.deepcopy(ours)
    optimizers = [make(ours.parameters()), make(theirs.parameters())]
    step = compiled(lambda: optimizers[0].step())
    for _ in range(4):
        for model in (ours, theirs):
            model.zero_grad()
            model(X).square().sum().backward()
        step()
        optimizers[1].step()
        assert_close([*ours.parameters()], [*theirs.parameters()])
    assert not dynamo.metrics().fallbacks
