// RUN: torch2mlir-opt -p stablehlo-hold-products %s | filecheck %s

// CHECK-LABEL: func.func @two_numbers(
// CHECK:         [[FIRST:%.*]] = stablehlo.multiply %x, %c
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[FIRST]]
// CHECK:         stablehlo.divide [[HELD]], %c
func.func @two_numbers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0e30> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %c : tensor<4xf32>
  %1 = stablehlo.divide %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Single numbers that are no constants are joined as well.
// CHECK-LABEL: func.func @two_arguments(
// CHECK:         stablehlo.optimization_barrier
func.func @two_arguments(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.multiply %c, %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @divided_by_much(
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier %c
// CHECK:         stablehlo.divide %x, [[HELD]]
func.func @divided_by_much(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<3.0e38> : tensor<4xf32>
  %0 = stablehlo.divide %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @quotients(
// CHECK:         [[INNER:%.*]] = stablehlo.divide %x, %y
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[INNER]]
// CHECK:         stablehlo.divide [[HELD]], %y
func.func @quotients(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.divide %x, %y : tensor<4xf32>
  %1 = stablehlo.divide %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @undone(
// CHECK:         [[SQUARE:%.*]] = stablehlo.multiply %x, %x
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[SQUARE]]
// CHECK:         stablehlo.sqrt [[HELD]]
// CHECK:         [[POWER:%.*]] = stablehlo.exponential %x
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[POWER]]
// CHECK:         stablehlo.power [[HELD]], %x
func.func @undone(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.sqrt %0 : tensor<4xf32>
  %2 = stablehlo.exponential %x : tensor<4xf32>
  %3 = stablehlo.power %2, %x : tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @exponentials(
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier
// CHECK:         stablehlo.divide {{.*}}, [[HELD]]
func.func @exponentials(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.exponential %y : tensor<4xf32>
  %2 = stablehlo.divide %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @as_they_are(
// CHECK-NOT:     stablehlo.optimization_barrier
// CHECK:         stablehlo.divide
func.func @as_they_are(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<8.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %y : tensor<4xf32>
  %1 = stablehlo.divide %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}
