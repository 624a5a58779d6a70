"""The functional forms of ops that write take what the writing ops take."""

from __future__ import annotations

import pytest

from torch2mlir.dialects.torch.functional_variants import functional_variant
from torch2mlir.dialects.torch.schema import find_schema, op_names

STATISTICS = {"torch.aten.batch_norm", "torch.aten.native_batch_norm"}
"""They write running statistics if there are some; their functional form has no other call."""


def test_operands_have_the_types_of_the_schema() -> None:
    """``pow_.Scalar`` was ``pow.Scalar``, which is a number to the power of a tensor; ``polygamma`` has `n` first."""
    found = 0
    for name in set(op_names()) - STATISTICS:
        if (variant := functional_variant(name)) is None:
            continue
        found += 1
        schema, functional = find_schema(name), find_schema(variant.name)
        assert schema is not None and functional is not None
        given = [schema.arguments[i].type for i in variant.operands]
        assert given == [argument.type for argument in functional.arguments], (name, variant.name)
    assert found > 1000


@pytest.mark.parametrize(
    ("written", "functional", "operands"),
    [
        ("add_.Tensor", "add.Tensor", (0, 1, 2)),
        ("pow_.Scalar", "pow.Tensor_Scalar", (0, 1)),
        ("float_power_.Tensor", "float_power.Tensor_Tensor", (0, 1)),
        ("polygamma_", "polygamma", (1, 0)),
        ("ldexp_", "ldexp.Tensor", (0, 1)),
        ("add.out", "add.Tensor", (0, 1, 2)),
    ],
)
def test_names(written: str, functional: str, operands: tuple[int, ...]) -> None:
    variant = functional_variant(f"torch.aten.{written}")
    assert variant is not None
    assert (variant.name, variant.operands) == (f"torch.aten.{functional}", operands)


@pytest.mark.parametrize("name", ["transpose_", "resize_", "add.Tensor"])
def test_none(name: str) -> None:
    assert functional_variant(f"torch.aten.{name}") is None
