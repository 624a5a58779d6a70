// RUN: torch2mlir-opt -p onnx-extrema-of-integers %s | filecheck %s

// CHECK-LABEL: func.func @larger(
// CHECK:         [[LESS:%.*]] = "onnx.Less"(%x, %y)
// CHECK:         "onnx.Where"([[LESS]], %y, %x)
func.func @larger(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = "onnx.Max"(%x, %y) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @bounded(
// CHECK:         [[BELOW:%.*]] = "onnx.Less"(%x, %low)
// CHECK:         [[RAISED:%.*]] = "onnx.Where"([[BELOW]], %low, %x)
// CHECK:         [[LESS:%.*]] = "onnx.Less"([[RAISED]], %high)
// CHECK:         "onnx.Where"([[LESS]], [[RAISED]], %high)
func.func @bounded(%x: tensor<4xi64>, %low: tensor<i64>, %high: tensor<i64>) -> tensor<4xi64> {
  %0 = "onnx.Clip"(%x, %low, %high) : (tensor<4xi64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// Floats, narrow integers and single numbers are right.
// CHECK-LABEL: func.func @others(
// CHECK:         "onnx.Max"(%x, %x)
// CHECK:         "onnx.Max"(%i, %i)
// CHECK:         "onnx.Min"(%n, %n)
func.func @others(%x: tensor<4xf32>, %i: tensor<4xi32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xi32>, tensor<i64>) {
  %0 = "onnx.Max"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Max"(%i, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = "onnx.Min"(%n, %n) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<i64>
}

// One dimension after the other.
// CHECK-LABEL: func.func @along_dimensions(
// CHECK-NOT:     onnx.ReduceMax
// CHECK:         [[FIRST:%.*]] = "onnx.ArgMax"(%x) <{axis = 0 : {{.*}}keepdims = 1
// CHECK:         [[ROW:%.*]] = "onnx.GatherElements"(%x, [[FIRST]]) <{axis = 0
// CHECK:         [[SECOND:%.*]] = "onnx.ArgMax"([[ROW]]) <{axis = 2
// CHECK:         [[FOUND:%.*]] = "onnx.GatherElements"([[ROW]], [[SECOND]]) <{axis = 2 : {{.*}} -> tensor<1x4x1xi64>
// CHECK:         "onnx.Squeeze"([[FOUND]], %axes) : {{.*}} -> tensor<4xi64>
func.func @along_dimensions(%x: tensor<3x4x5xi64>) -> tensor<4xi64> {
  %axes = "onnx.Constant"() <{value = dense<[0, -1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %0 = "onnx.ReduceMax"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<3x4x5xi64>, tensor<2xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @of_all(
// CHECK:         "onnx.ArgMin"{{.*}}axis = 0
// CHECK:         "onnx.ArgMin"{{.*}}axis = 1
// CHECK:         [[FOUND:%.*]] = "onnx.GatherElements"{{.*}} -> tensor<1x1xi64>
// CHECK:         "onnx.Squeeze"([[FOUND]]) : (tensor<1x1xi64>) -> tensor<i64>
func.func @of_all(%x: tensor<3x4xi64>) -> tensor<i64> {
  %0 = "onnx.ReduceMin"(%x) <{keepdims = 0 : si64}> : (tensor<3x4xi64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @of_none(
// CHECK-NOT:     onnx.Arg
// CHECK:         return %x
func.func @of_none(%x: tensor<3x4xi64>) -> tensor<3x4xi64> {
  %0 = "onnx.ReduceMin"(%x) <{noop_with_empty_axes = 1 : si64}> : (tensor<3x4xi64>) -> tensor<3x4xi64>
  return %0 : tensor<3x4xi64>
}
