// RUN: torch2mlir-opt %s -tosa-scatters-to-iree | filecheck %s

// CHECK-LABEL: func.func @one_batch(
// CHECK:         tosa.maximum
// CHECK:         tosa.minimum
// CHECK:         "iree_linalg_ext.scatter"
// CHECK-SAME:      dimension_map = array<i64: 0>, unique_indices = false
// CHECK-NOT:     tosa.scatter
func.func @one_batch(%x: tensor<1x8x3xf32>, %i: tensor<1x5xi32>, %rows: tensor<1x5x3xf32>) -> tensor<1x8x3xf32> {
  %0 = tosa.scatter %x, %i, %rows : (tensor<1x8x3xf32>, tensor<1x5xi32>, tensor<1x5x3xf32>) -> tensor<1x8x3xf32>
  return %0 : tensor<1x8x3xf32>
}

// CHECK-LABEL: func.func @batches(
// CHECK:         tosa.const
// CHECK:         (tensor<10x3xf32>, tensor<10x1xi32>, tensor<16x3xf32>) -> tensor<16x3xf32>
func.func @batches(%x: tensor<2x8x3xf32>, %i: tensor<2x5xi32>, %rows: tensor<2x5x3xf32>) -> tensor<2x8x3xf32> {
  %0 = tosa.scatter %x, %i, %rows : (tensor<2x8x3xf32>, tensor<2x5xi32>, tensor<2x5x3xf32>) -> tensor<2x8x3xf32>
  return %0 : tensor<2x8x3xf32>
}

// CHECK-LABEL: func.func @of_unknown_size(
// CHECK:         [[SIZE:%.*]] = tensor.dim %x
// CHECK:         [[LAST:%.*]] = arith.subi [[SIZE]]
// CHECK:         tosa.minimum
// CHECK:         "iree_linalg_ext.scatter"
// CHECK:         (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK:         tensor.expand_shape
// CHECK-NOT:     tosa.scatter
func.func @of_unknown_size(%x: tensor<1x?x?xf32>, %i: tensor<1x?xi32>, %rows: tensor<1x?x?xf32>) -> tensor<1x?x?xf32> {
  %0 = tosa.scatter %x, %i, %rows : (tensor<1x?x?xf32>, tensor<1x?xi32>, tensor<1x?x?xf32>) -> tensor<1x?x?xf32>
  return %0 : tensor<1x?x?xf32>
}
