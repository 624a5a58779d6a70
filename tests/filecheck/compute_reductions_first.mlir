// RUN: torch2mlir-opt %s -compute-reductions-first | filecheck %s

// CHECK-LABEL: func.func @read_at_two_places(
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK:         tensor.dim %[[SUM]]
// CHECK:         %[[APART:.*]] = "iree_tensor_ext.compute_barrier.start"(%[[SUM]]
// CHECK:         ins(%[[APART]], %[[APART]]
func.func @read_at_two_places(%x: tensor<?x4x4xf32>, %init: tensor<?x4xf32>, %empty: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, j)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<?x4x4xf32>) outs(%init : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x4xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sum, %sum : tensor<?x4xf32>, tensor<?x4xf32>) outs(%empty : tensor<?x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.mulf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x4x4xf32>
  return %product : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @two_equal_sums(
// CHECK-COUNT-2: compute_barrier
func.func @two_equal_sums(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 1, 0>} : (tensor<1x4xf32>) -> tensor<4x1xf32>
  %3 = tosa.add %0, %2 : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @read_at_one_place(
// CHECK-NOT:     compute_barrier
func.func @read_at_one_place(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %1 = tosa.exp %0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = tosa.add %0, %1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = tosa.add %x, %2 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
