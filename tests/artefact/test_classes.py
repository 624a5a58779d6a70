"""What holds the parts of a result: a loaded program's is of the model's own class, or of one that has the same parts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import ArtefactError


class Moments(NamedTuple):
    mean: Tensor
    largest: Any


class Summary(nn.Module):
    def forward(self, x: Tensor, shift: tuple[Tensor, Any]) -> dict[str, Any]:
        moved = x + shift[0]
        found = Moments(moved.mean(0), torch.max(moved, 0))
        return {"moments": found, "order": [torch.sort(x, 1)], "bounds": torch.aminmax(x)}


def example() -> tuple[Tensor, tuple[Tensor, Any]]:
    return torch.randn(4, 3), Moments(torch.randn(3), torch.zeros(1))


def save(way: str, path: Path, arguments: tuple[Any, ...]) -> None:
    if way == "compile":
        compiled = torch2mlir.compile(Summary(), *arguments)
        torch2mlir.save(compiled, path)
    else:
        torch2mlir.save(torch2mlir.optimize(Summary(), model_inputs=arguments), path)


@pytest.mark.parametrize("way", ["compile", "optimize"])
def test_a_loaded_program_has_the_classes_of_the_model(way: str, tmp_path: Path) -> None:
    save(way, tmp_path / "saved", example())
    loaded = torch2mlir.load(tmp_path / "saved")
    for _ in range(3):
        x, shift = example()
        found, wanted = loaded(x, shift), Summary()(x, shift)
        assert pytree.tree_structure(found) == pytree.tree_structure(wanted)
        torch.testing.assert_close(pytree.tree_leaves(found), pytree.tree_leaves(wanted))
        assert torch.equal(found["order"][0].indices, wanted["order"][0].indices)


@pytest.mark.parametrize("way", ["compile", "optimize"])
def test_parts_have_their_names_where_the_class_is_not_there(way: str, tmp_path: Path) -> None:
    x, shift = example()
    # PyTorch pickles the example of a captured program
    save(way, tmp_path / "saved", (x, shift if way == "compile" else tuple(shift)))
    code = (
        "import sys, torch, torch2mlir\n"
        "from collections import namedtuple\n"
        "loaded = torch2mlir.load(sys.argv[1])\n"
        "Given = namedtuple('Given', ['mean', 'largest'])\n"
        "for kind in (Given, lambda *parts: parts)[sys.argv[2] == 'optimize':]:\n"
        "    x, mean = torch.randn(4, 3), torch.randn(3)\n"
        "    result = loaded(x, kind(mean, torch.zeros(1)))\n"
        "    moments, bounds = result['moments'], result['bounds']\n"
        "    torch.testing.assert_close(moments.mean, (x + mean).mean(0))\n"
        "    torch.testing.assert_close(moments.largest.values, (x + mean).max(0).values)\n"
        "    assert type(moments).__name__ == 'Moments'\n"
        "    assert type(bounds) is torch.return_types.aminmax and bounds.min == x.min()\n"
        "assert 'tests' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "saved"), way],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@dataclass
class Pair:
    first: Tensor
    second: Tensor


def test_a_class_that_pytorch_cannot_name_in_a_file(tmp_path: Path) -> None:
    torch.export.register_dataclass(Pair)

    class Pairs(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return Pair(x + 1, torch.max(x, 0))

    x = torch.randn(2, 3)
    torch2mlir.save(torch2mlir.compile(Pairs(), x), tmp_path / "compiled")
    first, largest = torch2mlir.load(tmp_path / "compiled")(x)
    torch.testing.assert_close([first, largest.values], [x + 1, x.max(0).values])
    optimized = torch2mlir.optimize(Pairs(), model_inputs=(x,))
    with pytest.raises(ArtefactError, match="serialized_type_name"):
        torch2mlir.save(optimized, tmp_path / "optimized")
    assert not (tmp_path / "optimized").exists()


def test_arguments_of_a_class_that_is_not_there(tmp_path: Path) -> None:
    save("optimize", tmp_path / "saved", example())
    code = "import sys, torch2mlir\ntorch2mlir.load(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "ArtefactError: PyTorch cannot read the programs" in done.stderr
    assert "Moments(mean,largest)" in done.stderr, done.stderr
