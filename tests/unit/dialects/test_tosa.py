"""The TOSA dialect against torch-mlir-opt and IREE: every operation, both forms, both ways."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.oracle import iree_opt, torch_mlir_opt
from tests.unit.dialects.roundtrip import function, text_of
from tests.unit.dialects.roundtrip import parse as parse_in
from torch2mlir.dialects.tosa import TOSA, ShapeType, const_shape

INSTANCES = (Path(__file__).parent / "tosa_ops.mlir").read_text()
ONLY_IN_IREE = {"tosa.argmin"}


def parse(text: str) -> ModuleOp:
    return parse_in(text, TOSA)


def test_every_operation_has_an_instance():
    names = {op.name for op in parse(INSTANCES).walk() if op.name.startswith("tosa.")}
    assert {op.name for op in TOSA.operations} - names == ONLY_IN_IREE


@pytest.mark.parametrize("generic", [True, False], ids=["generic", "custom"])
def test_torch_mlir_opt_reads_what_we_print(generic):
    printed = text_of(parse(INSTANCES), generic=generic)
    assert torch_mlir_opt(printed) == torch_mlir_opt(INSTANCES)


def test_iree_reads_the_generic_form():
    printed = text_of(parse(INSTANCES), generic=True)
    assert iree_opt(printed) == iree_opt(INSTANCES)


@pytest.mark.share(4)
@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)], ids=["custom", "generic"])
@pytest.mark.parametrize("tool", [torch_mlir_opt, iree_opt])
def test_we_read_what_the_tools_print(tool, flags):
    reread = parse(tool(INSTANCES, *flags))
    assert torch_mlir_opt(text_of(reread)) == torch_mlir_opt(INSTANCES)


def test_operations_only_iree_has_agree_with_it():
    text = function(
        '%0 = "tosa.argmin"(%a) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2xi32>\n'
        '%1 = "tosa.cast"(%a) <{input_unsigned = false}> : (tensor<2x3xf32>) -> tensor<2x3xi32>',
        "%a: tensor<2x3xf32>",
    )
    assert iree_opt(text_of(parse(iree_opt(text)), generic=True)) == iree_opt(text)


def test_attributes_that_are_not_the_operations_own_are_kept():
    text = function(
        "%0 = tosa.reduce_max %a {axis = 0 : i32, mine = 1 : i64, nan_mode = IGNORE, flag = unit}"
        " : (tensor<2xf32>) -> tensor<1xf32>",
        "%a: tensor<2xf32>",
    )
    assert torch_mlir_opt(text_of(parse(text))) == torch_mlir_opt(text)


def test_a_scalar_has_an_empty_shape():
    constant = const_shape([])
    constant.verify()
    assert constant.output.type == ShapeType(0)
    assert "dense<> : tensor<0xindex>" in torch_mlir_opt(function(str(constant)))


TWO = "%a: tensor<2x3xf32>, %b: tensor<3xf32>, %i: tensor<2x3xi32>, %z: tensor<1xf32>"
IMAGE = "%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %b: tensor<16xf32>, %z: tensor<1xf32>"
CONV = (
    '%0 = "tosa.conv2d"(%x, %w, %b, %z, %z) <{pad = array<i64: PAD>, stride = array<i64: 1, 1>, '
    "dilation = array<i64: 1, 1>, acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>, "
    "tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> RESULT"
)


@pytest.mark.parametrize(
    ("arguments", "operation", "message"),
    [
        (
            TWO,
            "%0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
            "tosa.add: operands and result must have equal rank",
        ),
        (
            TWO,
            "%0 = tosa.add %a, %i : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>",
            "tosa.add: element types must be equal: input1 has f32, input2 has i32",
        ),
        (
            TWO,
            "%0 = tosa.sub %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>",
            "dimension 1 of tensor<2x3xf32>, tensor<2x3xf32> does not broadcast to tensor<2x4xf32>",
        ),
        (
            TWO,
            "%0 = tosa.equal %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi32>",
            "tosa.equal: output must have element type i1",
        ),
        (
            TWO,
            "%0 = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
            "axis 2 is out of range for tensor<2x3xf32>",
        ),
        (
            TWO,
            "%0 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xf32>",
            "reducing axis 1 of tensor<2x3xf32> cannot give tensor<2xf32>",
        ),
        (
            TWO,
            "%s = tosa.const_shape {values = dense<6> : tensor<1xindex>} : () -> !tosa.shape<1>\n"
            "%0 = tosa.reshape %a, %s : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<3x2xf32>",
            "shape must be !tosa.shape<2> (the rank of the result), got !tosa.shape<1>",
        ),
        (
            TWO,
            "%s = tosa.const_shape {values = dense<6> : tensor<1xindex>} : () -> !tosa.shape<2>",
            "values must be a tensor<2xindex> for !tosa.shape<2>",
        ),
        (
            TWO,
            "%0 = tosa.transpose %a {perms = array<i32: 0, 0>} : "
            "(tensor<2x3xf32>) -> tensor<2x3xf32>",
            "perms [0, 0] is not a permutation",
        ),
        (
            TWO,
            "%0 = tosa.concat %a, %a {axis = 0 : i32} : "
            "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>",
            "axis 0 adds up to 4",
        ),
        (
            TWO,
            "%0 = tosa.negate %a, %a, %z : "
            "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>",
            "input1_zp must be [1]",
        ),
        (
            TWO,
            "%0 = tosa.clamp %a {min_val = 2.0 : f32, max_val = 1.0 : f32} : "
            "(tensor<2x3xf32>) -> tensor<2x3xf32>",
            "min_val 2.0 is above max_val 1.0",
        ),
        (
            IMAGE,
            CONV.replace("PAD", "1, 1, 1, 1").replace("RESULT", "tensor<1x8x8x15xf32>"),
            "output must be [n i j o] with o = 16, got tensor<1x8x8x15xf32>",
        ),
        (
            IMAGE,
            CONV.replace("PAD", "1, 1").replace("RESULT", "tensor<1x8x8x16xf32>"),
            "pad must list 4 integers",
        ),
        (
            IMAGE,
            CONV.replace("PAD", "1, 1, 1, 1")
            .replace("RESULT", "tensor<1x8x8x16xf32>")
            .replace("stride = array<i64: 1, 1>", "stride = array<i64: 0, 1>"),
            "stride must be positive",
        ),
        (
            IMAGE,
            CONV.replace("PAD", "0, 0, 0, 0").replace("RESULT", "tensor<1x8x8x16xf32>"),
            "dimension 1 of the result must be 6",
        ),
        (
            "",
            '%0 = "tosa.const"() <{values = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>',
            "values have type tensor<2xi32>, result is tensor<3xi32>",
        ),
    ],
)
def test_wrong_operations_are_named(arguments, operation, message):
    with pytest.raises(VerifyException) as raised:
        parse(function(operation, arguments))
    assert message in str(raised.value)


def test_an_unknown_enumeration_value_is_a_parse_error():
    with pytest.raises(ParseError, match="PROPAGATE"):
        parse(function("%0 = tosa.reduce_max %a {nan_mode = SOMETIMES}", "%a: tensor<2xf32>"))
