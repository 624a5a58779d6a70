"""One op, all of its spellings."""

from __future__ import annotations

import pytest
import torch

from torch2mlir.contract.op_name import OpName


@pytest.mark.parametrize(
    "spelled",
    ["aten::add.Tensor", "aten.add.Tensor", "torch.aten.add.Tensor", "torch.aten::add.Tensor"],
)
def test_every_spelling_is_the_same_op(spelled: str) -> None:
    name = OpName.of(spelled)
    assert name == "torch.aten.add.Tensor" == OpName.of(name)
    assert name.parts == ("aten", "add", "Tensor")
    assert (name.packet, name.dotted) == ("torch.aten.add", "aten.add.Tensor")
    assert name.qualified == "aten::add.Tensor"


def test_the_default_overload_has_no_name_of_its_own() -> None:
    relu = torch.ops.aten.relu.default
    assert OpName.of_schema(relu._schema) == OpName.of("aten::relu.default") == "torch.aten.relu"
    assert OpName.of("aten.relu").parts == ("aten", "relu", "default")
    assert OpName.of_schema(torch.ops.aten.add.Tensor._schema).qualified == "aten::add.Tensor"
