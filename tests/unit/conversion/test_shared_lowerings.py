"""Core ops are lowered once for all dialects; what a dialect says in a way of its own is listed."""

from __future__ import annotations

import pytest

from torch2mlir.contract.core_ops import CORE_OPS
from torch2mlir.conversion import registry

NO_TWO_ALIKE = {"torch.aten.convolution", "torch.aten.sort.stable"}
"""Lowered by each dialect for itself."""
OWN: dict[str, set[str]] = {
    # a bias is added while the rows of a batch are together
    "linalg-on-tensors": {"torch.aten.linear"},
    "stablehlo": set(),
    # a tosa.cast rounds, a constant line needs no arithmetic
    "tosa": {"torch.aten.round", "torch.aten.arange.start_step"},
    # an operator that averages itself
    "onnx": {"torch.aten.mean.dim"},
}


@pytest.mark.parametrize("target", OWN)
def test_a_dialect_lowers_few_core_ops_for_itself(target: str) -> None:
    registry.lowering_functions(target)
    own = CORE_OPS & registry._LOWERINGS[target].keys()
    assert own == OWN[target] | NO_TWO_ALIKE
    assert CORE_OPS - own <= registry._SHARED.keys()
