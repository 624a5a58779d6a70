"""Which way a cluster runs: chosen by content, or measured; nothing wrong is chosen, and choices are remembered."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from tests.hybrid.racing import network, times
from torch2mlir.errors import EngineError, InputError
from torch2mlir.frontends.capture import captured
from torch2mlir.hybrid import choice, partition, ways
from torch2mlir.hybrid.content import Content, content_of_graph, content_of_program
from torch2mlir.hybrid.rules import RULES, rule_for
from torch2mlir.hybrid.ways import Way
from torch2mlir.runtime.compiled import CompiledFunction

ENGINES = ["onnxruntime", "openvino", "xla", "iree"]


def optimized(tune: Any = "fast", **options: Any) -> Any:
    return torch2mlir.optimize(network(), True, torch.randn(2, 4), tune=tune, **options)


def outcomes(module: Any) -> dict[str, str]:
    return {trial.way: trial.outcome for trial in module.report().trials}


def right(module: Any) -> None:
    model = network()
    for rows in (2, 2, 5):
        x = torch.randn(rows, 4)
        with torch.no_grad():
            torch.testing.assert_close(module(x), model(x))


@pytest.mark.share(6)
@pytest.mark.parametrize("fastest", [*ENGINES, choice.PREPARED, choice.EAGER])
def test_the_fastest_way_is_chosen(fastest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {fastest: 0.5})
    module = optimized()
    right(module)
    found = outcomes(module)
    assert found == {name: "slower" for name in found} | {fastest: "chosen"}
    assert set(found) == {*ENGINES, choice.PREPARED, choice.EAGER}
    row = module.report().clusters[0]
    assert row.is_compiled == (fastest in ENGINES)
    assert row.engine == fastest if row.is_compiled else "PyTorch is fastest" in str(row.reason)
    assert module.report().pytorch_ops == (0 if row.is_compiled else 3)


def test_a_way_that_is_wrong_is_never_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"onnxruntime": 0.1, "xla": 0.5})
    compiled = partition._Partitioning._compile

    def wrong(self: Any, module: torch.fx.GraphModule, way: Way) -> Callable[..., Any]:
        call = compiled(self, module, way)
        return call if way.name != "onnxruntime" else lambda *args: [1.5 * v for v in call(*args)]

    monkeypatch.setattr(partition._Partitioning, "_compile", wrong)
    module = optimized()
    right(module)
    found = outcomes(module)
    assert found["xla"] == "chosen" and found["onnxruntime"].startswith(
        "differs from PyTorch: result"
    )


def test_a_way_that_is_wrong_later_is_never_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"onnxruntime": 0.1, "xla": 0.5})
    compiled = partition._Partitioning._compile

    def worse(self: Any, module: torch.fx.GraphModule, way: Way) -> Callable[..., Any]:
        call, count = compiled(self, module, way), itertools.count()
        if way.name != "onnxruntime":
            return call
        return lambda *args: [v if next(count) < 2 else v + 1 for v in call(*args)]

    monkeypatch.setattr(partition._Partitioning, "_compile", worse)
    module = optimized()
    right(module)
    assert "after many calls" in outcomes(module)["onnxruntime"]


def test_a_way_that_writes_into_arguments_is_never_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"xla": 0.1})
    compiled = partition._Partitioning._compile

    def writes(self: Any, module: torch.fx.GraphModule, way: Way) -> Callable[..., Any]:
        call = compiled(self, module, way)
        if way.name != "xla":
            return call

        def run(*args: Any) -> Any:
            results = call(*args)
            args[0].zero_()
            return results

        return run

    monkeypatch.setattr(partition._Partitioning, "_compile", writes)
    module = optimized()
    right(module)
    assert outcomes(module)["xla"] == "differs from PyTorch: it writes into its arguments"


def test_a_way_that_cannot_compile_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {})
    compiled = partition._Partitioning._compile

    def refuse(self: Any, module: torch.fx.GraphModule, way: Way) -> CompiledFunction:
        if way.name in ("onnxruntime", "iree"):
            raise EngineError("not today")
        return compiled(self, module, way)

    monkeypatch.setattr(partition._Partitioning, "_compile", refuse)
    module = optimized()
    right(module)
    assert outcomes(module)["iree"] == "refused: not today"


def test_choices_are_remembered_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", str(tmp_path))
    times(monkeypatch, {"xla": 0.5})
    first = optimized()
    times(monkeypatch, {"iree": 0.1})
    second = optimized()
    assert outcomes(first) == outcomes(second)
    assert "1 of the choices known from before" in str(second.report())
    right(second)
    times(monkeypatch, {"iree": 0.1})
    other = torch2mlir.optimize(network(), True, torch.randn(3, 4), tune="fast")
    assert outcomes(other)["iree"] == "chosen"  # other sizes are another choice


def test_a_remembered_choice_that_is_wrong_now_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", str(tmp_path))
    times(monkeypatch, {"xla": 0.5, "openvino": 0.7})
    optimized()
    compiled = partition._Partitioning._compile

    def wrong(self: Any, module: torch.fx.GraphModule, way: Way) -> Callable[..., Any]:
        call = compiled(self, module, way)
        return call if way.name != "xla" else lambda *args: [v + 1 for v in call(*args)]

    monkeypatch.setattr(partition._Partitioning, "_compile", wrong)
    module = optimized()
    right(module)
    assert outcomes(module)["openvino"] == "chosen"


def test_a_budget_that_is_spent_begins_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {})
    module = optimized(budget=1e-9)
    right(module)
    assert "not tried: the 1e-09 s are spent" in outcomes(module)["xla"]


def test_iree_is_not_begun_where_it_may_take_longer_than_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times(monkeypatch, {"iree": 0.1, "xla": 0.5})
    monkeypatch.setattr(choice, "_IREE_SECONDS", 1e3)
    module = optimized()
    right(module)
    assert "s to compile" in outcomes(module)["iree"]
    assert outcomes(module)["xla"] == "chosen"


def test_a_compiler_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"iree": 0.1, "xla": 0.5})
    monkeypatch.setattr(choice, "_PATIENCE", 0.0)
    monkeypatch.setattr(choice, "_LEAST_PATIENCE", 0.01)
    module = optimized()
    right(module)
    assert "did not end in the time" in outcomes(module)["iree"]
    assert outcomes(module)["xla"] == "chosen"


def test_an_engine_alone_is_measured_against_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"iree": 0.5})
    module = optimized(engine="iree")
    assert set(outcomes(module)) == {"iree", choice.PREPARED, choice.EAGER}
    right(module)


def test_an_engines_name_chooses_it_without_measuring() -> None:
    module = optimized("iree")
    assert module.report().clusters[0].engine == "iree" and not module.report().trials
    right(module)
    with pytest.raises(InputError, match="another engine than engine='xla'"):
        optimized("iree", engine="xla")
    with pytest.raises(InputError, match="'fast', 'full' or an engine"):
        optimized("quick")
    with pytest.raises(InputError, match="seconds above 0"):
        optimized(budget=-1)


MANY = 2048
"""Rows, for tensors too large for the rule of small calls."""


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.into(x)
        return torch.nn.functional.scaled_dot_product_attention(y, y, y)


def kinds() -> list[tuple[str, nn.Module, torch.Tensor, str]]:
    """For rules: a model and an example that it decides for, and its first engine."""
    x = torch.randn(1, MANY, 64)
    steps = torch.randn(MANY // 8, 8, 64)
    return [
        ("small calls", network(), torch.randn(2, 4), "onnxruntime"),
        ("attention in f32", Attention(), x, "openvino"),
        ("convolutions in f32", nn.Conv1d(MANY, 8, 3), x, "onnxruntime"),
        ("products of f32", nn.Linear(64, 256), x, "onnxruntime"),
        ("element by element", nn.Tanh(), x, "xla"),
        ("floats other than f32", nn.Linear(64, 256).double(), x.double(), "xla"),
        ("recurrent layers", nn.LSTM(64, 128, batch_first=True), steps, "openvino"),
    ]


@pytest.mark.parametrize(
    "rule, model, example, engine", kinds(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_rules_choose_by_content(
    rule: str, model: nn.Module, example: torch.Tensor, engine: str
) -> None:
    """The same rule for a graph, for a captured program, and for a segment of ``torch.compile`` with its weights."""
    model.eval()
    program = torch.export.export(model, (example,))
    of_graph = content_of_graph(program.graph)
    found = ways.suited(of_graph)
    assert (found.rule, found.ways[0].name) == (rule, engine)
    of_program = content_of_program(captured(program, (), {}))
    assert rule_for(of_program).name == rule
    with_weights = replace(of_graph, weights_vary=True)
    assert rule_for(with_weights).engines[0] == "xla"


def test_rules_for_what_a_graph_alone_does_not_tell() -> None:
    of_f32 = Content(ops=9, floats=frozenset({torch.float32}), products=3, elements=1 << 24)
    for changes, rule, engine in (
        ({"updates": True}, "tensors updated in place", "xla"),
        ({"is_dynamic": True}, "f32 in varying sizes", "onnxruntime"),
        ({"is_dynamic": True, "is_bucketed": True}, "varying sizes in a few buckets", "xla"),
        ({"is_dynamic": True, "weights_vary": True}, "f32 in varying sizes", "onnxruntime"),
        (
            {"is_dynamic": True, "products": 0},
            "few ops on large tensors in varying sizes",
            "iree",
        ),
        ({"is_dynamic": True, "products": 0, "ops": 99}, "f32 in varying sizes", "onnxruntime"),
        (
            {"is_dynamic": True, "floats": frozenset({torch.bfloat16})},
            "floats other than f32 in varying sizes",
            "iree",
        ),
    ):
        found = rule_for(replace(of_f32, **changes))
        assert (found.name, found.engines[0]) == (rule, engine)


def test_every_rule_says_why_and_is_in_the_document() -> None:
    document = Path(__file__).parents[2] / "docs" / "optimize.md"
    shown = [line for line in document.read_text().splitlines() if line.startswith("| ")]
    rows = [f"| {rule.name} | {', '.join(rule.engines)} |" for rule in RULES]
    assert [line for line in shown if line in rows] == rows and len(set(rows)) == len(RULES)
    assert all(rule.reason and set(rule.engines) <= set(ENGINES) for rule in RULES)


def test_a_rule_goes_by_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = Content(attentions=1, products=3, elements=1 << 24)
    assert [way.name for way in ways.suited(attention).ways] == ["openvino", "onnxruntime", "xla"]
    monkeypatch.setattr(ways, "is_installed", lambda name: name in ("iree", "xla"))
    assert [way.name for way in ways.suited(attention).ways] == ["xla"]
    monkeypatch.setattr(ways, "is_installed", lambda name: name == "iree")
    assert [way.name for way in ways.suited(attention).ways] == ["iree"]
    monkeypatch.setattr(ways, "is_installed", lambda name: False)
    with pytest.raises(EngineError, match="no engine for tosa"):
        ways.suited(attention, "tosa")


def test_compile_chooses_an_engine_by_the_content() -> None:
    """Small and products of f32 for ONNX Runtime, other floats for XLA, and what the first refuses for the next."""
    x = torch.randn(4, 4)
    chosen = [
        (lambda a: (a @ a).tanh(), x, "onnxruntime", "onnx", "small calls"),
        (lambda a: a @ a, x.double(), "xla", "stablehlo", "floats other than f32"),
        (lambda a: torch.fft.fft(a @ a).real, x, "xla", "stablehlo", "floats other than f32"),
        (lambda a: a.tanh() * 2, torch.randn(300, 300), "xla", "stablehlo", "element by element"),
    ]
    for function, example, engine, dialect, rule in chosen:
        compiled = torch2mlir.compile(function, example, engine="auto")
        assert (compiled.engine.name, compiled.output_type) == (engine, dialect)
        assert compiled.chosen_by == rule
        for _ in range(3):
            value = torch.randn_like(example)
            torch.testing.assert_close(compiled(value), function(value), rtol=1e-4, atol=1e-4)


def test_clusters_of_one_graph_get_engines_of_their_own() -> None:
    """A convolution before and functions of many elements after an op that stays in PyTorch."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 16, 3, padding=1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.relu(self.conv(x)) * 2
            return torch.exp(torch.sin(torch.erfinv(torch.tanh(y) / 2)))

    model = Model().eval()
    module = torch2mlir.optimize(
        model,
        model_inputs=torch.randn(1, 3, 64, 64),
        dynamic_shapes=None,
        black_list={"aten::erfinv"},
    )
    for _ in range(3):
        x = torch.randn(1, 3, 64, 64)
        with torch.no_grad():
            torch.testing.assert_close(module(x), model(x), rtol=1e-4, atol=1e-4)
    rows = [(row.engine, row.rule) for row in module.report().clusters]
    assert rows == [("onnxruntime", "convolutions in f32"), ("xla", "element by element")]
    assert "convolutions in f32" in str(module.report())


def test_compile_chooses_among_the_engines_of_a_dialect() -> None:
    x = torch.randn(4, 4)
    for dialect in ("linalg-on-tensors", "tosa"):
        compiled = torch2mlir.compile(
            lambda a: a @ a, x, output_type=dialect, engine="auto", verify=True
        )
        assert (compiled.engine.name, compiled.output_type) == ("iree", dialect)
        torch.testing.assert_close(compiled(x), x @ x)


def test_compile_chooses_for_varying_sizes() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).eval()
    batch = torch.export.Dim("batch", min=1, max=64)
    compiled = torch2mlir.compile(
        model, torch.randn(3, 4), engine="auto", dynamic_shapes=({0: batch},)
    )
    assert compiled.engine.name == "onnxruntime"
    with torch.no_grad():
        for rows in (3, 1, 7):
            x = torch.randn(rows, 4)
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)


def test_what_the_first_choice_refuses_the_second_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = partition._Partitioning._compile

    def refuse(self: Any, module: torch.fx.GraphModule, way: Way) -> CompiledFunction:
        if way.name == "onnxruntime":
            raise EngineError("not today")
        return compiled(self, module, way)

    monkeypatch.setattr(partition._Partitioning, "_compile", refuse)
    module = optimized(False)
    right(module)
    row = module.report().clusters[0]
    assert (row.engine, row.rule) == ("iree", "f32 in varying sizes (onnxruntime refused)")


def test_reports_show_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times(monkeypatch, {"xla": 0.001})
    module = optimized()
    assert "ways measured" in str(module.report()) and "tuned (fast)" in str(module.report())
    page = module.report().save(tmp_path / "report.html").read_text()
    assert "ways measured" in page and "compiled, xla" in page
