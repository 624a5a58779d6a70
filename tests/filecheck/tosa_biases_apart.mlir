// RUN: torch2mlir-opt %s -tosa-biases-apart | filecheck %s

// CHECK-LABEL: func.func @two(
// CHECK:         %[[ONE:.*]] = "util.optimization_barrier"
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[ONE]],
// CHECK:         %[[OTHER:.*]] = "util.optimization_barrier"
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[OTHER]],
func.func @two(%x: tensor<2x5x5x2xf32>, %w: tensor<3x1x1x2xf32>) -> (tensor<2x5x5x3xf32>, tensor<2x5x5x3xf32>) {
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5x3xf32>
  %1 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5x3xf32>
  return %0, %1 : tensor<2x5x5x3xf32>, tensor<2x5x5x3xf32>
}

// CHECK-LABEL: func.func @same_argument_in_a_batch_of_one(
// CHECK-NOT:     barrier
func.func @same_argument_in_a_batch_of_one(%x: tensor<1x5x5x2xf32>, %w: tensor<3x1x1x2xf32>, %bias: tensor<3xf32>) -> (tensor<1x5x5x3xf32>, tensor<1x5x5x3xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  %1 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  return %0, %1 : tensor<1x5x5x3xf32>, tensor<1x5x5x3xf32>
}

// CHECK-LABEL: func.func @large_results_of_one_batch(
// CHECK:         %[[ONE:.*]] = "util.optimization_barrier"
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[ONE]],
// CHECK:         %[[OTHER:.*]] = "util.optimization_barrier"
// CHECK:         tosa.conv2d %{{.*}}, %{{.*}}, %[[OTHER]],
func.func @large_results_of_one_batch(%x: tensor<1x256x256x2xf32>, %w: tensor<3x1x1x2xf32>) -> (tensor<1x256x256x3xf32>, tensor<1x256x256x3xf32>) {
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x256x256x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x256x256x3xf32>
  %1 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x256x256x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x256x256x3xf32>
  return %0, %1 : tensor<1x256x256x3xf32>, tensor<1x256x256x3xf32>
}

// CHECK-LABEL: func.func @batch_of_one(
// CHECK-NOT:     barrier
func.func @batch_of_one(%x: tensor<1x5x5x2xf32>, %w: tensor<3x1x1x2xf32>) -> (tensor<1x5x5x3xf32>, tensor<1x5x5x3xf32>) {
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  %1 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  return %0, %1 : tensor<1x5x5x3xf32>, tensor<1x5x5x3xf32>
}

// CHECK-LABEL: func.func @biases_that_are_arguments(
// CHECK-NOT:     barrier
func.func @biases_that_are_arguments(%x: tensor<2x5x5x2xf32>, %w: tensor<3x1x1x2xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<2x5x5x3xf32>, tensor<2x5x5x3xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %a, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5x3xf32>
  %1 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x5x5x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5x3xf32>
  return %0, %1 : tensor<2x5x5x3xf32>, tensor<2x5x5x3xf32>
}
