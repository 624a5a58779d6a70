"""Models at their full size: what engines compile differently where tensors are large is not seen in small ones.

All but one of their cells need ``--full``.
"""

from __future__ import annotations

import pytest
import torch
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.runtime import iree
from zoo import MODELS, ZooModel

ON_ENGINES = [
    ("stablehlo", "xla"),
    *((of, "iree") for of in ("linalg-on-tensors", "tosa", "stablehlo")),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        cells = {(name, *on) for name in MODELS for on in ON_ENGINES}
        quick = {("mobilenet-v2", "stablehlo", "xla")}
        wanted = sorted(cells if metafunc.config.getoption("--full") else quick)
        metafunc.parametrize(("name", "output_type", "engine"), wanted)


def test_agrees_with_eager(name: str, output_type: str, engine: str) -> None:
    entry = MODELS[name](size="full")
    compiled = torch2mlir.compile(
        entry.model, *entry.args, **entry.kwargs, output_type=output_type, engine=engine
    )
    for seed in range(3):
        args, kwargs = _drawn(entry, seed)
        with torch.no_grad():
            expected = pytree.tree_leaves(entry.model(*args, **kwargs))
            found = pytree.tree_leaves(compiled(*args, **kwargs))
        for ours, eager in zip(found, expected, strict=True):
            if isinstance(eager, torch.Tensor):
                torch.testing.assert_close(ours, eager, rtol=1e-3, atol=1e-4)


def _drawn(entry: ZooModel, seed: int) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """Other arguments of the same kinds: numbers, or tokens that every vocabulary has."""
    generator = torch.Generator().manual_seed(seed)

    def draw(x: torch.Tensor) -> torch.Tensor:
        if x.is_floating_point():
            return torch.randn(x.shape, generator=generator, dtype=x.dtype)
        is_mask = int(x.max()) <= 1
        return x if is_mask else torch.randint(900, x.shape, generator=generator, dtype=x.dtype)

    return [draw(x) for x in entry.args], {key: draw(x) for key, x in entry.kwargs.items()}


def test_data_tiling_is_left_out_for_rows_without_convolutions_alone() -> None:
    """ResNet-50 was wrong by five times through TOSA: its convolutions are products, the only other has one row."""
    row, picture = torch.randn(1, 64), torch.randn(1, 3, 8, 8)
    linear = torch.nn.Linear(64, 8)
    convolution = torch.nn.Sequential(torch.nn.Conv2d(3, 1, 1), torch.nn.Flatten(), linear)
    for model, x, alone in ((linear, row, True), (convolution, picture, False)):
        module = torch2mlir.export_and_import(model, x, output_type="linalg-on-tensors")
        assert iree._multiplies_rows_alone(module.operation) is alone
