// RUN: torch2mlir-opt -p onnx-sums-in-doubles %s | filecheck %s

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

// CHECK-LABEL: func.func @everything(
// CHECK:         [[TERMS:%.*]] = "onnx.Cast"(%x) {{.*}} -> tensor<?x768xf64>
// CHECK:         [[MEAN:%.*]] = "onnx.ReduceMean"([[TERMS]], {{.*}} -> tensor<f64>
// CHECK:         "onnx.Cast"([[MEAN]]) {{.*}} -> tensor<f32>
func.func @everything(%x: tensor<?x768xf32>) -> tensor<f32> {
  %axes = "onnx.Constant"() <{value = dense<[0, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %0 = "onnx.ReduceMean"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<?x768xf32>, tensor<2xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Wide rows.
// CHECK-LABEL: func.func @of_rows(
// CHECK-NOT:     onnx.Cast
func.func @of_rows(%x: tensor<?x768xf32>) -> tensor<768xf32> {
  %axes = "onnx.Constant"() <{value = dense<0> : tensor<1xi64>}> : () -> tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<?x768xf32>, tensor<1xi64>) -> tensor<768xf32>
  return %0 : tensor<768xf32>
}
