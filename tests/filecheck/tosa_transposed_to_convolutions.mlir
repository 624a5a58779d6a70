// RUN: torch2mlir-opt %s -tosa-transposed-to-convolutions | filecheck %s

// CHECK-LABEL: func.func @strides(
// CHECK:         tosa.conv2d {{.*}}pad = array<i64: 1, 1, 0, 0>{{.*}}(tensor<1x2x4x2xf32>, tensor<12x2x1x2xf32>, tensor<12xf32>
// CHECK-NOT:     tosa.transpose_conv2d
// CHECK:         tosa.add
func.func @strides(%x: tensor<1x2x4x2xf32>, %w: tensor<3x3x2x2xf32>, %bias: tensor<3xf32>) -> tensor<1x4x9x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, out_pad = array<i64: -1, 0, 0, 1>, stride = array<i64: 2, 2>} : (tensor<1x2x4x2xf32>, tensor<3x3x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x9x3xf32>
  return %0 : tensor<1x4x9x3xf32>
}

// CHECK-LABEL: func.func @no_strides(
// CHECK:         tosa.transpose_conv2d
// CHECK-NOT:     tosa.conv2d
func.func @no_strides(%x: tensor<1x2x4x2xf32>, %w: tensor<3x3x2x2xf32>, %bias: tensor<3xf32>) -> tensor<1x4x5x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x4x2xf32>, tensor<3x3x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x3xf32>
  return %0 : tensor<1x4x5x3xf32>
}
