// RUN: torch2mlir-opt -p onnx-extrema-of-infinities %s | filecheck %s

// The infinity, unless there is anything above it.
// CHECK-LABEL: func.func @largest(
// CHECK:         [[FOUND:%.*]] = "onnx.ReduceMax"(%x, %axes)
// CHECK:         [[ABOVE:%.*]] = "onnx.Greater"(%x
// CHECK:         [[NUMBERS:%.*]] = "onnx.Cast"([[ABOVE]])
// CHECK:         [[ANY:%.*]] = "onnx.ReduceMax"([[NUMBERS]], %axes)
// CHECK:         [[IS:%.*]] = "onnx.Greater"([[ANY]]
// CHECK:         "onnx.Where"([[IS]], [[FOUND]]
func.func @largest(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %axes = "onnx.Constant"() <{value = dense<1> : tensor<1xi64>}> : () -> tensor<1xi64>
  %0 = "onnx.ReduceMax"(%x, %axes) <{keepdims = 1 : i64}> : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// CHECK-LABEL: func.func @bounded(
// CHECK-NOT:     onnx.Where
// CHECK:         return
func.func @bounded(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %axes = "onnx.Constant"() <{value = dense<1> : tensor<1xi64>}> : () -> tensor<1xi64>
  %0 = "onnx.Relu"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "onnx.ReduceMax"(%0, %axes) <{keepdims = 1 : i64}> : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  return %1 : tensor<3x1xf32>
}
