"""Zoo models: the dynamic export of each really is open in batch and sequence length."""

from __future__ import annotations

import pytest
import torch
from torch.utils._pytree import tree_leaves

from tests.models.resized import other_inputs
from zoo import MODELS


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.share(16)
def test_dynamic_export_agrees_with_eager_at_other_sizes(name: str) -> None:
    entry = MODELS[name](size="small")
    args, kwargs = other_inputs(entry)
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
