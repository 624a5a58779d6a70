"""Programs that an engine's compiler refuses with words of its own: the error names op, line, dialect and a way out."""

from __future__ import annotations

import pytest
import torch
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import EngineError
from torch2mlir.runtime import refused_op
from torch2mlir.runtime.lowered import LoweredFunction


class MostFrequent(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mode(x * 2, 1).values  # MostFrequent


def _dims(count: int) -> tuple[dict[int, Dim]]:
    return ({i: Dim(f"n{i}", min=1, max=64) for i in range(count)},)


PROGRAMS: dict[str, tuple[type[torch.nn.Module], tuple[int, ...], int, str]] = {
    "most_frequent": (MostFrequent, (3, 40), 2, "tosa.while_loop"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_error_names_what_the_engine_stumbles_over(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused_op, "_SECONDS", 300.0)
    model, shape, count, op = PROGRAMS[name]
    compiled = torch2mlir.compile(
        model(), torch.randn(shape), output_type="tosa", engine="iree", dynamic_shapes=_dims(count)
    )
    with pytest.raises(EngineError) as caught:
        compiled(torch.randn(shape))
    error = caught.value
    assert error.op is not None and error.op.startswith(op)
    with open(__file__) as source:
        marked = [i for i, line in enumerate(source, 1) if line.endswith(f"# {model.__name__}\n")]
    assert error.location is not None
    assert error.location.startswith(f"{__file__}:{marked[0]}")
    assert error.dialect == "tosa"
    assert error.hint is not None and "output type" in error.hint


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors"])
@pytest.mark.share(2)
def test_the_way_out_is_one(name: str, output_type: str) -> None:
    model, shape, count, _ = PROGRAMS[name]
    compiled = torch2mlir.compile(
        model(), torch.randn(shape), output_type=output_type, dynamic_shapes=_dims(count)
    )
    for _ in range(3):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), model()(x))


def test_no_op_is_named_that_was_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_op, "_SECONDS", 0.0)
    x = torch.randn(3)
    program = torch2mlir.export_and_import(lambda x: (x + 1) * 2 - x, x, output_type="tosa")
    error = EngineError("it cannot be compiled", dialect="tosa")

    def refuse(function: LoweredFunction) -> None:
        raise error

    function = LoweredFunction.of(program.operation, "tosa")
    assert refused_op.with_model_line(error, function, refuse) is error
    monkeypatch.setattr(refused_op, "_SECONDS", 60.0)
    found = refused_op.with_model_line(error, function, refuse)
    assert found.op is not None and found.op.startswith("tosa.add")
