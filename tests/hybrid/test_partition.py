"""Graphs in parts: the same results, and the right things in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.hybrid.opaque_op import opaque
from torch2mlir.errors import EngineError
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.effects import RANDOM, WRITES
from torch2mlir.hybrid.partition import Partition, partition
from torch2mlir.hybrid.ways import Way


def parts(
    function: Callable[..., Any] | nn.Module,
    *args: Any,
    config: Config | None = None,
    **kwargs: Any,
) -> Partition:
    """The parts of what ``torch.export`` makes of a function."""

    class Model(nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args)

    model = function if isinstance(function, nn.Module) else Model()
    exported = torch.export.export(model, args, **kwargs)
    return partition(exported.module(check_guards=False), config)


def check(found: Partition, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    for seed in range(3):
        torch.manual_seed(seed)
        inputs = [torch.randn(shape) for shape in shapes]
        copies = [x.clone() for x in inputs]
        with torch.no_grad():
            torch.manual_seed(seed + 100)
            expected = function(*copies)
            torch.manual_seed(seed + 100)
            torch.testing.assert_close(found.module(*inputs), expected)
        torch.testing.assert_close(inputs, copies)


def test_a_graph_without_obstacles_is_one_cluster() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ y, -1).sum(0) + 1

    found = parts(function, torch.randn(3, 4), torch.randn(4, 5))
    assert len(found.clusters) == 1 and not found.kept
    check(found, function, (3, 4), (4, 5))
    assert found.clusters[0].fallbacks == 0


def test_normalization_without_statistics_writes_nothing() -> None:
    """Weights are standardized like this; it was taken for a write to running statistics, and left to PyTorch."""

    def function(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        flat = weight.reshape(1, 8, -1)
        weight = nn.functional.batch_norm(flat, None, None, training=True).reshape_as(weight)
        return nn.functional.instance_norm(nn.functional.conv2d(x, weight).relu())

    found = parts(function, torch.randn(2, 4, 6, 6), torch.randn(8, 4, 3, 3))
    assert len(found.clusters) == 1 and not found.kept
    check(found, function, (2, 4, 6, 6), (8, 4, 3, 3))


def test_an_op_nobody_knows_splits_the_graph_in_two() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (opaque(torch.tanh(x) * 2 + 1).exp() - 1).sum(-1)

    found = parts(function, torch.randn(3, 4))
    assert len(found.clusters) == 2
    assert [item.op for item in found.kept] == ["t2m_hybrid.opaque.default"]
    assert "no lowering" in found.kept[0].reason
    check(found, function, (3, 4))


def test_a_branch_beside_the_op_does_not_make_a_cycle() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        a = torch.tanh(x) + 1
        b = opaque(a)
        return (a * 3).exp() + (b * 2).sin()

    found = parts(function, torch.randn(3, 4))
    assert len(found.clusters) == 2
    check(found, function, (3, 4))


def test_random_numbers_are_pytorchs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        a = torch.rand_like(x) + x * 2
        b = torch.nn.functional.dropout(a.tanh() + 1, 0.5, True)
        return b * torch.randn(3, 4) + torch.nn.functional.dropout(x, 0.0, True)

    found = parts(function, torch.randn(3, 4))
    assert {item.reason for item in found.kept if "output" not in item.op} >= {RANDOM}
    check(found, function, (3, 4))


def test_writes_and_what_reads_around_them() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        before = x * 2 + y.sin()
        view = x.t()
        x.add_(before)
        after = x * 3 + y.cos()
        rest = view.exp() + 1
        view.mul_(2)
        return before + after, rest * 2, x + 1

    found = parts(function, torch.randn(3, 3), torch.randn(3, 3))
    assert found.clusters
    assert sum(item.reason == WRITES for item in found.kept) == 2
    check(found, function, (3, 3), (3, 3))


def test_results_that_are_views_share_memory_as_in_pytorch() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.tanh(x) * 2 + 1
        return x.t(), y, y[0], x.t() * y.sin()

    found = parts(function, torch.randn(3, 3))
    assert len(found.clusters) == 1
    x = torch.randn(3, 3)
    transposed, y, first, _ = found.module(x)
    first.fill_(7.0)
    transposed.fill_(5.0)
    assert (y[0] == 7).all() and (x == 5).all() and transposed.stride() == (1, 3)
    check(found, function, (3, 3))


def test_a_part_of_written_memory_that_is_not_read() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        first, second = x.split(1)
        second.mul_(2)
        return second + x.sin()

    found = parts(function, torch.randn(2, 3))
    assert found.clusters
    check(found, function, (2, 3))


def test_results_have_pytorchs_strides() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x.t()) * 2 + 1

    found = parts(function, torch.randn(3, 4))
    x = torch.randn(3, 4)
    assert len(found.clusters) == 1
    assert found.module(x).stride() == function(x).stride() == (1, 4)
    check(found, function, (3, 4))


@pytest.mark.parametrize(
    ("engine", "output_type"), [("xla", "stablehlo"), ("iree", "linalg-on-tensors")]
)
@pytest.mark.share(2)
def test_sizes_vary(engine: str, output_type: str) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        a = torch.cat([x.tanh() + 1, y], 0)
        b = opaque(a).reshape(x.shape[0] + y.shape[0], 2, 2)
        return b.sum((1, 2)) * 2 + torch.arange(x.shape[0] + y.shape[0])

    auto = torch.export.Dim.AUTO
    found = parts(
        function,
        torch.randn(3, 4),
        torch.randn(5, 4),
        config=Config(engine=engine, output_type=output_type),
        dynamic_shapes={"args": ({0: auto}, {0: auto})},
    )
    assert len(found.clusters) == 2
    for n, m in ((3, 5), (4, 2), (7, 7)):
        check(found, function, (n, 4), (m, 4))
    assert all(c.fallbacks == 0 for c in found.clusters), [c.reason for c in found.clusters]


def test_sizes_that_depend_on_elements_stay_in_pytorch_where_the_engine_wants_them_known() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        chosen = (x * 2 + 1)[x.sum(1) > 0]
        return torch.tanh(chosen) * 2 + chosen.shape[0]

    found = parts(function, torch.ones(3, 4), config=Config(engine="xla"))
    assert any("nonzero" in k.op or "index" in k.op for k in found.kept)
    check(found, function, (3, 4))


def test_engines_that_take_them_get_sizes_that_depend_on_elements() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        chosen = (x * 2 + 1)[x.sum(1) > 0]
        return torch.tanh(chosen) * 2 + chosen.shape[0]

    found = parts(function, torch.ones(3, 4))
    assert [cluster.way.name for cluster in found.clusters] == ["onnxruntime"]
    for _ in range(3):
        check(found, function, (3, 4))


def test_lists_of_ops() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x.exp() + 1).sin().cos()

    found = parts(function, torch.randn(3, 4), config=Config(black_list=frozenset({"aten::sin"})))
    assert [(k.op, k.reason) for k in found.kept][:1] == [("aten.sin.default", "on the black list")]
    check(found, function, (3, 4))


def test_the_white_list_of_the_environment_is_tried_and_falls_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return opaque(torch.tanh(x) + 1).exp() * 2

    monkeypatch.setenv("TORCH_MHLO_OP_WHITE_LIST", "t2m_hybrid::opaque;aten::activation_b;")
    config = Config()
    assert config.white_list == {"t2m_hybrid::opaque", "aten::activation_b"}
    found = parts(function, torch.randn(3, 4), config=config)
    assert [k.op for k in found.kept] == ["t2m_hybrid.opaque.default"]
    assert "core op" in found.kept[0].reason
    check(found, function, (3, 4))


def test_a_cluster_that_the_engine_refuses_loses_the_op_it_refuses() -> None:
    from torch2mlir.frontends.fx.exported import import_graph_module

    def compile_region(module: torch.fx.GraphModule, way: Way) -> Any:
        import torch2mlir

        if any(n.target is torch.ops.aten.cumsum.default for n in module.graph.nodes):
            raise EngineError("no cumsum today")
        return torch2mlir.compile(import_graph_module(module))

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x.exp() + 1).tanh().cumsum(0).sin() * 2 + 1

    exported = torch.export.export(_Wrapped(function), (torch.randn(3, 4),))
    found = partition(exported.module(check_guards=False), compile_region=compile_region)
    assert [(k.op, k.reason) for k in found.kept] == [("aten.cumsum.default", "no cumsum today")]
    assert len(found.clusters) == 2
    check(found, function, (3, 4))


class _Wrapped(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def test_weights_that_change_are_seen() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).eval()
    found = parts(model, torch.randn(3, 4))
    check(found, model, (3, 4))
    with torch.no_grad():
        model[0].weight.mul_(2)
    check(found, model, (3, 4))


def test_batch_norm_in_training_updates_its_statistics() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 4))
    x = torch.randn(8, 4)
    found = parts(model, x)
    twin = nn.Sequential(*(type(m)(4, 4) if isinstance(m, nn.Linear) else type(m)(4) if isinstance(m, nn.BatchNorm1d) else type(m)() for m in model))  # fmt: skip
    twin.load_state_dict(model.state_dict())
    for _ in range(3):
        x = torch.randn(8, 4)
        with torch.no_grad():
            torch.testing.assert_close(found.module(x), twin(x), check_stride=False)
    assert found.clusters
    torch.testing.assert_close(model[2].running_mean, twin[2].running_mean)
    torch.testing.assert_close(model[2].num_batches_tracked, twin[2].num_batches_tracked)


def test_ops_with_several_results() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, indices = torch.topk(x.tanh() * 2, 2)
        first, second = (x + 1).split(2, 1)
        first.mul_(2)
        mean, deviation = torch.var_mean(x, 1)
        return values, indices, first, second, mean, deviation * 2

    found = parts(function, torch.randn(3, 4))
    check(found, function, (3, 4))
    assert {k.op for k in found.kept} == {
        "aten.mul_.Tensor",
        "aten.split.Tensor",
        "<built-in function getitem>",
    }
    assert sum(len(c.ops) for c in found.clusters) >= 5
