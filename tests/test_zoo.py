"""Zoo models: the dynamic export of each really is open in batch and sequence length."""

from __future__ import annotations

import pytest
import torch
from torch.utils._pytree import tree_leaves
from zoo import MODELS

OTHER_SIZES = {"batch": 3, "sequence": 6, "target": 4}


def _resize(value: torch.Tensor, dims: dict[int, str]) -> torch.Tensor:
    for axis, name in dims.items():
        indices = torch.arange(OTHER_SIZES[name]) % value.shape[axis]
        value = value.index_select(axis, indices)
    return value


@pytest.mark.parametrize("name", MODELS)
def test_dynamic_export_agrees_with_eager_at_other_sizes(name: str) -> None:
    entry = MODELS[name](size="small")
    parameters = list(entry.dims)
    args = [
        _resize(value, entry.dims[parameter])
        for parameter, value in zip(parameters, entry.args, strict=False)
    ]
    kwargs = {key: _resize(value, entry.dims[key]) for key, value in entry.kwargs.items()}
    program = entry.export(dynamic=True)
    with torch.no_grad():
        expected = entry.model(*args, **kwargs)
        actual = program.module()(*args, **kwargs)
    assert type(actual) is type(expected)
    for got, want in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        assert want.isfinite().all() and want.std() > 1e-2
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_weights_are_the_same_at_every_call() -> None:
    first, second = MODELS["resnet50"](size="small"), MODELS["resnet50"](size="small")
    for one, other in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(one, other)
