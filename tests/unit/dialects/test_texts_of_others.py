"""What torch-dialect texts of other tools hold beside ops: read, and the same to torch-mlir-opt when written again."""

from pathlib import Path

import pytest

from tests.oracle import torch_mlir_opt
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.tools.opt import main as opt

TEXT = """
module attributes {torch.debug_module_name = "M"} {
  ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @forward(%arg0: !torch.tensor {torch.type_bound = !torch.vtensor<[2,?],f32>}, %arg1: !torch.vtensor<[2],!torch.qint8>) -> !torch.vtensor<[],f32> attributes {torch.assume_strict_symbolic_shapes, torch.onnx_meta.opset_version = 17 : si64} {
    %0 = torch.vtensor.literal(dense_resource<__elided__> : tensor<3x3xf32>) : !torch.vtensor<[3,3],f32>
    %1 = torch.vtensor.literal(dense<[1, -2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
    %2 = torch.operator "torch.onnx.Foo"(%1) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[2],si64>) -> !torch.vtensor<[],f32>
    %3 = torch.aten.int_repr %arg1 : !torch.vtensor<[2],!torch.qint8> -> !torch.vtensor<[2],si8>
    %4 = torch_c.to_builtin_tensor %2 : !torch.vtensor<[],f32> -> tensor<f32>
    %5 = torch_c.from_builtin_tensor %4 : tensor<f32> -> !torch.vtensor<[],f32>
    return %5 : !torch.vtensor<[],f32>
  }
}
"""


CASTS = """
func.func @casts(%a: !torch.bool, %b: !torch.int, %c: !torch.float, %g: !torch.Generator) -> (!torch.bool, !torch.int, !torch.float, !torch.Generator) {
  %0 = torch_c.to_i1 %a
  %1 = torch_c.from_i1 %0
  %2 = torch_c.to_i64 %b
  %3 = torch_c.from_i64 %2
  %4 = torch_c.to_f64 %c
  %5 = torch_c.from_f64 %4
  %6 = torch_c.generator_to_i64 %g
  %7 = torch_c.i64_to_generator %6
  %8 = torch_c.get_next_seed : () -> i64
  %9 = ml_program.global_load @seed : tensor<i64>
  ml_program.global_store @seed = %9 : tensor<i64>
  return %1, %3, %5, %7 : !torch.bool, !torch.int, !torch.float, !torch.Generator
}
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
"""

TM_TENSOR = """
func.func @loops(%in: tensor<8xi32>, %sum: tensor<i32>, %at: tensor<3x1xi32>, %new: tensor<3xi32>) -> tensor<8xi32> {
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) {mine} ins(%in : tensor<8xi32>) outs(%in, %sum : tensor<8xi32>, tensor<i32>) {
  ^bb0(%x: i32, %y: i32):
    %s = arith.addi %x, %y : i32
    tm_tensor.yield %s : i32
  } -> tensor<8xi32>, tensor<i32>
  %1:2 = tm_tensor.sort dimension(0) outs(%0#0, %in : tensor<8xi32>, tensor<8xi32>) {
  ^bb0(%x: i32, %y: i32, %p: i32, %q: i32):
    %c = arith.cmpi sle, %x, %y : i32
    tm_tensor.yield %c : i1
  } -> tensor<8xi32>, tensor<8xi32>
  %2 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %at : tensor<3xi32>, tensor<3x1xi32>) outs(%1#0 : tensor<8xi32>) {
  ^bb0(%x: i32, %y: i32):
    tm_tensor.yield %x : i32
  } -> tensor<8xi32>
  return %2 : tensor<8xi32>
}
func.func @attention(%q: tensor<1x4x8xf32>, %v: tensor<4x5xf32>, %best: tensor<4x2xf32>, %where: tensor<4x2xi32>) {
  %0 = tm_tensor.attention ins(%q, %q, %q : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%q : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %1:2 = tm_tensor.topk dimension(1) ins(%v : tensor<4x5xf32>) outs(%best, %where : tensor<4x2xf32>, tensor<4x2xi32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf ogt, %x, %y : f32
    tm_tensor.yield %c : i1
  } -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}
"""

ENCODINGS = """
#rows = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#pairs = #sparse_tensor.encoding<{
  map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(soa)), posWidth = 64, crdWidth = 64
}>
func.func @sparse(%x: !torch.vtensor<[4,4],f32,#rows>, %y: tensor<4x4xf32, #pairs>) -> tensor<4x4xf32, #rows> {
  %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[4,4],f32,#rows> -> tensor<4x4xf32, #rows>
  return %0 : tensor<4x4xf32, #rows>
}
func.func private @quantized(tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
"""

REGIONS = """
func.func private @score(!torch.vtensor<[],f32>) -> !torch.vtensor<[],f32>
func.func @regions(%x: !torch.vtensor<[1,2,4,8],f32>, %c: !torch.vtensor<[],i1>) -> !torch.vtensor<[1,2,4,8],f32> {
  %0 = torch.operator "onnx.If"(%c) {torch.onnx.axes = [0 : si64, 1 : si64]} : (!torch.vtensor<[],i1>) -> !torch.vtensor<[1,2,4,8],f32> {
    torch.operator_terminator %x : !torch.vtensor<[1,2,4,8],f32>
  }, {
    torch.operator_terminator %x : !torch.vtensor<[1,2,4,8],f32>
  }
  %scale = torch.constant.float 5.000000e-01
  %no = torch.constant.bool false
  %1:3 = torch.hop_flex_attention %0, %0, %0, %scale, %no, %no {score_mod_fn = @score} : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.float, !torch.bool, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>, !torch.none, !torch.none
  return %1#0 : !torch.vtensor<[1,2,4,8],f32>
}
"""

LOCATED = """
!x = !torch.vtensor<[2],f32>
#early = loc("a.py":1:2)
func.func @located(%x: !x loc("x")) -> !x {
  %0 = torch.aten.tanh %x : !x -> !x loc(#late)
  %1 = torch.aten.tanh %0 : !x -> !x loc(callsite(#early at "c.py":5:6))
  %2 = torch.aten.tanh %1 : !x -> !x loc(fused<"meta">[#early, unknown])
  %3 = torch.aten.tanh %2 : !x -> !x loc(fused[#early, "d"])
  return %3 : !x loc(#none)
} loc(#early)
#none = loc(unknown)
#later = loc("b.py":3:4)
#late = loc("late"(#later))
"""


@pytest.mark.parametrize("text", [TEXT, CASTS, TM_TENSOR, ENCODINGS, REGIONS, LOCATED])
def test_they_mean_the_same_when_written_again(text: str) -> None:
    module = parse_module(text)
    module.verify()
    assert torch_mlir_opt(module_text(module)) == torch_mlir_opt(text)
    assert torch_mlir_opt(module_text(module, generic=True)) == torch_mlir_opt(text)


def test_locations_survive_though_their_names_stand_at_the_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    theirs = torch_mlir_opt(LOCATED, "-mlir-print-debuginfo")
    path = tmp_path / "located.mlir"
    path.write_text(theirs)
    assert opt(["-mlir-print-debuginfo", str(path)]) == 0
    assert torch_mlir_opt(capsys.readouterr().out, "-mlir-print-debuginfo") == theirs


def test_of_a_range_in_a_file_the_beginning_is_kept() -> None:
    text = 'func.func private @f() loc("a.py":1:2 to :4)\nfunc.func private @g() loc("a.py":3:4 to 5:6)'
    places = [describe(op.location) for op in parse_module(text).ops]
    assert places == ["a.py:1", "a.py:3"]
