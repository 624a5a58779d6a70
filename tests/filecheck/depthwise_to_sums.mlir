// RUN: torch2mlir-opt -p depthwise-to-sums %s | filecheck %s

// One loop reads a slice for each of the six elements of the window; what strides jump over is in front.
// CHECK-LABEL: func.func @strided
// CHECK: linalg.transpose {{.*}} permutation = [3, 5, 0, 1, 2, 4]
// CHECK-NOT: linalg.depthwise
// CHECK-COUNT-6: tensor.extract_slice {{.*}} to tensor<1x4x3x4xf32>
// CHECK: linalg.generic
// CHECK-COUNT-6: arith.mulf
// CHECK: linalg.yield
func.func @strided(%x: tensor<1x4x7x8xf32>, %w: tensor<4x3x2xf32>, %init: tensor<1x4x3x4xf32>) -> tensor<1x4x3x4xf32> {
  %0 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x4x7x8xf32>, tensor<4x3x2xf32>) outs(%init : tensor<1x4x3x4xf32>) -> tensor<1x4x3x4xf32>
  return %0 : tensor<1x4x3x4xf32>
}

// Sizes known at run time stay as they are.
// CHECK-LABEL: func.func @dynamic
// CHECK: linalg.depthwise_conv_2d_nchw_chw
func.func @dynamic(%x: tensor<?x4x7x8xf32>, %w: tensor<4x3x3xf32>, %init: tensor<?x4x5x6xf32>) -> tensor<?x4x5x6xf32> {
  %0 = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<?x4x7x8xf32>, tensor<4x3x3xf32>) outs(%init : tensor<?x4x5x6xf32>) -> tensor<?x4x5x6xf32>
  return %0 : tensor<?x4x5x6xf32>
}
