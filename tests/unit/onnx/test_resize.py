"""Images resized: ``Resize`` where ONNX finds the same places between the old elements, a product otherwise."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as f
from torch import Tensor

import torch2mlir

OPTIONS: list[tuple[dict[str, Any], bool]] = [
    ({"scale_factor": 2}, True),
    ({"scale_factor": (0.5, 1.75)}, True),
    ({"scale_factor": 2, "align_corners": True}, True),
    ({"size": (9, 4)}, True),
    ({"size": (1, 1)}, True),
    ({"size": (1, 13), "align_corners": True}, True),
    ({"scale_factor": 1.3}, False),
    ({"scale_factor": 1.3, "recompute_scale_factor": True}, True),
]


class Resized(torch.nn.Module):
    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.options = options

    def forward(self, x: Tensor) -> Tensor:
        return f.interpolate(x, mode="bilinear", **self.options)


@pytest.mark.share(4)
@pytest.mark.parametrize("options, is_kept", OPTIONS, ids=str)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_resized(options: dict[str, Any], is_kept: bool, is_dynamic: bool) -> None:
    torch.manual_seed(0)
    model, sizes = Resized(options).eval(), (2, 3, 6, 8)
    batch = [{0: torch.export.Dim("batch", min=1, max=64)}] if is_dynamic else None
    x = torch.randn(sizes)
    text = str(torch2mlir.export_and_import(model, x, output_type="onnx", dynamic_shapes=batch))
    assert ("onnx.Resize" in text) == is_kept
    run = torch2mlir.compile(model, x, output_type="onnx", dynamic_shapes=batch)
    for count in (2, 5, 1) if is_dynamic else (2, 2, 2):
        x = torch.randn(count, *sizes[1:])
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-5)


def test_resized_halves_and_doubles_are_products() -> None:
    for dtype in (torch.float64, torch.bfloat16):
        x = torch.randn(1, 2, 4, 4).to(dtype)
        run = torch2mlir.compile(Resized({"scale_factor": 2}), x, output_type="onnx")
        for _ in range(3):
            x = torch.randn(1, 2, 4, 4).to(dtype)
            torch.testing.assert_close(run(x), f.interpolate(x, scale_factor=2, mode="bilinear"))


NEAREST: list[tuple[tuple[int, ...], dict[str, Any], bool]] = [
    ((6, 8), {"scale_factor": 2}, True),
    ((6, 8), {"scale_factor": (1, 3)}, True),
    ((6, 8), {"size": (12, 40)}, True),
    ((6, 8), {"size": (6, 8)}, True),
    ((1, 1), {"size": (3, 5)}, True),
    ((7,), {"scale_factor": 4}, True),
    ((2, 3, 4), {"scale_factor": 2}, True),
    ((6, 8), {"size": (9, 4)}, False),
    ((6, 8), {"scale_factor": 1.5}, False),
    ((6, 8), {"scale_factor": 0.5}, False),
    ((5,), {"scale_factor": 1.3}, False),
    ((4,), {"scale_factor": 41}, False),  # float32(1 / 41) is too small
]


class Nearest(torch.nn.Module):
    def __init__(self, mode: str, options: dict[str, Any]) -> None:
        super().__init__()
        self.mode, self.options = mode, options

    def forward(self, x: Tensor) -> Tensor:
        return f.interpolate(x, mode=self.mode, **self.options)


@pytest.mark.share(12)
@pytest.mark.parametrize("spatial, options, is_kept", NEAREST, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("varies", ["nothing", "batch", "everything"])
def test_nearest(
    spatial: tuple[int, ...],
    options: dict[str, Any],
    is_kept: bool,
    mode: str,
    engine: str,
    varies: str,
) -> None:
    """OpenVINO refused all of them: of places that are computed as floats it knew no bounds."""
    if varies == "everything" and "size" in options:
        pytest.skip("sizes are given")
    model, auto = Nearest(mode, options).eval(), torch.export.Dim.AUTO
    dims = {
        "nothing": {},
        "batch": {0: auto},
        "everything": dict.fromkeys(range(1 + len(spatial)), auto),
    }
    dims["everything"] |= {2 + i: auto for i in range(len(spatial))}
    batch = [dims[varies]] if dims[varies] else None
    x = torch.randn(2, 3, *spatial)
    text = str(torch2mlir.export_and_import(model, x, output_type="onnx", dynamic_shapes=batch))
    assert ("onnx.Resize" in text) == is_kept
    run = torch2mlir.compile(model, x, output_type="onnx", engine=engine, dynamic_shapes=batch)
    if engine == "openvino" and varies == "everything" and not is_kept:
        with pytest.raises(torch2mlir.EngineError, match="64-bit floats"):  # of the factor
            run(x)
        return
    for more in (0, 3, 1):
        counts = {"nothing": (2, *spatial), "batch": (2 + more, *spatial)}
        counts["everything"] = (2 + more, *(n + more for n in spatial))
        count, *sizes = counts[varies]
        x = torch.randn(count, 3, *sizes)
        assert torch.equal(run(x), model(x))


@pytest.mark.parametrize("mode", ["bicubic", "linear", "trilinear"])
@pytest.mark.parametrize("size", [(9, 5, 7), (3, 2, 2)])
def test_other_sizes_on_openvino(mode: str, size: tuple[int, ...]) -> None:
    rank = {"linear": 1, "bicubic": 2, "trilinear": 3}[mode]
    model, sizes = Nearest(mode, {"size": size[:rank]}), (2, 3, *(4, 6, 5)[:rank])
    run = torch2mlir.compile(model, torch.randn(sizes), output_type="onnx", engine="openvino")
    for _ in range(3):
        x = torch.randn(sizes)
        torch.testing.assert_close(run(x), model(x), rtol=1e-5, atol=1e-5)
