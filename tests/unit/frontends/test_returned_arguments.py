"""Results that are arguments, written in place: the caller's own tensors come back, as in eager mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import torch2mlir

TARGETS = ["stablehlo", "linalg-on-tensors", "tosa"]


class Cache(torch.nn.Module):
    """Writes a row of a cache that several heads share, and gives the cache back beside what is read from it."""

    def forward(
        self, cache: torch.Tensor, row: torch.Tensor, place: torch.Tensor
    ) -> dict[str, Any]:
        cache.index_copy_(1, place, row)
        read = cache.repeat_interleave(2, 0) @ row[0, 0]
        return {"read": read, "cache": cache, "copy": cache + 0, "row": row}


def _call(value: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(value)
    return torch.randn(2, 5, 3), torch.randn(2, 1, 3), torch.tensor([value])


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", TARGETS)
def test_a_written_argument_comes_back(output_type: str) -> None:
    compiled = torch2mlir.compile(Cache(), *_call(0), output_type=output_type)
    cache, row, place = _call(1)
    theirs = cache.clone()
    for value in (1, 4, 0):
        row, place = _call(value)[1:]
        actual, expected = compiled(cache, row, place), Cache()(theirs, row, place)
        assert actual["cache"] is cache
        torch.testing.assert_close(actual, expected)
    assert len(compiled.program.signature.outputs) == 4
    assert "func.func" in compiled.text()


def test_text_has_all_results() -> None:
    module = torch2mlir.export_and_import(Cache(), *_call(0), output_type="stablehlo")
    function = next(iter(module.operation.body.block.ops))
    assert len(function.function_type.outputs) == 5  # type: ignore[attr-defined]


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    compiled = torch2mlir.compile(Cache(), *_call(0), engine="xla")
    torch2mlir.save(compiled, tmp_path / "cache")
    cache, row, place = _call(2)
    theirs = cache.clone()
    actual = torch2mlir.load(tmp_path / "cache")(cache, row, place)
    assert actual["cache"] is cache
    torch.testing.assert_close(actual, Cache()(theirs, row, place))


def test_a_result_that_only_equals_an_argument_is_its_own_tensor() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x + 1
        x.copy_(y)
        return x, y

    compiled = torch2mlir.compile(function, torch.zeros(3))
    x = torch.ones(3)
    first, second = compiled(x)
    assert first is x and second is not x
    compiled(x)
    torch.testing.assert_close(second, torch.full((3,), 2.0))
