"""Ops that are rows of data: made when they are first met, and only once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32, i64
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects import chlo, make_context, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.rows import Elementwise, Kind, OpTable, Row
from torch2mlir.engine_passes import op_kinds

TENSOR = TensorType(f32, [2])
MODULE = """
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.cbrt %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def table(signature: str) -> OpTable:
    made = OpTable("mine", {"tensor": Kind(TensorType), "any": Kind()})
    made.add({"SomeOp": Row("some", signature)})
    return made


def test_a_class_is_made_once():
    ops = table("a, rest* {size: any, flag?: any} (body) -> b, others*: any")
    assert ops.find_op("mine.some") is ops["SomeOp"]
    assert ops.find_op("mine.other") is None
    definition = ops["SomeOp"].get_irdl_definition()
    assert [name for name, _ in definition.operands] == ["a", "rest"]
    assert [name for name, _ in definition.results] == ["b", "others"]
    assert list(definition.properties) == ["size", "flag"]
    assert [name for name, _ in definition.regions] == ["body"]


def test_threads_get_one_class():
    ops = table("a -> b")
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: ops["SomeOp"], range(64)))) == 1


def test_a_name_that_is_none_is_said():
    with pytest.raises(AttributeError, match="the stablehlo dialect has no AdOp"):
        _ = hlo.AdOp


def test_a_signature_that_cannot_be_read_is_said():
    with pytest.raises(ValueError, match="cannot read 'a b'"):
        _ = table("a b -> c")["SomeOp"]


def test_the_signature_is_verified():
    value = test.TestOp(result_types=[i64]).results[0]
    with pytest.raises(VerifyException):
        hlo.AbsOp.create(operands=[value], result_types=[TENSOR]).verify()


SHAPED = {
    "a: T[n k], b: T[k m] -> c: T[n m]": (
        ([2, 3], [3, 4]),
        [2, 5],
        r"c must be \[n m\] with m = 4",
    ),
    "a: T[*s], b: [~s] -> c: T[*s]": (([2, 3], [3]), [2, 3], "b must be of 2 dimensions"),
    "a: [*s], b: [1] -> c: [*s]": (([2], [1]), [3], "c must be of the shape of tensor<2xf32>"),
    "a: [^b], b: [^b] -> c: [^b]": (
        ([2, 1], [1, 3]),
        [2, 4],
        "dimension 1 of .* does not broadcast",
    ),
    "a: [n _], b: [n _] -> c: i1[n 2]": (([2, 3], [2, 9]), [2, 2], "c must have element type i1"),
}


@pytest.mark.parametrize("signature", SHAPED)
def test_sizes_in_a_signature_are_verified(signature):
    inputs, result, message = SHAPED[signature]
    values = test.TestOp(result_types=[TensorType(f32, shape) for shape in inputs]).results
    op = table(signature)["SomeOp"]
    with pytest.raises(VerifyException, match=message):
        op.create(operands=values, result_types=[TensorType(f32, result)]).verify()


def test_an_unknown_size_fits_any():
    values = test.TestOp(
        result_types=[TensorType(f32, [DYNAMIC_INDEX, 3]), TensorType(f32, [4, DYNAMIC_INDEX])]
    ).results
    op = table("a: T[n k], b: T[n k] -> c: T[n k]")["SomeOp"]
    op.create(operands=values, result_types=[TensorType(f32, [4, 3])]).verify()
    with pytest.raises(VerifyException, match="c must be"):
        op.create(operands=values, result_types=[TensorType(f32, [5, 3])]).verify()


def test_a_table_of_text_is_rows():
    made = OpTable("mine", {"tensor": Kind(TensorType)})
    made.rows(
        "one_thing: Does one.\nTwoThings=two a,\n  b -> c\n  | {operands} |\n  Does two.", "a -> b"
    )
    assert made["OneThingOp"].row.signature == "a -> b"
    assert (made["TwoThings"].row.signature, made["TwoThings"].__doc__) == (
        "a, b -> c",
        "Does two.",
    )


def test_a_clone_of_a_context_knows_the_rows():
    context = make_context()
    parse_module(MODULE, context=context)
    parse_module(MODULE, context=context.clone()).verify()


def test_a_program_loads_only_what_it_uses():
    """The dialects of other targets, and what they take of xDSL, are no part of the first capture."""
    program = """
import sys, torch, torch2mlir
torch2mlir.export_and_import(torch.nn.Linear(2, 3), torch.randn(1, 2), output_type="stablehlo")
others = ("linalg", "tosa", "arith_ext", "math_ext", "onnx.model")
print([name for name in others if f"torch2mlir.dialects.{name}" in sys.modules])
print([name for name in ("arith", "math", "linalg") if f"xdsl.dialects.{name}" in sys.modules])
from torch2mlir.dialects.stablehlo import StableHLO
print("FftOp" in StableHLO._classes, "CholeskyOp" in StableHLO._classes)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["[]", "[]", "False False"]


KINDS = {
    name: kind
    for name, kind in vars(op_kinds).items()
    # branches and loops are control flow
    if name.isupper() and not name.startswith("_") and name not in ("BRANCHES", "LOOPS")
}


@pytest.mark.parametrize("dialect", [hlo.StableHLO, chlo.CHLO, tosa.TOSA], ids=lambda d: d.name)
def test_every_op_is_of_one_kind_or_elementwise(dialect: OpTable):
    names = {op_type.name for op_type in dialect.operations}
    for op_type in dialect.operations:
        kinds = [name for name, kind in KINDS.items() if op_type.name in kind]
        if op_kinds.is_elementwise(op_type.name):
            kinds.append("elementwise")
            broadcasts = op_type.name.startswith("chlo.broadcast_")
            assert broadcasts or Elementwise() in op_type.traits.traits, op_type.name
        else:
            assert Elementwise() not in op_type.traits.traits, op_type.name
        shape = op_type.name.startswith("tosa.") and op_type.name.endswith("_shape")
        assert len(kinds) == 1 or (shape and not kinds), (op_type.name, kinds)
    of_dialect = {
        name for kind in KINDS.values() for name in kind if name.startswith(f"{dialect.name}.")
    }
    assert of_dialect <= names
