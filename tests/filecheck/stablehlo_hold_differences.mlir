// RUN: torch2mlir-opt -p stablehlo-hold-differences %s | filecheck %s

// CHECK-LABEL: func.func @pairs(
// CHECK:         [[N:%.*]] = stablehlo.divide %x, %s
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[N]]
// CHECK:         stablehlo.broadcast_in_dim [[HELD]], dims = [0, 2]
// CHECK:         stablehlo.broadcast_in_dim [[HELD]], dims = [1, 2]
func.func @pairs(%x: tensor<4x3xf32>, %s: tensor<4x3xf32>) -> tensor<4x4x3xf32> {
  %n = stablehlo.divide %x, %s : tensor<4x3xf32>
  %0 = stablehlo.broadcast_in_dim %n, dims = [0, 2] : (tensor<4x3xf32>) -> tensor<4x4x3xf32>
  %1 = stablehlo.broadcast_in_dim %n, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<4x4x3xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4x4x3xf32>
  return %2 : tensor<4x4x3xf32>
}

// The barrier stands where the arrangements part: it has two readers, which is why XLA is told to keep it.
// CHECK-LABEL: func.func @turned(
// CHECK:         [[WIDE:%.*]] = stablehlo.broadcast_in_dim
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[WIDE]]
// CHECK:         [[TURNED:%.*]] = stablehlo.transpose [[HELD]]
// CHECK:         stablehlo.subtract [[HELD]], [[TURNED]]
func.func @turned(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4x4xf32> {
  %n = stablehlo.divide %x, %s : tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// What is computed once has nothing to be held apart.
// CHECK-LABEL: func.func @arguments(
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @arguments(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.subtract %x, %t : tensor<4x4xf32>
  %n = stablehlo.multiply %x, %y : tensor<4x4xf32>
  %1 = stablehlo.subtract %n, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
