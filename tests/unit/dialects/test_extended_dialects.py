"""arith, math, complex and tensor as we extend them, against torch-mlir-opt."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.oracle import iree_opt, torch_mlir_opt
from tests.unit.dialects.roundtrip import function, parse, text_of
from torch2mlir.dialects import weights
from torch2mlir.dialects.arith_ext import ARITH, ConstantOp
from torch2mlir.dialects.complex_ext import COMPLEX
from torch2mlir.dialects.linalg import LINALG
from torch2mlir.dialects.math_ext import MATH
from torch2mlir.dialects.tensor_ext import TENSOR

HERE = Path(__file__).parent
ALL = (ARITH, COMPLEX, LINALG, MATH, TENSOR)
FILES = ["arith", "complex", "math", "tensor"]


@pytest.fixture(params=FILES)
def text(request):
    return (HERE / f"{request.param}_ops.mlir").read_text()


@pytest.mark.parametrize("generic", [True, False], ids=["generic", "custom"])
def test_torch_mlir_opt_reads_what_we_print(text, generic):
    assert torch_mlir_opt(text_of(parse(text, *ALL), generic=generic)) == torch_mlir_opt(text)


@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)], ids=["custom", "generic"])
def test_we_read_what_torch_mlir_opt_prints(text, flags):
    reread = parse(torch_mlir_opt(text, *flags), *ALL)
    assert torch_mlir_opt(text_of(reread)) == torch_mlir_opt(text)


@pytest.mark.share(4)
def test_iree_reads_what_we_print(text):
    assert iree_opt(text_of(parse(text, *ALL))) == iree_opt(text)


def test_flags_of_float_tests_are_read_in_both_spellings():
    arguments = "%x: f32"
    ours = text_of(parse(function("%0 = math.isnan %x fastmath<fast> : f32", arguments), MATH))
    assert "math.isnan %x {fastmath = #arith.fastmath<fast>} : f32" in ours
    assert text_of(parse(ours, MATH, ARITH)) == ours


def test_a_constant_holds_a_weight():
    type_ = TensorType(f32, [2])
    source = weights.BufferSource("w", memoryview(bytes(8)))
    constant = ConstantOp.of(weights.WeightAttr(weights.SourceAttr(source), type_))
    constant.verify()
    assert str(constant) == "%0 = arith.constant dense_resource<w> : tensor<2xf32>"


def test_a_constant_without_a_type_is_a_parse_error():
    with pytest.raises(ParseError, match="expected a literal with a type"):
        parse(function('%0 = arith.constant "text"'), ARITH)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            '%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64',
            "the literal has type i32, the result i64",
        ),
        (
            '%0 = "math.isnan"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32',
            "the result must be i1, got f32",
        ),
        (
            "%0 = tensor.generate {\n^bb0(%i: index):\ntensor.yield %x : f32\n} : tensor<?xf32>",
            "0 sizes for the dynamic dimensions of tensor<?xf32>",
        ),
        (
            "%0 = tensor.expand_shape %s [] output_shape [2] : tensor<f32> into tensor<2xf32>",
            "tensor<f32> does not expand to tensor<2xf32>",
        ),
    ],
)
def test_wrong_operations_are_named(operation, message):
    with pytest.raises(VerifyException) as raised:
        parse(function(operation, "%x: f32, %s: tensor<f32>"), *ALL)
    assert message in str(raised.value)
