// RUN: torch2mlir-opt -p stablehlo-wide-depthwise %s | filecheck %s

// One term for each of the 25 elements of the window, between barriers.
// CHECK-LABEL: func.func @wide
// CHECK: [[X:%.*]] = stablehlo.optimization_barrier %x
// CHECK: stablehlo.pad [[X]]
// CHECK-NOT: stablehlo.convolution
// CHECK-COUNT-25: stablehlo.multiply {{.*}} : tensor<1x4x9x9xf32>
// CHECK: stablehlo.optimization_barrier
// CHECK-NEXT: return
func.func @wide(%x: tensor<1x4x9x9xf32>, %w: tensor<4x1x5x5xf32>) -> tensor<1x4x9x9xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<4x1x5x5xf32>) -> tensor<1x4x9x9xf32>
  return %0 : tensor<1x4x9x9xf32>
}

// A narrow window is not worth it.
// CHECK-LABEL: func.func @narrow
// CHECK: stablehlo.convolution
func.func @narrow(%x: tensor<1x4x9x9xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x9x9xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x9x9xf32>
  return %0 : tensor<1x4x9x9xf32>
}
