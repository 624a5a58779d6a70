"""Results come in the containers that the model makes, ``torch.Size`` among them, of which PyTorch makes tuples."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir


class Pair(NamedTuple):
    value: Tensor
    shape: torch.Size


def _of_size(x: Tensor) -> Any:
    return x * 2, x.shape


def _nested(x: Tensor) -> Any:
    return {"pair": Pair(x + 1, x.T.shape), "more": [OrderedDict(a=x, b=(x.shape, None)), ()]}


def _size_alone(x: Tensor) -> Any:
    return x.shape


@pytest.mark.parametrize("function", [_of_size, _nested, _size_alone])
@torch.no_grad()
def test_sizes_are_sizes(function: Callable[[Tensor], Any], tmp_path: Path) -> None:
    x, varying = torch.ones(4, 3), ({0: Dim.DYNAMIC},)
    compiled = torch2mlir.compile(function, x, engine="iree", dynamic_shapes=varying)
    torch2mlir.save(compiled, tmp_path / "artefact")
    found = {
        "compile": compiled,
        "load": torch2mlir.load(tmp_path / "artefact"),
        "optimize": torch2mlir.optimize(function, model_inputs=(x,)),
    }
    for size in (4, 5, 3):
        given = torch.full((size, 3), float(size))
        for name, run in found.items():
            if name == "load" and function is _nested:  # without the user's classes
                continue
            assert repr(run(given)) == repr(function(given)), name
