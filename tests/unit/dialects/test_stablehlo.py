"""StableHLO and CHLO against torch-mlir-opt and XLA: every op, both forms, both ways."""

import re
from io import StringIO

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.oracle import iree_opt, read_by_xla, torch_mlir_opt
from tests.unit.dialects import chlo_instances, hlo_instances
from tests.unit.dialects.hlo_instances import QUANTIZED, context, module_of
from torch2mlir.dialects.chlo import CHLO
from torch2mlir.dialects.stablehlo import StableHLO

INSTANCES = hlo_instances.INSTANCES + chlo_instances.INSTANCES
FORMS = pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])


def text_of(module: ModuleOp, *, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def parse_op(line: str, arguments: str = "") -> ModuleOp:
    module = parse(f"func.func @f({arguments}) {{\n{line}\nreturn\n}}")
    module.verify()
    return module


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    return module_of(INSTANCES)


@pytest.mark.parametrize("dialect", [StableHLO, CHLO], ids=["stablehlo", "chlo"])
def test_every_op_has_an_instance(dialect):
    assert set(dialect.operations) <= {type(op) for op in module_of(INSTANCES).walk()}


def test_every_instance_verifies(module):
    module.verify()


@FORMS
def test_we_read_what_we_print(module, generic):
    reread = parse(text_of(module, generic=generic))
    reread.verify()
    assert text_of(reread) == text_of(module)


@FORMS
def test_torch_mlir_opt_reads_what_we_print(module, generic):
    torch_mlir_opt(text_of(module, generic=generic))


def test_both_forms_mean_the_same_to_torch_mlir_opt(module):
    custom, generic = (torch_mlir_opt(text_of(module, generic=form)) for form in (False, True))
    assert custom == generic


@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)], ids=["custom", "generic"])
def test_we_read_what_torch_mlir_opt_prints(module, flags):
    reread = parse(torch_mlir_opt(text_of(module), *flags))
    reread.verify()
    assert torch_mlir_opt(text_of(reread)) == torch_mlir_opt(text_of(module))


def test_the_custom_form_is_that_of_torch_mlir_opt(module):
    """Up to names of values and the place of line breaks."""

    def operations(text: str) -> list[list[str]]:
        lines = re.findall(r" ((?:stablehlo|chlo)\..*)", text)
        return [[word for word in re.split(r"[ :]+", line) if "%" not in word] for line in lines]

    assert operations(text_of(module)) == operations(torch_mlir_opt(text_of(module)))


def test_locations_go_there_and_back(module):
    flags = ("--mlir-print-debuginfo", "--mlir-print-local-scope")
    located = torch_mlir_opt(text_of(module), *flags)
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(parse(located))
    assert torch_mlir_opt(stream.getvalue(), *flags) == located


@FORMS
def test_iree_reads_what_we_print(module, generic):
    iree_opt(text_of(module, generic=generic))


@FORMS
def test_xla_reads_what_we_print(generic):
    """jaxlib knows no quantized types, and is older than torch-mlir-opt."""
    module = module_of([each for each in INSTANCES if each.op_type not in QUANTIZED])
    read_by_xla(text_of(module, generic=generic))


# --- verification --------------------------------------------------------------------------------

REFUSED = {
    "shapes differ": (
        "%0 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>",
        "rhs must be of the shape of tensor<2xf32>",
    ),
    "element types differ": (
        "%0 = stablehlo.add %a, %i : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>",
        "lhs has f32, rhs has i64",
    ),
    "wrong kind of numbers": ("%0 = stablehlo.exponential %i : tensor<2xi64>", "is signed"),
    "comparison of a float result": (
        "%0 = stablehlo.compare EQ, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
        "result must have element type i1",
    ),
    "reshape of another size": (
        "%0 = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<7xf32>",
        "6 elements cannot be reshaped to 7",
    ),
    "not a permutation": (
        "%0 = stablehlo.transpose %m, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
        "must be different",
    ),
    "slice out of bounds": (
        "%0 = stablehlo.slice %a [0:3] : (tensor<2xf32>) -> tensor<3xf32>",
        "slice 0:3:1 does not fit",
    ),
    "broadcast of a size that is not one": (
        "%0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2xf32>) -> tensor<3xf32>",
        "size 2 cannot be broadcast to result dimension 0 of size 3",
    ),
    "padded shape": (
        "%0 = stablehlo.pad %a, %s, low = [1], high = [0], interior = [0]"
        " : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
        "result has shape 2, expected 3",
    ),
    "concatenated shape": (
        "%0 = stablehlo.concatenate %a, %b, dim = 0"
        " : (tensor<2xf32>, tensor<3xf32>) -> tensor<4xf32>",
        "result has shape 4, expected 5",
    ),
    "contracted sizes": (
        "%0 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0]"
        " : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        "contracting dimensions of lhs and rhs differ: 3 and 2",
    ),
    "convolved shape": (
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],"
        " window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x7xf32>",
        "result has shape 1x4x7, expected 1x4x8",
    ),
    "features of the kernel": (
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],"
        " window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}"
        " : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x6xf32>",
        "2 input features do not match a kernel of 2 in 2 groups",
    ),
    "reduced shape": (
        "%0 = stablehlo.reduce(%m init: %s) applies stablehlo.add across dimensions = [0]"
        " : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
        "result has shape 2, expected 3",
    ),
    "loop types": (
        "%0 = stablehlo.while(%v = %a) : tensor<2xf32> cond { stablehlo.return %p : tensor<i1> }"
        " do { stablehlo.return %s : tensor<f32> }",
        "body returns",
    ),
    "type of a literal": (
        '%0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf32>}> : () -> tensor<2xf32>',
        "does not fit a result",
    ),
    "k of a top_k": (
        "%0:2 = chlo.top_k(%m, k = 2) : tensor<2x3xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)",
        "values has shape 2x3, expected 2x2",
    ),
}
ARGUMENTS = (
    "%a: tensor<2xf32>, %b: tensor<3xf32>, %i: tensor<2xi64>, %s: tensor<f32>, %p: tensor<i1>, "
    "%m: tensor<2x3xf32>, %x: tensor<1x2x8xf32>, %k: tensor<4x2x3xf32>"
)


@pytest.mark.parametrize(("line", "message"), REFUSED.values(), ids=REFUSED)
def test_verifier_refuses(line, message):
    with pytest.raises(VerifyException, match=message):
        parse_op(line, ARGUMENTS)


def test_dynamic_dimensions_fit_any_size():
    parse_op("%0 = stablehlo.add %a, %b : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>",
             "%a: tensor<?xf32>, %b: tensor<2xf32>")  # fmt: skip


# --- malformed text ------------------------------------------------------------------------------

MALFORMED = {
    "unknown clause": (
        "%0 = stablehlo.transpose %m, perm = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "stablehlo.transpose takes dims, not 'perm'",
    ),
    "unknown label": (
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, c, 0]x[o, i, 0]->[b, f, 0], window = {}",
        "expected the labels b, f",
    ),
    "missing function type": (
        "%0 = stablehlo.reshape_ %m : tensor<2x3xf32>",
        "stablehlo.reshape_",
    ),
    "abbreviated where types are needed": (
        "%0 = stablehlo.transpose %m, dims = [0, 1] : tensor<2x3xf32>",
        "function type expected",
    ),
    "operand count": (
        "%0 = stablehlo.add %a, %b : (tensor<2xf32>) -> tensor<2xf32>",
        "expected 1 operand types but had 2",
    ),
    "precision format": (
        "%0 = stablehlo.reduce_precision %a, format = e5x10 : tensor<2xf32>",
        "expected format = e<bits>m<bits>",
    ),
}


@pytest.mark.parametrize(("line", "message"), MALFORMED.values(), ids=MALFORMED)
def test_parser_refuses(line, message):
    with pytest.raises(ParseError, match=message):
        parse_op(line, ARGUMENTS)
