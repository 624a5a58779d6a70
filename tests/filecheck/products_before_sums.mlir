// RUN: torch2mlir-opt -p products-before-sums %s | filecheck %s

#both = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @all_of_a_matrix
// CHECK: arith.mulf
// CHECK: iree_tensor_ext.compute_barrier.start
// CHECK: arith.addf
func.func @all_of_a_matrix(%x: tensor<3x4xf32>, %w: tensor<4xf32>, %m: tensor<3x4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<3x4xf32>, tensor<4xf32>) outs(%m : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [#both, #none], iterator_types = ["reduction", "reduction"]} ins(%0 : tensor<3x4xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  func.return %2 : tensor<f32>
}

// A row has all of the dimensions that are added up.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: barrier
// CHECK: return
func.func @rows(%x: tensor<3x4xf32>, %w: tensor<4xf32>, %m: tensor<3x4xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<3x4xf32>, tensor<4xf32>) outs(%m : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [#both, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<3x4xf32>) outs(%z : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<3xf32>
  func.return %2 : tensor<3xf32>
}

// CHECK-LABEL: func.func @of_stablehlo
// CHECK: stablehlo.multiply
// CHECK: iree_tensor_ext.compute_barrier.start
// CHECK: stablehlo.reduce
func.func @of_stablehlo(%x: tensor<3x4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<3x4xf32>
  %3 = stablehlo.reduce(%2 init: %0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
  func.return %3 : tensor<f32>
}
