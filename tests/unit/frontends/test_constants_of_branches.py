"""Bodies of branches and loops call their constants alike; what is kept by name is each one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch._higher_order_ops import while_loop

import torch2mlir

ENGINES = {
    "linalg-on-tensors": "iree",
    "tosa": "iree",
    "stablehlo": "xla",
    "onnx": "onnxruntime",
}


def branches(x: Tensor, y: Tensor) -> Tensor:
    return torch.cond(
        (x > y).any(),
        lambda x, y: x.index_copy(0, torch.tensor([3, 1]), y[-2:]),
        lambda x, y: x.index_copy(0, torch.tensor([2, 0]), y[:2]),
        (x, y),
    )


def loops(x: Tensor, y: Tensor) -> Tensor:
    for places in ([4, 2], [0, 3]):
        _, x = while_loop(
            lambda i, x: i < 2,
            lambda i, x, places=places: (i + 1, x + x.index_select(0, torch.tensor(places)).sum()),
            (torch.tensor(0), x),
        )
    return x + y


def branch_of_a_loop(x: Tensor, y: Tensor) -> Tensor:
    def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.cond(
            x.sum() > y.sum(),
            lambda x: x.index_copy(0, torch.tensor([3, 1]), y[-2:]),
            lambda x: x.index_copy(0, torch.tensor([2, 0]), y[:2]),
            (x,),
        )
        return i + 1, x + torch.tensor([0.5, 1.0, 2.0])

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))[1]


CALLS = [
    [torch.arange(15.0).view(5, 3) - lower, torch.arange(15.0).flip(0).view(5, 3)]
    for lower in (0, 99, 1)
]


@pytest.mark.parametrize("model", [branches, loops, branch_of_a_loop])
@pytest.mark.parametrize("output_type", ENGINES)
@pytest.mark.share(3)
def test_saved_programs_have_the_constants_of_each(
    model: object, output_type: str, tmp_path: Path
) -> None:
    compiled = torch2mlir.compile(
        model, *CALLS[0], output_type=output_type, engine=ENGINES[output_type]
    )
    torch2mlir.save(compiled, tmp_path / "program")
    loaded = torch2mlir.load(tmp_path / "program")
    for arguments in CALLS:
        torch.testing.assert_close(loaded(*arguments), model(*arguments))  # type: ignore[operator]


@pytest.mark.parametrize("output_type", ["torch", *ENGINES])
def test_weights_beside_the_module_are_those_of_each(output_type: str, tmp_path: Path) -> None:
    module = torch2mlir.export_and_import(
        branches, *CALLS[0], output_type=output_type, weights="external"
    )
    path = tmp_path / ("model.onnx" if output_type == "onnx" else "model.mlir")
    module.save(path)
    if output_type != "onnx":
        kept = load_file(path.with_suffix(".safetensors"))
        assert sorted(tensor.tolist() for tensor in kept.values()) == [[2, 0], [3, 1]]
        return
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(path)
    names = [each.name for each in session.get_inputs()]
    for arguments in CALLS:
        (found,) = session.run(None, dict(zip(names, (a.numpy() for a in arguments), strict=True)))
        torch.testing.assert_close(torch.from_numpy(found), branches(*arguments))
