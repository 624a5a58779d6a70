"""The torch dialect: spelling, laziness and verification, judged by torch-mlir-opt."""

from pathlib import Path

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.oracle import torch_mlir_opt
from torch2mlir.dialects import torch
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.dialects.torch import core, dims, object_graph, schema, types
from torch2mlir.dialects.torch.symbols import bind_all_shapes, resolve_shapes
from torch2mlir.errors import ParseError

INSTANCES = (Path(__file__).parent / "torch_ops.mlir").read_text()

UNPRINTED = {
    "torch.bind_symbolic_shape": "in test_symbolic_shapes_survive_text",
    "torch.symbolic_int": "in test_symbolic_shapes_survive_text",
    "torch.hop_flex_attention": "in test_texts_of_others",
    "torch.valsem.aten.bernoulli.float": "default form, as every registry op",
    "torch.operator_terminator": "only inside torch.operator regions",
}


@pytest.mark.parametrize("generic", [False, True])
def test_hand_written_ops_round_trip_through_torch_mlir_opt(generic: bool) -> None:
    module = parse_module(INSTANCES)
    module.verify()
    theirs = torch_mlir_opt(module_text(module, generic=generic))
    again = parse_module(theirs)
    again.verify()
    assert torch_mlir_opt(module_text(again)) == theirs


def test_every_hand_written_op_has_an_instance() -> None:
    present = {op.name for op in parse_module(INSTANCES).walk()}
    known = {op.name for op in (*core.OPS, *object_graph.OPS)}
    assert known - present == set(UNPRINTED)


@pytest.mark.parametrize(
    "type",
    [
        "!torch.vtensor",
        "!torch.vtensor<*,f32>",
        "!torch.vtensor<[],unk>",
        "!torch.vtensor<[2,?],f32>",
        "!torch.vtensor<[2,3],!torch.qint8>",
        "!torch.vtensor<[1],complex<f64>>",
        "!torch.tensor<[?,?],si64>",
        "!torch.list<optional<vtensor<[2],f32>>>",
        "!torch.optional<list<int>>",
        "!torch.tuple<int, vtensor<[2],ui8>, tuple<str, none>>",
        "!torch.union<int, none>",
        "!torch.dict<str, list<vtensor>>",
        '!torch.nn.Module<"a.b.C">',
        "!torch.Device",
        "!torch.Generator",
        "!torch.LinearParams",
        "!torch.number",
        "!torch.any",
        "!torch.bool",
    ],
)
def test_types_are_spelled_as_torch_mlir_spells_them(type: str) -> None:
    text = f"func.func private @f({type})"
    printed = module_text(parse_module(text))
    assert type in printed
    assert type in torch_mlir_opt(printed)


def test_registry_ops_are_made_on_first_use() -> None:
    name = "torch.aten.special_zeta.self_scalar"
    assert torch.find_op(name) is torch.find_op(name)
    assert torch.find_op("torch.aten.no_such_op") is None
    assert len(torch.op_names()) > 4000


def test_every_schema_of_the_registry_can_be_read() -> None:
    for name in schema.op_names():
        found = schema.find_schema(name)
        assert found is not None and found.name == name
        assert isinstance(found.arguments, tuple) and isinstance(found.returns, tuple)


def test_mutation_and_views_are_read_from_the_schema() -> None:
    add_ = schema.find_schema("torch.aten.add_.Tensor")
    view = schema.find_schema("torch.aten.view")
    relu = schema.find_schema("torch.aten.relu")
    assert add_ and view and relu
    assert add_.is_mutating and not add_.is_view
    assert view.is_view and not view.is_mutating
    assert not relu.is_view and not relu.is_mutating


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%1 = torch.aten.relu %0, %0 : !torch.vtensor, !torch.vtensor -> !torch.vtensor",
            "takes 1 operands",
        ),
        ("%1 = torch.aten.relu %i : !torch.int -> !torch.vtensor", "'self' of torch.aten.relu"),
        (
            "%1 = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[3],f32>",
            "cannot be a",
        ),
    ],
)
def test_verifier_names_the_operand(text: str, message: str) -> None:
    module = parse_module(
        f"func.func @f(%0: !torch.vtensor, %i: !torch.int) {{\n{text}\nreturn\n}}"
    )
    with pytest.raises(VerifyException, match=message):
        module.verify()


def test_an_op_outside_the_registry_is_an_operator() -> None:
    op = core.build("torch.mylib.frobnicate", [], [types.int_type])
    assert isinstance(op, core.OperatorOp) and op.op_name == "torch.mylib.frobnicate"


def test_symbolic_shapes_survive_text() -> None:
    module = parse_module(
        """
        func.func @f(%0: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?],f32> {
          %s = torch.symbolic_int "s0" {min_val = 2, max_val = 64} : !torch.int
          torch.bind_symbolic_shape %0, [%s], affine_map<()[s0] -> (s0, 8)> : !torch.vtensor<[?,8],f32>
          %n = torch.constant.int -1
          %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
          %1 = torch.aten.view %0, %l : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
          torch.bind_symbolic_shape %1, [%s], affine_map<()[s0] -> (s0 * 8)> : !torch.vtensor<[?],f32>
          return %1 : !torch.vtensor<[?],f32>
        }
        """
    )
    resolve_shapes(module)
    returned = module.body.block.first_op.body.block.last_op  # type: ignore[union-attr]
    assert returned.operands[0].type.sizes == (dims.mul(8, dims.symbol("s0")),)  # type: ignore[union-attr]
    bind_all_shapes(module)
    text = torch_mlir_opt(module_text(module))
    assert "affine_map<()[s0] -> (s0 * 8)>" in text
    assert 'torch.symbolic_int "s0" {min_val = 2, max_val = 64}' in text


def test_infinite_literals_keep_their_bits() -> None:
    text = "func.func @f() { %0 = torch.vtensor.literal(dense<0xFF800000> : tensor<2xf32>) : !torch.vtensor<[2],f32>\nreturn }"
    assert "0xff800000" in module_text(parse_module(text)).lower()


def test_malformed_text_is_a_parse_error_with_a_caret() -> None:
    with pytest.raises(ParseError, match=r"\^"):
        parse_module("func.func @f( {")


@pytest.mark.parametrize("generic", [False, True])
def test_ops_torch_mlir_lacks_travel_as_operators(generic: bool) -> None:
    module = parse_module(
        """
        func.func @f(%0: !torch.vtensor<[1,3],f32>, %1: !torch.list<int>) -> !torch.vtensor<[3],f32> {
          %2 = torch.aten.squeeze.dims %0, %1 : !torch.vtensor<[1,3],f32>, !torch.list<int> -> !torch.vtensor<[3],f32>
          return %2 : !torch.vtensor<[3],f32>
        }
        """
    )
    text = torch_mlir_opt(module_text(module, generic=generic))
    assert 'torch.operator "torch.aten.squeeze.dims"' in text
    names = {op.name for op in parse_module(text).walk()}
    assert "torch.aten.squeeze.dims" in names
