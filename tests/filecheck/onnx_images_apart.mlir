// RUN: torch2mlir-opt -p onnx-images-apart %s | filecheck %s

// CHECK-LABEL: func.func @by_column(
// CHECK:         [[SCALED:%.*]] = "onnx.Mul"(%x, %v)
// CHECK:         [[NEGATIVE:%.*]] = "onnx.Neg"([[SCALED]])
// CHECK:         [[HELD:%.*]] = "onnx.Max"([[NEGATIVE]], [[NEGATIVE]])
// CHECK:         "onnx.Conv"([[HELD]], %w)
func.func @by_column(%x: tensor<?x2x3x3xf32>, %v: tensor<3xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<?x4x1x1xf32> {
  %0 = "onnx.Mul"(%x, %v) : (tensor<?x2x3x3xf32>, tensor<3xf32>) -> tensor<?x2x3x3xf32>
  %1 = "onnx.Neg"(%0) : (tensor<?x2x3x3xf32>) -> tensor<?x2x3x3xf32>
  %2 = "onnx.Conv"(%1, %w) : (tensor<?x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x1x1xf32>
  return %2 : tensor<?x4x1x1xf32>
}

// CHECK-LABEL: func.func @by_channel(
// CHECK-NOT:     onnx.Max
// CHECK:         return
func.func @by_channel(%x: tensor<?x2x8x8xf32>, %v: tensor<2x1x1xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<?x4x6x6xf32> {
  %0 = "onnx.Mul"(%x, %v) : (tensor<?x2x8x8xf32>, tensor<2x1x1xf32>) -> tensor<?x2x8x8xf32>
  %1 = "onnx.Conv"(%0, %w) : (tensor<?x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x6x6xf32>
  return %1 : tensor<?x4x6x6xf32>
}

// CHECK-LABEL: func.func @channels(
// CHECK:         [[DEEPER:%.*]] = "onnx.Unsqueeze"(%x, {{.*}} -> tensor<1x?x2x8x8xf32>
// CHECK:         [[TAKEN:%.*]] = "onnx.Gather"([[DEEPER]], %i) <{axis = 2
// CHECK:         "onnx.Squeeze"([[TAKEN]], {{.*}} -> tensor<?x2x8x8xf32>
func.func @channels(%x: tensor<?x2x8x8xf32>, %i: tensor<2xi64>, %w: tensor<4x2x3x3xf32>) -> tensor<?x4x6x6xf32> {
  %0 = "onnx.Gather"(%x, %i) <{axis = 1 : si64}> : (tensor<?x2x8x8xf32>, tensor<2xi64>) -> tensor<?x2x8x8xf32>
  %1 = "onnx.Conv"(%0, %w) : (tensor<?x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x6x6xf32>
  return %1 : tensor<?x4x6x6xf32>
}

// CHECK-LABEL: func.func @strides(
// CHECK:         [[PADDED:%.*]] = "onnx.Pad"(%x, {{.*}} -> tensor<?x2x10x10xf32>
// CHECK:         [[READ:%.*]] = "onnx.Slice"([[PADDED]], {{.*}} -> tensor<?x2x5x5xf32>
// CHECK:         "onnx.Conv"([[READ]], %w) <{{.*}}pads = [0 : i64, 0 : i64, 0 : i64, 0 : i64]
func.func @strides(%x: tensor<?x2x8x8xf32>, %w: tensor<4x2x1x1xf32>) -> tensor<?x4x5x5xf32> {
  %0 = "onnx.Conv"(%x, %w) <{pads = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [2 : i64, 2 : i64]}> : (tensor<?x2x8x8xf32>, tensor<4x2x1x1xf32>) -> tensor<?x4x5x5xf32>
  return %0 : tensor<?x4x5x5xf32>
}
