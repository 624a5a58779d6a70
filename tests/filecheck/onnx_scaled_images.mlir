// RUN: torch2mlir-opt -p onnx-scaled-images %s | filecheck %s

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
