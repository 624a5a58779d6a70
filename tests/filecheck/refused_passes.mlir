// RUN: torch2mlir-opt %s -split-input-file -verify-diagnostics -convert-torch-onnx-to-torch -tm-tensor-to-loops -tm-tensor-bufferize | filecheck %s

// What there is no work for is left as it is.

// CHECK-LABEL: func.func @neither(
// CHECK: torch.aten.tanh
func.func @neither(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.tanh %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @onnx(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  // expected-error @+1 {{convert-torch-onnx-to-torch would have to change 'onnx.Relu': ONNX programs are not read here}}
  %0 = torch.operator "onnx.Relu"(%x) : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @sorted(%x: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @+1 {{tm-tensor-to-loops would have to change 'tm_tensor.sort'}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi sle, %a, %b : i32
    tm_tensor.yield %c : i1
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
