// RUN: torch2mlir-opt -p onnx-products-of-two-lines %s | filecheck %s

// CHECK-LABEL: func.func @batch_of_lines(
// CHECK-NOT:     onnx.MatMul
// CHECK:         [[ROW:%.*]] = "onnx.Transpose"(%y) <{perm = {{.*}}}> : (tensor<2x4x1xf32>) -> tensor<2x1x4xf32>
// CHECK:         [[PRODUCTS:%.*]] = "onnx.Mul"(%x, [[ROW]])
// CHECK:         "onnx.ReduceSum"([[PRODUCTS]], {{.*}}keepdims = 1 : {{.*}} -> tensor<2x1x1xf32>
func.func @batch_of_lines(%x: tensor<2x1x4xf32>, %y: tensor<2x4x1xf32>) -> tensor<2x1x1xf32> {
  %0 = "onnx.MatMul"(%x, %y) : (tensor<2x1x4xf32>, tensor<2x4x1xf32>) -> tensor<2x1x1xf32>
  return %0 : tensor<2x1x1xf32>
}

// CHECK-LABEL: func.func @one_line(
// CHECK:         onnx.MatMul
func.func @one_line(%x: tensor<1x4xf32>, %y: tensor<4x3xf32>) -> tensor<1x3xf32> {
  %0 = "onnx.MatMul"(%x, %y) : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
