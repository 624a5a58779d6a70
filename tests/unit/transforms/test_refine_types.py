"""Refinement of text: ranks, sizes and dtypes from PyTorch's meta kernels."""

import pytest

from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import mul, symbol
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms.refine_types import RefineTypesPass


def refined(body: str, arguments: str, result: str):  # type: ignore[no-untyped-def]
    text = f"func.func @f({arguments}) -> {result} {{\n{body}\n}}"
    module = parse_module(text)
    RefineTypesPass().apply(make_context(), module)
    module.verify()
    return module.body.block.first_op.body.block.last_op.operands[0].type  # type: ignore[union-attr]


def test_an_unranked_result_gets_rank_and_dtype() -> None:
    type = refined(
        """
        %1 = torch.aten.exp %0 : !torch.vtensor<[2,3],si64> -> !torch.vtensor
        return %1 : !torch.vtensor
        """,
        "%0: !torch.vtensor<[2,3],si64>",
        "!torch.vtensor",
    )
    assert str(type) == "!torch.vtensor<[2,3],f32>"


def test_anonymous_sizes_become_symbols_that_flow() -> None:
    type = refined(
        """
        %i = torch.constant.int 0
        %l = torch.prim.ListConstruct %0, %0 : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) -> !torch.list<vtensor>
        %1 = torch.aten.cat %l, %i : !torch.list<vtensor>, !torch.int -> !torch.vtensor
        return %1 : !torch.vtensor
        """,
        "%0: !torch.vtensor<[?,3],f32>",
        "!torch.vtensor",
    )
    assert isinstance(type, t.ValueTensorType) and type.sizes == (mul(2, symbol("s0")), 3)


def test_members_of_returned_lists_are_refined() -> None:
    type = refined(
        """
        %i = torch.constant.int 2
        %d = torch.constant.int 0
        %l = torch.aten.chunk %0, %i, %d : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
        %1, %2 = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor, !torch.vtensor
        return %2 : !torch.vtensor
        """,
        "%0: !torch.vtensor<[4,3],f32>",
        "!torch.vtensor",
    )
    assert str(type) == "!torch.vtensor<[2,3],f32>"


def test_operands_that_do_not_fit_are_pytorchs_error() -> None:
    with pytest.raises(BackendContractError, match="PyTorch rejects"):
        refined(
            """
            %1 = torch.aten.mm %0, %0 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32> -> !torch.vtensor
            return %1 : !torch.vtensor
            """,
            "%0: !torch.vtensor<[2,3],f32>",
            "!torch.vtensor",
        )
