"""Who names an engine need not know its dialects: programs go through the one in which it does most."""

from __future__ import annotations

import pytest
import torch

import torch2mlir
from torch2mlir import lazy
from torch2mlir.errors import EngineError

DIALECTS = {
    "xla": "stablehlo",
    "iree": "linalg-on-tensors",
    "onnxruntime": "onnx",
    "openvino": "onnx",
    "reference": "linalg-on-tensors",
}


class Squared(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        squared: torch.Tensor = self.linear(x) ** 2
        return squared


@pytest.mark.parametrize("engine", DIALECTS)
def test_of_a_compiled_function(engine: str) -> None:
    model, x = Squared().eval(), torch.randn(2, 4)
    compiled = torch2mlir.compile(model, x, engine=engine)
    assert compiled.output_type == DIALECTS[engine]
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(2, 4)
            torch.testing.assert_close(compiled(x), model(x))


@pytest.mark.parametrize("engine", DIALECTS)
def test_of_the_backend_of_torch_compile(engine: str) -> None:
    torch._dynamo.reset()
    model = Squared().eval()
    options = {"engine": engine, "fallback": False}
    compiled = torch.compile(model, backend="torch2mlir", options=options)
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(2, 4)
            torch.testing.assert_close(compiled(x), model(x))


def test_of_the_lazy_device() -> None:
    x = torch.randn(3)
    with lazy.device(engine="iree") as device:
        found = (x.to(device) * 2).pow(2)
        lazy.mark_step()
        assert "linalg." in lazy.last_computation().text()
        torch.testing.assert_close(found.cpu(), (x * 2).pow(2))


def test_a_refusal_on_another_dialect_names_it() -> None:
    sizes = ({0: torch.export.Dim("rows"), 1: torch.export.Dim("columns")},)
    x = torch.randn(4, 3)
    with pytest.raises(EngineError, match="output type 'linalg-on-tensors' takes more programs"):
        torch2mlir.compile(
            lambda x: x.softmax(-1),
            x,
            dynamic_shapes=sizes,
            output_type="stablehlo",
            engine="iree",
        )(x)
    compiled = torch2mlir.compile(lambda x: x.softmax(-1), x, dynamic_shapes=sizes, engine="iree")
    for rows in (2, 4, 5):
        x = torch.randn(rows, 6)
        torch.testing.assert_close(compiled(x), x.softmax(-1))
