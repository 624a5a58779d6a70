// RUN: torch2mlir-opt -p stablehlo-channels-last -split-input-file %s | filecheck %s

// Transposes remain at the ends and on the weights; what lies between two convolutions follows them.
// CHECK-LABEL: func.func @network
// CHECK: stablehlo.transpose %x, dims = [0, 2, 3, 1]
// CHECK-NEXT: stablehlo.transpose %w, dims = [2, 3, 1, 0]
// CHECK-NEXT: dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-NEXT: broadcast_in_dim %b, dims = [3] : (tensor<8xf32>) -> tensor<1x6x6x8xf32>
// CHECK-NEXT: add {{.*}} : tensor<1x6x6x8xf32>
// CHECK: reduce_window
// CHECK-SAME: window_dimensions = array<i64: 1, 2, 2, 1>
// CHECK-SAME: window_strides = array<i64: 1, 2, 2, 1>
// CHECK: stablehlo.pad {{.*}} low = [0, 1, 0, 0]
// CHECK: stablehlo.concatenate {{.*}} dim = 3
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.reduce({{.*}} across dimensions = [1, 2] : (tensor<1x4x3x16xf32>, tensor<f32>) -> tensor<1x16xf32>
// CHECK-NEXT: return
func.func @network(%x: tensor<1x3x6x6xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x8x6x6xf32>
  %3 = "stablehlo.reduce_window"(%2, %zero) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %m = stablehlo.maximum %a, %c : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x3x3xf32>
  %4 = stablehlo.pad %3, %zero, low = [0, 0, 1, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x8x3x3xf32>, tensor<f32>) -> tensor<1x8x4x3xf32>
  %5 = stablehlo.concatenate %4, %4, dim = 1 : (tensor<1x8x4x3xf32>, tensor<1x8x4x3xf32>) -> tensor<1x16x4x3xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x16x4x3xf32>, tensor<f32>) -> tensor<1x16xf32>
  return %6 : tensor<1x16xf32>
}

// -----

// The program's own permutation to channels last is the form that is there already.
// CHECK-LABEL: func.func @permuted
// CHECK: %[[Y:.*]] = stablehlo.convolution
// CHECK-NEXT: return %[[Y]] : tensor<1x6x6x8xf32>
func.func @permuted(%x: tensor<1x3x6x6xf32>, %w: tensor<8x3x1x1xf32>) -> tensor<1x6x6x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 3, 1] : (tensor<1x8x6x6xf32>) -> tensor<1x6x6x8xf32>
  return %1 : tensor<1x6x6x8xf32>
}

// -----

// A splat and a broadcast of several dimensions are made in the order they are wanted in; a sum over the rows of an
// image would come out in another order and stays as it is, as does a program without convolutions.
// CHECK-LABEL: func.func @operands
// CHECK: stablehlo.constant dense<2.{{0*e?\+?0*}}> : tensor<2x5x4xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %s, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: broadcast_in_dim %[[T]], dims = [1, 2] : (tensor<5x4xf32>) -> tensor<2x5x4xf32>
// CHECK: %[[BACK:.*]] = stablehlo.transpose {{.*}}, dims = [0, 2, 1]
// CHECK: stablehlo.reduce(%[[BACK]]
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
func.func @operands(%x: tensor<2x3x5xf32>, %w: tensor<4x3x1xf32>, %s: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<2x4x5xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x5xf32>, tensor<4x3x1xf32>) -> tensor<2x4x5xf32>
  %1 = stablehlo.multiply %0, %two : tensor<2x4x5xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [1, 2] : (tensor<4x5xf32>) -> tensor<2x4x5xf32>
  %3 = stablehlo.add %2, %1 : tensor<2x4x5xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %4 : tensor<4x5xf32>
}

func.func @plain(%x: tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> {
  %0 = stablehlo.add %x, %x : tensor<1x3x6x6xf32>
  return %0 : tensor<1x3x6x6xf32>
}

// -----

// A convolution of each channel by itself is a sum of slices times weights; half floats are added up in f32.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: stablehlo.convolution
// CHECK: stablehlo.convert {{.*}} : (tensor<1x5x3xbf16>) -> tensor<1x5x3xf32>
// CHECK: stablehlo.pad {{.*}} low = [0, 1, 0], high = [0, 1, 0]
// CHECK: stablehlo.slice {{.*}} [0:1, 0:5:2, 0:3] : (tensor<1x7x3xf32>) -> tensor<1x3x3xf32>
// CHECK: stablehlo.slice {{.*}} [0:1, 0:1, 0:3] : (tensor<2x1x3xf32>) -> tensor<1x1x3xf32>
// CHECK: stablehlo.multiply
// CHECK: stablehlo.slice {{.*}} [0:1, 2:7:2, 0:3] : (tensor<1x7x3xf32>) -> tensor<1x3x3xf32>
// CHECK: stablehlo.slice {{.*}} [1:2, 0:1, 0:3] : (tensor<2x1x3xf32>) -> tensor<1x1x3xf32>
// CHECK: stablehlo.multiply
// CHECK-NEXT: stablehlo.add
func.func @depthwise(%x: tensor<1x3x5xbf16>, %w: tensor<3x1x2xbf16>) -> tensor<1x3x3xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 1]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x3x5xbf16>, tensor<3x1x2xbf16>) -> tensor<1x3x3xf32>
  return %0 : tensor<1x3x3xf32>
}
