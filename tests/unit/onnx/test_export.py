"""The exporter: what is written is a model that ONNX's own checker takes and other engines run as eager PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from torch2mlir.dialects import make_context
from torch2mlir.dialects.onnx.schema import OPSETS
from torch2mlir.dialects.parser import parse_module
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.tools.cli import main


class Block(nn.Module):
    """Attention, norms and an activation, which ONNX has words for."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.groups = nn.GroupNorm(2, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.max_pool2d(torch.relu(self.norm(self.first(x))), 2, ceil_mode=True)
        return nn.functional.avg_pool2d(self.groups(y), 3, 2, 1)


def sorted_and_searched(x: torch.Tensor) -> Any:
    values, places = x.sort(1, descending=True)
    return values, places, x.argmax(), torch.where(x > 0, x, x.amin(1, keepdim=True))


PROGRAMS: dict[str, tuple[Any, torch.Tensor, dict[int, Any]]] = {
    "block": (Block().eval(), torch.randn(2, 5, 16), {0: Dim("batch"), 1: Dim("length", max=64)}),
    "convolutions": (Convolutions().eval(), torch.randn(2, 3, 9, 9), {0: Dim("batch")}),
    "sorted": (sorted_and_searched, torch.randn(3, 7), {0: Dim("rows")}),
}


def run(path: Path, x: torch.Tensor) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(str(path), options)
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})


@pytest.mark.share(6)
@pytest.mark.parametrize("target", ["onnx", "onnx-opset18", "onnx-opset21"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_the_checker_takes_it_and_it_runs(
    name: str, dynamic: bool, target: str, tmp_path: Path
) -> None:
    model, x, dims = PROGRAMS[name]
    shapes = (dims,) if dynamic else None
    exported = torch2mlir.export_and_import(model, x, output_type=target, dynamic_shapes=shapes)
    path = tmp_path / "model.onnx"
    assert exported.save(path) == [path]
    written = onnx.load(path)
    assert written.opset_import[0].version == OPSETS[target]
    onnx.checker.check_model(written, full_check=True)
    onnx.shape_inference.infer_shapes(written, check_type=True, strict_mode=True)
    more = torch.cat([x, x + 1])[:3] if dynamic else x
    for value in (x, more):
        with torch.no_grad():
            expected = model(value)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for got, want in zip(run(path, value), expected, strict=True):
            torch.testing.assert_close(torch.from_numpy(got), want, rtol=1e-4, atol=1e-5)


def test_dimensions_that_vary_have_one_name() -> None:
    model, x, dims = PROGRAMS["block"]
    proto = torch2mlir.export_and_import(
        model, x, output_type="onnx", dynamic_shapes=(dims,)
    ).onnx_model()
    (taken,), (given,) = (
        [[d.dim_param or d.dim_value for d in each.type.tensor_type.shape.dim] for each in side]
        for side in (proto.graph.input, proto.graph.output)
    )
    assert taken == given and taken[2] == 16 and all(isinstance(size, str) for size in taken[:2])


def test_dimensions_have_the_names_that_the_user_gave_them() -> None:
    batch, length = Dim("batch"), Dim("length", max=64)
    module = torch2mlir.export_and_import(
        lambda x, y: (torch.cat([x, y], 1), x.repeat(2, 1)),
        torch.randn(2, 3),
        torch.randn(2, 5),
        output_type="onnx",
        dynamic_shapes=({0: batch, 1: length}, {0: batch}),
    )
    graph = module.onnx_model().graph
    found = [
        [dim.dim_param or dim.dim_value for dim in each.type.tensor_type.shape.dim]
        for each in (*graph.input, *graph.output)
    ]
    assert found[:2] == [["batch", "length"], ["batch", 5]]
    assert found[2] == ["batch", "length + 5"] and found[3][0] in ("batch*2", "2*batch")


def test_words_are_kept_whole() -> None:
    proto = torch2mlir.export_and_import(*PROGRAMS["block"][:2], output_type="onnx").onnx_model()
    ops = [node.op_type for node in proto.graph.node]
    assert {"LayerNormalization", "Gelu", "Attention"} <= set(ops) and "Softmax" not in ops


def test_external_weights_are_written_from_their_own_memory(tmp_path: Path) -> None:
    layer = nn.Linear(300, 300)
    module = torch2mlir.export_and_import(
        layer, torch.rand(2, 300), output_type="onnx", weights="external"
    )
    proto = module.onnx_model()
    assert not any(each.raw_data for each in proto.graph.initializer if each.dims == [300, 300])
    with torch.no_grad():
        layer.weight.mul_(2)  # the file has what the weights are when it is written
    path, data = module.save(tmp_path / "linear.onnx")
    assert path.stat().st_size < 4000 and data.name == "linear.onnx.data"
    assert data.stat().st_size >= 300 * 301 * 4
    onnx.checker.check_model(path, full_check=True)
    x = torch.rand(2, 300)
    torch.testing.assert_close(torch.from_numpy(run(path, x)[0]), layer(x).detach())


def test_text_reads_back_and_verifies() -> None:
    for model, x, dims in PROGRAMS.values():
        module = torch2mlir.export_and_import(model, x, output_type="onnx", dynamic_shapes=(dims,))
        again = parse_module(str(module), "<text>", make_context())
        again.verify()
        assert [op.name for op in again.walk()] == [op.name for op in module.operation.walk()]


def test_an_operator_set_that_is_too_old_is_named() -> None:
    def bits(x: torch.Tensor) -> torch.Tensor:
        return x.view(torch.int32)

    x = torch.rand(3)
    newest = torch2mlir.export_and_import(bits, x, output_type="onnx").onnx_model()
    assert newest.opset_import[0].version == 26
    with pytest.raises(Torch2MLIRError, match="BitCast from operator set 26 on, not in 18"):
        torch2mlir.export_and_import(bits, x, output_type="onnx-opset18").onnx_model()


def test_only_the_onnx_dialect_makes_models() -> None:
    module = torch2mlir.export_and_import(torch.exp, torch.rand(3), output_type="tosa")
    with pytest.raises(Torch2MLIRError, match="not of 'tosa'"):
        module.save("never.onnx")


def test_nodes_say_which_line_they_come_from(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    module = torch2mlir.export_and_import(*PROGRAMS["block"][:2], output_type="onnx")
    module.save(path, debuginfo=True)
    assert any("test_export.py" in node.doc_string for node in onnx.load(path).graph.node)


def test_the_command_line_writes_a_model(tmp_path: Path) -> None:
    program = tmp_path / "model.pt2"
    torch.export.save(
        torch.export.export(Convolutions().eval(), (PROGRAMS["convolutions"][1],)), program
    )
    path = tmp_path / "model.onnx"
    assert main(["compile", str(program), "--to", "onnx", "-o", str(path), "--quiet"]) == 0
    onnx.checker.check_model(path, full_check=True)
