// RUN: torch2mlir-opt -p onnx-long-sums-by-parts %s | filecheck %s

// CHECK-LABEL: func.func @of_all(
// CHECK:         [[CUT:%.*]] = "onnx.Reshape"(%x, {{.*}} -> tensor<1000x1000xf32>
// CHECK:         [[PARTS:%.*]] = "onnx.ReduceSum"([[CUT]], {{.*}}keepdims = 1 : {{.*}} -> tensor<1x1000xf32>
// CHECK:         [[SUM:%.*]] = "onnx.ReduceSum"([[PARTS]], {{.*}}keepdims = 0 : {{.*}} -> tensor<1xf32>
// CHECK:         [[NUMBER:%.*]] = "onnx.Squeeze"([[SUM]], {{.*}} -> tensor<f32>
// CHECK:         return [[NUMBER]]
func.func @of_all(%x: tensor<100x100x100xf32>) -> tensor<f32> {
  %axes = "onnx.Constant"() <{value = dense<[0, 1, 2]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<100x100x100xf32>, tensor<3xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// 20011 is a prime: zeros come behind, and the mean is the sum divided.
// CHECK-LABEL: func.func @of_a_prime(
// CHECK:         [[LONGER:%.*]] = "onnx.Pad"(%x, {{.*}} -> tensor<20480x4xf32>
// CHECK:         [[CUT:%.*]] = "onnx.Reshape"([[LONGER]], {{.*}} -> tensor<128x160x4xf32>
// CHECK:         "onnx.ReduceSum"([[CUT]], {{.*}} -> tensor<1x160x4xf32>
// CHECK:         [[SUM:%.*]] = "onnx.Unsqueeze"
// CHECK:         [[TERMS:%.*]] = "onnx.Constant"() <{value = dense<2.001100e+04>
// CHECK:         "onnx.Div"([[SUM]], [[TERMS]]) : {{.*}} -> tensor<1x4xf32>
func.func @of_a_prime(%x: tensor<20011x4xf32>) -> tensor<1x4xf32> {
  %axes = "onnx.Constant"() <{value = dense<0> : tensor<1xi64>}> : () -> tensor<1xi64>
  %0 = "onnx.ReduceMean"(%x, %axes) <{keepdims = 1 : si64}> : (tensor<20011x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// Everything of an unknown size: zeros come behind, as many as are missing of a whole part.
// CHECK-LABEL: func.func @of_unknown(
// CHECK:         [[ALL:%.*]] = "onnx.Reshape"(%x, {{.*}} -> tensor<?xf32>
// CHECK:         [[FIRST:%.*]] = "onnx.Slice"([[ALL]]
// CHECK:         [[PARTS:%.*]] = "onnx.Shape"([[FIRST]])
// CHECK:         [[COUNT:%.*]] = "onnx.Shape"([[ALL]])
// CHECK:         [[WHOLE:%.*]] = "onnx.Mul"([[PARTS]]
// CHECK:         [[MISSING:%.*]] = "onnx.Sub"([[WHOLE]], [[COUNT]])
// CHECK:         [[ENDS:%.*]] = "onnx.Concat"({{.*}}, [[MISSING]])
// CHECK:         [[LONGER:%.*]] = "onnx.Pad"([[ALL]], [[ENDS]])
// CHECK:         [[CUT:%.*]] = "onnx.Reshape"([[LONGER]], {{.*}} -> tensor<?x1024xf32>
// CHECK:         [[SUMS:%.*]] = "onnx.ReduceSum"([[CUT]], {{.*}} -> tensor<?xf32>
// CHECK:         "onnx.ReduceSum"([[SUMS]], {{.*}} -> tensor<1xf32>
// CHECK:         "onnx.Div"
func.func @of_unknown(%x: tensor<?x768xf32>) -> tensor<f32> {
  %axes = "onnx.Constant"() <{value = dense<[0, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %0 = "onnx.ReduceMean"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<?x768xf32>, tensor<2xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Wide rows of an unknown number: one dimension after the other.
// CHECK-LABEL: func.func @of_wide_rows(
// CHECK:         [[LINES:%.*]] = "onnx.ReduceSum"(%x, {{.*}} -> tensor<1x768x3xf32>
// CHECK:         "onnx.ReduceSum"([[LINES]], {{.*}} -> tensor<1x3xf32>
func.func @of_wide_rows(%x: tensor<?x768x3xf32>) -> tensor<3xf32> {
  %axes = "onnx.Constant"() <{value = dense<[0, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<?x768x3xf32>, tensor<2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @of_few(
// CHECK-COUNT-1: onnx.ReduceSum
// CHECK-NOT:     onnx.Reshape
func.func @of_few(%x: tensor<64x64xf32>) -> tensor<f32> {
  %axes = "onnx.Constant"() <{value = dense<[0, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) <{keepdims = 0 : si64}> : (tensor<64x64xf32>, tensor<2xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}
