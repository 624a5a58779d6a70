// RUN: torch2mlir-opt -p onnx-running-sums-in-doubles %s | filecheck %s

// CHECK-LABEL: func.func @of_many(
// CHECK:         [[TERMS:%.*]] = "onnx.Cast"(%x) {{.*}} -> tensor<?xf64>
// CHECK:         [[SUMS:%.*]] = "onnx.CumSum"([[TERMS]], {{.*}} -> tensor<?xf64>
// CHECK:         "onnx.Cast"([[SUMS]]) {{.*}} -> tensor<?xf32>
func.func @of_many(%x: tensor<?xf32>) -> tensor<?xf32> {
  %axis = "onnx.Constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %0 = "onnx.CumSum"(%x, %axis) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @of_few(
// CHECK-NOT:     onnx.Cast
func.func @of_few(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %axis = "onnx.Constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %0 = "onnx.CumSum"(%x, %axis) : (tensor<8x8xf32>, tensor<i64>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
