// RUN: torch2mlir-opt %s -concats-of-parts | filecheck %s

// The second half of each row, negated, and the first: IREE has a loop for it.
// CHECK-LABEL: func.func @halves(
// CHECK-NOT:     compute_barrier
func.func @halves(%x: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %0 = arith.constant 1 : index
  %1 = tensor.dim %x, %0 : tensor<2x?x8xf32>
  %2 = tensor.empty(%1) : tensor<2x?x4xf32>
  %3 = tensor.extract_slice %x[0, 0, 4] [2, %1, 4] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<2x?x4xf32>) outs(%2 : tensor<2x?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %7 = arith.negf %a : f32
    linalg.yield %7 : f32
  } -> tensor<2x?x4xf32>
  %5 = tensor.extract_slice %x[0, 0, 0] [2, %1, 4] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %6 = tensor.concat dim(2) %4, %5 : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x8xf32>
  return %6 : tensor<2x?x8xf32>
}

// CHECK-LABEL: func.func @every_second(
// CHECK:         %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 0] [3, 4] [1, 2]
// CHECK:         %[[KEPT:.*]] = "iree_tensor_ext.compute_barrier.start"(%[[PART]]
// CHECK:         tensor.concat dim(1) %{{.*}}, %[[KEPT]]
func.func @every_second(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.extract_slice %x[0, 1] [3, 4] [1, 2] : tensor<3x8xf32> to tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<3x4xf32>) outs(%0 : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.negf %a : f32
    linalg.yield %5 : f32
  } -> tensor<3x4xf32>
  %3 = tensor.extract_slice %x[0, 0] [3, 4] [1, 2] : tensor<3x8xf32> to tensor<3x4xf32>
  %4 = tensor.concat dim(1) %2, %3 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  return %4 : tensor<3x8xf32>
}

// The first half negated, and the second.
// CHECK-LABEL: func.func @in_order(
// CHECK:         compute_barrier
func.func @in_order(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<3x4xf32>) outs(%0 : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.negf %a : f32
    linalg.yield %5 : f32
  } -> tensor<3x4xf32>
  %3 = tensor.extract_slice %x[0, 4] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %4 = tensor.concat dim(1) %2, %3 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  return %4 : tensor<3x8xf32>
}
