"""Means of numbers far from zero, against doubles: eager mode's own layers round them more than ours may."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import torch2mlir

ON = {
    ("linalg-on-tensors", "iree"): 1e-4,
    ("tosa", "iree"): 1e-4,
    ("stablehlo", "xla"): 1e-4,
    ("onnx", "onnxruntime"): 1e-3,  # the group norm is its own
    ("onnx", "openvino"): 1e-3,
}
MODULES = {"iree": "iree.compiler", "xla": "jax"}


def normalized(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The layers that take a mean away."""
    images = x.view(-1, 4, 24, 8)
    variance, mean = torch.var_mean(x, 1)
    batch = F.batch_norm(images, None, None, training=True)
    return (
        F.layer_norm(x, (768,)),
        F.group_norm(images, 2),
        F.instance_norm(images),
        batch,
        variance,
        mean,
    )


@pytest.mark.share(8)
@pytest.mark.parametrize(("output_type", "engine"), ON)
def test_as_close_as_doubles(output_type: str, engine: str) -> None:
    pytest.importorskip(MODULES.get(engine, engine))
    compiled = torch2mlir.compile(
        normalized, torch.randn(2, 768), output_type=output_type, engine=engine
    )
    for far in (1000.0, -300.0, 0.0):
        x = torch.randn(2, 768) + far
        ours, exact = compiled(x), normalized(x.double())
        for a, b in zip(ours, exact, strict=True):
            assert (a - b).abs().max() <= ON[output_type, engine] * b.abs().max().clamp(min=1)
