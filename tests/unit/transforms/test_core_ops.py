"""The core set: every member PyTorch does not call core has its reason, and every target lowers all of it."""

from __future__ import annotations

import pytest
import torch
from torch._decomp import core_aten_decompositions

from torch2mlir.contract.core_ops import CORE_OPS, REASONS
from torch2mlir.contract.target import lowered_targets
from torch2mlir.conversion.registry import lowering_functions
from torch2mlir.transforms.decompositions import find_overload


def test_what_pytorch_does_not_call_core_has_a_reason() -> None:
    decomposed = core_aten_decompositions()
    unexplained = set()
    for op in CORE_OPS:
        overload = find_overload(op)
        assert overload is not None, op
        if torch.Tag.core not in overload.tags or overload in decomposed:
            unexplained.add(op)
    assert not unexplained - set(REASONS)


def test_reasons_are_those_of_core_ops() -> None:
    assert not set(REASONS) - CORE_OPS


@pytest.mark.parametrize("target", lowered_targets())
def test_every_target_lowers_every_core_op(target: str) -> None:
    assert not CORE_OPS - set(lowering_functions(target))
