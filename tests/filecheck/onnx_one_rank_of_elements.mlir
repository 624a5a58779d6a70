// RUN: torch2mlir-opt -p onnx-one-rank-of-elements %s | filecheck %s

// CHECK-LABEL: func.func @of_rank_0(
// CHECK:         [[X:%.*]] = "onnx.Reshape"(%x
// CHECK:         "onnx.Add"([[X]], %zeros)
func.func @of_rank_0(%x: tensor<f32>) -> tensor<1x1xf32> {
  %zeros = "onnx.Constant"() <{value = dense<0.000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = "onnx.Add"(%x, %zeros) : (tensor<f32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// A constant of fewer dimensions takes none from the result.
// CHECK-LABEL: func.func @constant(
// CHECK-NOT:     onnx.Reshape
// CHECK:         return
func.func @constant(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %zero = "onnx.Constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %0 = "onnx.Add"(%x, %zero) : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// More than one element keeps what OpenVINO looks at.
// CHECK-LABEL: func.func @line(
// CHECK-NOT:     onnx.Reshape
// CHECK:         return
func.func @line(%x: tensor<4xf32>, %y: tensor<1x1xf32>) -> tensor<1x4xf32> {
  %0 = "onnx.Add"(%x, %y) : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
