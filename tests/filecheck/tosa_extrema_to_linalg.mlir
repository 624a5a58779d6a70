// RUN: torch2mlir-opt -p tosa-extrema-to-linalg %s | filecheck %s

// Begins with minus infinity.
// CHECK-LABEL: func.func @largest(
// CHECK:         [[FIRST:%.*]] = arith.constant 0xff800000 : f32
// CHECK:         linalg.fill ins([[FIRST]]
// CHECK:         arith.maximumf
// CHECK:         -> tensor<2x1xf32>
func.func @largest(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// Begins with infinity.
// CHECK-LABEL: func.func @smallest(
// CHECK:         [[FIRST:%.*]] = arith.constant 0x7f800000 : f32
// CHECK:         linalg.fill ins([[FIRST]]
// CHECK:         arith.minimumf
func.func @smallest(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = tosa.reduce_min %x {axis = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// Integers have no infinities.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT:    %0 = tosa.reduce_max %x
func.func @integers(%x: tensor<2x4xi32>) -> tensor<2x1xi32> {
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x4xi32>) -> tensor<2x1xi32>
  return %0 : tensor<2x1xi32>
}
