"""``torch2mlir.optimize``: the model's own results, whatever the model does, and a report that tells what runs where."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import torch2mlir
from tests.hybrid.opaque_op import opaque
from torch2mlir.hybrid.ways import Way
from torch2mlir.tools import node_schema_str
from torch2mlir.tools.cli import main

Make = Callable[[int], tuple[Any, ...]]


def check(optimized: Any, model: Callable[..., Any], *calls: tuple[Any, ...]) -> None:
    """Equal results of the optimized model and of a twin of the model, call by call, writes to arguments included."""
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for seed, args in enumerate(calls):
            ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
            torch.manual_seed(seed)
            expected = twin(*theirs)
            torch.manual_seed(seed)
            torch.testing.assert_close(optimized(*ours), expected)
            torch.testing.assert_close(ours, theirs)


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.norm = nn.BatchNorm1d(16)
        self.second = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = torch.relu(self.norm(self.first(x)))
        return {"logits": torch.softmax(self.second(opaque(hidden)) * 2, -1), "hidden": hidden}


def test_an_unknown_op_runs_in_pytorch_between_two_clusters() -> None:
    model = Classifier().eval()
    optimized = torch2mlir.optimize(model, allow_tracing=True, model_inputs=(torch.randn(4, 8),))
    check(optimized, model, *[(torch.randn(n, 8),) for n in (4, 7, 1, 4)])
    report = optimized.report()
    assert [row.op for row in report.kept][0] == "t2m_hybrid.opaque.default"
    assert report.kept[0].location is not None and "test_optimize.py" in report.kept[0].location
    assert report.calls == 4 and not report.pytorch_calls
    assert all(row.is_compiled and not row.fallbacks for row in report.clusters)
    assert report.compiled_share is not None and 0 < report.compiled_share <= 1


def test_a_batch_of_one_is_another_program_than_one_that_varies() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2 + 1 if x.shape[0] == 1 else x.tanh() * 3

    optimized = torch2mlir.optimize(Model(), True, torch.randn(4, 3))
    check(optimized, Model(), (torch.randn(1, 3),), (torch.randn(4, 3),), (torch.randn(9, 3),))
    assert not optimized.report().pytorch_calls


def test_what_python_assumed_of_sizes_is_checked_at_every_call() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.exp().reshape(-1, 4) + 1 if x.shape[0] % 2 == 0 else x.sin() - 1

    optimized = torch2mlir.optimize(Model(), True, torch.randn(4, 6))
    check(optimized, Model(), *[(torch.randn(n, 6),) for n in (6, 5, 8, 3, 4)])


def test_python_control_flow_on_values_runs_region_by_region() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.sum() > 0:
                return self.linear(x).tanh() * 2
            return (x * 3 + 1).exp()

    optimized = torch2mlir.optimize(Model(), True, torch.ones(3, 4))
    check(
        optimized, optimized.model, (torch.ones(3, 4),), (-torch.ones(3, 4),), (torch.ones(3, 4),)
    )
    report = optimized.report()
    assert "region by region" in report.capture[0] and report.compiled_ops


def test_python_state_of_the_module_is_followed() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.scale = 2.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return (x * self.scale).tanh() + self.calls

    model = Model()
    optimized = torch2mlir.optimize(model, True, torch.ones(3))
    check(optimized, model, *[(torch.randn(3),) for _ in range(3)])
    assert model.calls == 3

    class Scaled(nn.Module):
        scale = 2.0

        def __init__(self) -> None:
            super().__init__()
            self.scale = 2.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.scale).tanh() + 1

    scaled = Scaled()
    optimized = torch2mlir.optimize(scaled, True, torch.ones(3))
    for scale in (3.0, 2.0, 5.0):
        scaled.scale = scale
        check(optimized, scaled, (torch.randn(3),))


def test_weights_that_are_written_or_replaced_are_seen() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)).eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 4))
    check(optimized, model, (torch.randn(2, 4),))
    with torch.no_grad():
        model[0].weight.add_(1)
    check(optimized, model, (torch.randn(2, 4),))
    model[2].weight = nn.Parameter(torch.randn(4, 4))
    check(optimized, model, (torch.randn(2, 4),))


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino", "iree", None])
def test_refresh_tells_of_writes_that_are_not_counted(engine: str | None) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).eval()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(3, 4),), engine=engine)
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(3, 4)
            torch.testing.assert_close(optimized(x), model(x), rtol=1e-4, atol=1e-5)
            model[0].weight.data.mul_(0.5)
            optimized.refresh()


def test_buffers_and_arguments_are_written_as_in_pytorch() -> None:
    class Cache(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x.sum(0))
            out[:, 1:] = x[:, :-1].tanh() * 2
            return (self.seen * x).exp() + out.cumsum(0)

    model = Cache()
    twin = Cache()
    optimized = torch2mlir.optimize(model, True, (torch.randn(3, 4), torch.zeros(3, 4)))
    assert not model.seen.any()
    with torch.no_grad():
        for _ in range(3):
            x, ours, theirs = torch.randn(3, 4), torch.ones(3, 4), torch.ones(3, 4)
            torch.testing.assert_close(optimized(x, ours), twin(x, theirs))
            torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(model.seen, twin.seen)
        shared = torch.randn(3, 4)  # written to through one argument, read through the other
        other = shared.clone()
        torch.testing.assert_close(optimized(shared, shared), twin(other, other))
        torch.testing.assert_close(shared, other)
    assert optimized.report().compiled_ops


def test_random_numbers_equal_eager() -> None:
    class Noisy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            noise = torch.randn_like(x) * 2 + x.tanh()
            return nn.functional.dropout(noise.exp() + 1, 0.3, training=True) * torch.rand(4)

    optimized = torch2mlir.optimize(Noisy(), True, torch.randn(3, 4))
    check(optimized, Noisy(), *[(torch.randn(3, 4),) for _ in range(3)])
    assert optimized.report().compiled_ops


def test_calls_that_want_gradients_run_in_pytorch_and_say_so() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    optimized = torch2mlir.optimize(model.eval(), True, torch.randn(2, 4))
    assert not optimized(torch.randn(2, 4)).requires_grad
    model.train()
    with pytest.warns(UserWarning, match="inference"):
        loss = optimized(torch.randn(2, 4)).sum()
    loss.backward()
    assert model[0].weight.grad is not None
    assert sum(optimized.report().pytorch_calls.values()) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimized(torch.randn(2, 4, requires_grad=True)).sum().backward()


def test_keyword_arguments_structures_and_numbers() -> None:
    class Model(nn.Module):
        def forward(self, pair: tuple[torch.Tensor, torch.Tensor], *, power: int = 2) -> Any:
            return {"sum": (pair[0] + pair[1]) ** power + 1, "power": power, "none": None}

    inputs = {"pair": (torch.randn(3), torch.randn(3)), "power": 3}
    optimized = torch2mlir.optimize(Model(), True, inputs)
    for power in (3, 2, 3):
        pair = (torch.randn(3), torch.randn(3))
        torch.testing.assert_close(optimized(pair=pair, power=power), Model()(pair, power=power))
        torch.testing.assert_close(optimized(pair, power=power), Model()(pair, power=power))


@pytest.mark.parametrize("how", ["script", "trace"])
def test_torchscript(how: str) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2)).eval()
    script = (
        torch.jit.script(model) if how == "script" else torch.jit.trace(model, torch.randn(3, 4))
    )
    optimized = torch2mlir.optimize(script, allow_tracing=True, model_inputs=(torch.randn(3, 4),))
    with torch.no_grad():
        for n in (3, 5, 3):
            x = torch.randn(n, 4)
            torch.testing.assert_close(optimized(x), model(x))
    assert optimized.report().compiled_ops


def test_exported_programs() -> None:
    model = Classifier().eval()
    batch = torch.export.Dim("batch", min=2)
    exported = torch.export.export(model, (torch.randn(4, 8),), dynamic_shapes=({0: batch},))
    optimized = torch2mlir.optimize(exported)
    with torch.no_grad():
        for n in (4, 9, 2):
            x = torch.randn(n, 8)
            torch.testing.assert_close(optimized(x), model(x))
    assert optimized.report().compiled_ops and not optimized.report().pytorch_calls


def test_allow_tracing_off_captures_at_calls_only() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return x.tanh() * 2 + 1

    model = Model()
    optimized = torch2mlir.optimize(model, allow_tracing=False, model_inputs=(torch.ones(3),))
    assert model.calls == 0
    check(optimized, model, *[(torch.randn(3),) for _ in range(3)])
    assert model.calls == 3


def test_a_cluster_that_computes_something_else_is_left_to_pytorch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from torch2mlir.hybrid import partition

    compiled = partition._Partitioning._compile

    def wrong(self: Any, module: torch.fx.GraphModule, way: Way) -> Callable[..., Any]:
        right = compiled(self, module, way)
        return lambda *args: tuple(value * 1.5 for value in right(*args))

    monkeypatch.setattr(partition._Partitioning, "_compile", wrong)
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 4))
    report = optimized.report()
    assert not report.clusters and report.kept
    assert all(
        "differs from PyTorch" in row.reason or "too few" in row.reason for row in report.kept
    )
    check(optimized, model, (torch.randn(2, 4),))


def test_reports_are_tables_and_pictures(tmp_path: Path) -> None:
    optimized = torch2mlir.optimize(Classifier().eval(), True, torch.randn(4, 8))
    text = str(optimized.report())
    assert "cluster_0" in text and "t2m_hybrid.opaque" in text and "runs compiled" in text
    page = optimized.report().save(tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "<svg" in page and "opaque" in page
    assert optimized.report().save(tmp_path / "report.svg").read_text().startswith("<svg")


def test_copies_and_pickles_are_captured_again() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)).eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 4))
    stream = io.BytesIO()
    torch.save(optimized, stream)
    stream.seek(0)
    for other in (copy.deepcopy(optimized), torch.load(stream, weights_only=False)):
        check(other, model, (torch.randn(2, 4),), (torch.randn(3, 4),))
        assert other.report().compiled_ops


def test_the_command_line_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported = torch.export.export(Classifier().eval(), (torch.randn(4, 8),))
    torch.export.save(exported, tmp_path / "model.pt2")
    assert main(["optimize", str(tmp_path / "model.pt2"), "--report", "-q"]) == 0
    printed = capsys.readouterr().out
    assert "cluster_0" in printed and "opaque" in printed
    page = tmp_path / "r.html"
    assert main(["optimize", str(tmp_path / "model.pt2"), "--report", str(page), "-q"]) == 0
    assert "<svg" in page.read_text()
    other = tmp_path / "r.pdf"
    assert main(["optimize", str(tmp_path / "model.pt2"), "--report", str(other), "-q"]) != 0
    assert "ends in .html" in capsys.readouterr().err
    assert not other.exists()


class _Marked(torch.Tensor):
    """A class of the user's own that adds nothing."""


@torch.no_grad()
def test_arguments_that_no_program_takes_are_pytorchs() -> None:
    """Tensors without elements were a raw error at the call, those of another class at construction."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).eval()
    optimized = torch2mlir.optimize(model, model_inputs=(torch.randn(2, 3),))
    function = torch2mlir.optimize(torch.tanh, model_inputs=(torch.empty(3, device="meta"),))
    marked = torch.randn(2, 3).as_subclass(_Marked)
    of_marked = torch2mlir.optimize(model, model_inputs=(marked,))
    for _ in range(3):
        assert function(torch.empty(3, device="meta")).is_meta
        x = torch.randn(2, 3)
        torch.testing.assert_close(optimized(x), model(x))
        torch.testing.assert_close(of_marked(x), model(x))
        found = of_marked(x.as_subclass(_Marked))
        assert type(found) is _Marked
        torch.testing.assert_close(found.as_subclass(torch.Tensor), model(x))


@torch.no_grad()
@pytest.mark.parametrize("is_first", [False, True])
def test_arguments_that_are_not_dense_are_pytorchs(is_first: bool) -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    optimized = torch2mlir.optimize(doubled)
    for _ in range(3):
        x = torch.randn(3, 4)
        if not is_first:
            torch.testing.assert_close(optimized(x), x * 2)
        for turned in (torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr):
            found = optimized(turned(x))
            assert found.layout == turned(x).layout
            torch.testing.assert_close(found.to_dense(), x * 2)


class _Turned(torch.Tensor):
    """A class whose method has the name of one of PyTorch's and takes something else."""

    def permute(self, shifts: int = 1) -> torch.Tensor:  # type: ignore[override]
        return torch.roll(self, shifts, dims=-1)


@torch.no_grad()
def test_weights_of_classes_with_methods_of_their_own() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.Parameter(torch.randn(4, 8).as_subclass(_Turned))

        def forward(self, places: torch.Tensor) -> torch.Tensor:
            rows = self.rows[places]
            turned = torch.sin(rows[0]) * torch.roll(rows[1], 2) * rows[1] + 1
            return turned.as_subclass(torch.Tensor)

    model, places = Table().eval(), torch.tensor([0, 2])
    for tracing in (True, False):
        optimized = torch2mlir.optimize(model, tracing, model_inputs=(places,))
        torch.testing.assert_close(optimized(places), model(places))


def test_schemas_of_torchscript_nodes() -> None:
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    nodes = torch.jit.trace(add, (torch.ones(2), torch.ones(2))).graph.nodes()
    assert [node_schema_str(node) for node in nodes] == [
        "prim::Constant",
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)",
    ]
    assert torch2mlir.tools.node_schema_str is node_schema_str


def test_unknown_options_are_refused() -> None:
    with pytest.raises(torch2mlir.InputError, match="no option 'speed'"):
        torch2mlir.optimize(nn.Tanh(), True, torch.ones(2), speed=11)
    with pytest.raises(torch2mlir.InputError, match=r"model_inputs=\(x,\)"):
        torch2mlir.optimize(nn.Tanh(), torch.ones(2))  # type: ignore[arg-type]
    with pytest.raises(torch2mlir.InputError, match="not the name of an op"):
        torch2mlir.Config(black_list=frozenset({"add"}))


def test_tuples_and_lists_that_capture_makes_anew_are_the_same() -> None:
    class Windows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3, padding=(1, 1))
            self.scales = [1.0, 2.0]
            self.names = {"a": (1, 2)}

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.conv(x)) * self.scales[0] + self.scales[1]

    model = Windows().eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 1, 5, 5))
    check(optimized, model, *[(torch.randn(2, 1, 5, 5),) for _ in range(3)])
    (first,) = optimized.captured_programs
    assert not optimized.report().pytorch_calls
    model.scales[0] = 3.0
    check(optimized, model, (torch.randn(2, 1, 5, 5),))
    (second,) = optimized.captured_programs  # the first one is of other scales
    assert second is not first and not optimized.report().pytorch_calls


class AttentionInTwo(nn.Module):
    """Attention whose query goes from one cluster to another; its result lies in memory as the query does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = x.sin().view(2, 5, 4, 3).transpose(1, 2)
        query = heads * 2 + 1
        scale = opaque(x.cos()).mean()
        found = nn.functional.scaled_dot_product_attention(query, heads * scale, heads)
        return found.transpose(1, 2).view(2, 5, 12).tanh() + 1


def test_a_cluster_in_pytorch_finds_its_arguments_as_at_capture() -> None:
    model = AttentionInTwo().eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(2, 5, 12))
    assert len(optimized.report().clusters) > 1
    check(optimized, model, *[(torch.randn(2, 5, 12),) for _ in range(3)])
    for module in optimized._captures.variants[0].parts.clusters:
        module.leave_to_pytorch("to see it there")
        check(optimized, model, (torch.randn(2, 5, 12),))


def test_views_of_a_written_argument_share_its_memory() -> None:
    def model(x):
        x.mul_(2)
        y = x.sin() + x.cos()
        return x, x[0], x.t(), y

    optimized = torch2mlir.optimize(model, model_inputs=torch.randn(3, 4))
    for _ in range(2):
        x = torch.randn(3, 4)
        expected = model(x.clone())
        results = optimized(x)
        torch.testing.assert_close(results, expected)
        x.fill_(7)
        assert all(torch.equal(view, torch.full_like(view, 7)) for view in results[:3])
        torch.testing.assert_close(results[3], expected[3])
    assert optimized.report().compiled_ops and not optimized.report().pytorch_calls


def test_what_is_written_is_memory_of_the_argument_and_no_copy_of_a_cluster() -> None:
    def model(x):
        noise = functional.dropout(x, 0.5, training=True)
        first, second = x[:, 1].sin() + 1, x[:, 0].cos() + 1
        x[:, 0] = first
        x[:, 1] = second
        return noise.exp() + 1

    check(
        torch2mlir.optimize(model, model_inputs=torch.randn(3, 4), verify=False),
        model,
        *((torch.randn(3, 4),) for _ in range(2)),
    )


class Graph(nn.Module):
    """A step along a graph's edges, of which the model has a sparse matrix."""

    def __init__(self, layout: torch.layout) -> None:
        super().__init__()
        self.register_buffer("edges", torch.eye(3).to_sparse(layout=layout))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.exp(self.edges @ x) + x.sum()) * 2


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_models_with_sparse_buffers(layout: torch.layout) -> None:
    """Whether a call had changed them was asked of ``torch.equal``, which takes none of them."""
    model = Graph(layout)
    optimized = torch2mlir.optimize(model)
    with torch.no_grad():
        for size in (4, 4, 6):
            x = torch.randn(3, size)
            torch.testing.assert_close(optimized(x), model(x))
    assert "sparse" in str(optimized.report())
