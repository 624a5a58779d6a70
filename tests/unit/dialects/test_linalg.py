"""The linalg dialect against torch-mlir-opt and IREE: every operation, both forms, both ways."""

import re
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, ModuleOp, TensorType, f32, i64
from xdsl.ir import Block
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.oracle import iree_opt, torch_mlir_opt
from tests.unit.dialects.roundtrip import parse as parse_in
from tests.unit.dialects.roundtrip import text_of
from torch2mlir.dialects import linalg
from torch2mlir.dialects.arith_ext import ARITH
from torch2mlir.dialects.complex_ext import COMPLEX
from torch2mlir.dialects.linalg import LINALG, materialize_bodies
from torch2mlir.dialects.linalg.table import POINTWISE
from torch2mlir.dialects.math_ext import MATH

INSTANCES = (Path(__file__).parent / "linalg_ops.mlir").read_text()
MEMOIZED_MAPS = "linalg.memoized_indexing_maps"


def parse(text: str) -> ModuleOp:
    return parse_in(text, ARITH, COMPLEX, MATH, LINALG)


def linalg_ops(module: ModuleOp):
    return [op for op in module.walk() if op.name.startswith("linalg.")]


def test_every_operation_has_an_instance():
    assert {op.name for op in linalg_ops(parse(INSTANCES))} == {op.name for op in LINALG.operations}


def test_torch_mlir_opt_reads_the_custom_form():
    assert torch_mlir_opt(text_of(parse(INSTANCES))) == torch_mlir_opt(INSTANCES)


def test_torch_mlir_opt_reads_the_generic_form_with_bodies():
    module = parse(INSTANCES)
    materialize_bodies(module)
    module.verify()
    assert torch_mlir_opt(text_of(module, generic=True)) == torch_mlir_opt(INSTANCES)


@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)], ids=["custom", "generic"])
def test_we_read_what_torch_mlir_opt_prints(flags):
    reread = parse(torch_mlir_opt(INSTANCES, *flags))
    assert torch_mlir_opt(text_of(reread)) == torch_mlir_opt(INSTANCES)


def test_bodies_and_maps_are_those_of_mlir():
    """MLIR's generic form shows the bodies it builds and the maps it computes."""
    ours, theirs = parse(INSTANCES), parse(torch_mlir_opt(INSTANCES, "--mlir-print-op-generic"))
    materialize_bodies(ours)
    compared = 0
    for our, their in zip(linalg_ops(ours), linalg_ops(theirs), strict=True):
        assert our.name == their.name
        if MEMOIZED_MAPS in their.attributes:
            assert our.get_indexing_maps() == their.attributes.pop(MEMOIZED_MAPS), our.name
        for our_region, their_region in zip(our.regions, their.regions, strict=True):
            assert our_region.is_structurally_equivalent(their_region), our.name
            compared += 1
    assert compared > len(list(LINALG.operations))


def test_iree_computes_the_same_loops():
    """IREE's generalization writes named operations as linalg.generic."""
    unread = [f"linalg.{name} " for name in POINTWISE if name != "fill"]
    named = "\n".join(
        text
        for text in re.split(r"\n(?=func\.func)", INSTANCES)
        if "linalg.generic" not in text and not any(name in text for name in unread)
    )
    generalized = parse(iree_opt(named, "--linalg-generalize-named-ops"))
    generics = [op for op in generalized.walk() if isinstance(op, linalg.GenericOp)]
    ours = linalg_ops(parse(named))
    assert len(ours) == len(generics) > 50
    for op, generic in zip(ours, generics, strict=True):
        assert op.get_indexing_maps() == generic.indexing_maps, op.name
        assert op.get_iterator_types() == generic.iterator_types, op.name


def test_printing_and_parsing_are_inverse():
    printed = text_of(parse(INSTANCES))
    assert text_of(parse(printed)) == printed


def test_bodies_with_locations_are_the_same_operations():
    """The fast way of printing bodies is not taken when locations are printed."""
    module = parse(INSTANCES)
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    assert torch_mlir_opt(stream.getvalue()) == torch_mlir_opt(INSTANCES)


def test_operations_are_built_from_inputs_and_outputs():
    square = TensorType(f32, [4, 4])
    source = Block(arg_types=[square, square, square])
    a, b, c = source.args
    product = linalg.MatmulOp([a, b], [c])
    product.verify()
    assert product.res[0].type == square

    element = [f32, f32]
    block = Block(arg_types=element)
    doubled = arith.AddfOp(block.args[0], block.args[0])
    block.add_ops([doubled, linalg.YieldOp(doubled.result)])
    maps = ArrayAttr([linalg.dims_map(2, (1, 0)), linalg.dims_map(2, (0, 1))])
    generic = linalg.GenericOp.of([a], [c], block, maps, linalg.iterator_types(parallel=2))
    generic.verify()

    permutation = DenseArrayBase.from_list(i64, [1, 0])
    transposed = linalg.TransposeOp.create(
        operands=[a, c], result_types=[square], properties={"permutation": permutation}
    )
    transposed.verify()
    assert transposed.get_indexing_maps() == maps


MATRICES = "%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>, %v: tensor<2xf32>"
GENERIC = """%0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
affine_map<(d0, d1) -> {map}>], iterator_types = ["parallel", "{kind}"]}}
ins(%a : tensor<2x3xf32>) outs(%v : tensor<2xf32>) {{
^bb0(%x: {element}, %y: f32):
  linalg.yield %y : f32
}} -> tensor<2xf32>"""


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            "%0 = linalg.matmul ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) "
            "outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>",
            "linalg.matmul: loop d2 has size 3 in operand 0 and 2 in operand 1",
        ),
        (
            "%0 = linalg.matmul ins(%a, %v : tensor<2x3xf32>, tensor<2xf32>) "
            "outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>",
            "operand 1 is tensor<2xf32>",
        ),
        (
            "%0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) "
            "outs(%c : tensor<2x4xf32>) -> tensor<2x5xf32>",
            "result types (tensor<2x5xf32>) must be those of the outputs (tensor<2x4xf32>)",
        ),
        (
            "%0 = linalg.matmul ins(%a : tensor<2x3xf32>) "
            "outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>",
            "has 2 operands and 3 indexing maps",
        ),
        (
            "%0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) "
            "permutation = [0, 0]",
            "[0, 0] is not a permutation of the dimensions of tensor<2x3xf32>",
        ),
        (
            GENERIC.format(map="(d1)", kind="reduction", element="f32"),
            "loop d1 has size 3 in operand 0 and 2 in operand 1",
        ),
        (
            GENERIC.format(map="(d0)", kind="reduction", element="f64"),
            "the body takes (f64, f32), the operands have elements (f32, f32)",
        ),
    ],
)
def test_wrong_operations_are_named(operation, message):
    with pytest.raises(VerifyException) as raised:
        parse(f"func.func @f({MATRICES}) {{\n{operation}\nreturn\n}}")
    assert message in str(raised.value)


def test_an_unknown_iterator_type_is_a_parse_error():
    text = GENERIC.format(map="(d0)", kind="sideways", element="f32")
    with pytest.raises(ParseError, match='unknown iterator type "sideways"'):
        parse(f"func.func @f({MATRICES}) {{\n{text}\nreturn\n}}")
