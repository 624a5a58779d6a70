"""What torch-dialect texts of other tools hold beside ops: read, and the same to torch-mlir-opt when written again."""

from tests.oracle import torch_mlir_opt
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text

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


def test_they_mean_the_same_when_written_again() -> None:
    module = parse_module(TEXT)
    module.verify()
    assert torch_mlir_opt(module_text(module)) == torch_mlir_opt(TEXT)
    assert torch_mlir_opt(module_text(module, generic=True)) == torch_mlir_opt(TEXT)
