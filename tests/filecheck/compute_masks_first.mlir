// RUN: torch2mlir-opt %s -compute-masks-first | filecheck %s

// Every step reads the one before twice: the fourth would be computed from 31 masks, and the ones behind a barrier count as one.
// CHECK-LABEL: func.func @doubled(
// CHECK:         tosa.logical_xor
// CHECK:         tosa.logical_xor
// CHECK:         tosa.logical_xor
// CHECK:         %[[FOURTH:.*]] = tosa.logical_xor
// CHECK:         %[[HELD:.*]] = "iree_tensor_ext.compute_barrier.start"(%[[FOURTH]]
// CHECK:         tosa.logical_xor %[[HELD]], %[[HELD]]
// CHECK-NOT:     compute_barrier
func.func @doubled(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = tosa.greater %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = tosa.logical_xor %0, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %2 = tosa.logical_xor %1, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %3 = tosa.logical_xor %2, %2 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %4 = tosa.logical_xor %3, %3 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %5 = tosa.logical_xor %4, %4 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %5 : tensor<4xi1>
}

// What is no mask is not computed anew.
// CHECK-LABEL: func.func @of_numbers(
// CHECK-NOT:     compute_barrier
func.func @of_numbers(%x: tensor<4xf32>) -> tensor<4xi1> {
  %1 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.add %2, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.add %3, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = tosa.add %4, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = tosa.greater %5, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %6 : tensor<4xi1>
}
