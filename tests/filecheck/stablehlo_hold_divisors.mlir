// RUN: torch2mlir-opt -p stablehlo-hold-divisors %s | filecheck %s

// CHECK-LABEL: func.func @floor(
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier %c
// CHECK:         [[QUOTIENT:%.*]] = stablehlo.divide %x, [[HELD]]
// CHECK:         stablehlo.floor [[QUOTIENT]]
func.func @floor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %c : tensor<4xf32>
  %1 = stablehlo.floor %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Nobody sees how it is rounded.
// CHECK-LABEL: func.func @float(
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @float(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %c : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @quotient_of_quotient(
// CHECK:         [[FIRST:%.*]] = stablehlo.divide %x,
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[FIRST]]
// CHECK:         stablehlo.divide [[HELD]],
func.func @quotient_of_quotient(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi32> {
  %0 = stablehlo.divide %x, %y : tensor<4xf32>
  %1 = stablehlo.divide %0, %x : tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xi32>
  return %2 : tensor<4xi32>
}

// The sign of a quotient is right however it is rounded.
// CHECK-LABEL: func.func @sign(
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @sign(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %c = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %y : tensor<4xf32>
  %1 = stablehlo.compare GT, %0, %c, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// That of a difference is not.
// CHECK-LABEL: func.func @sign_of_difference(
// CHECK:         stablehlo.optimization_barrier %y
func.func @sign_of_difference(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %c = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %y : tensor<4xf32>
  %1 = stablehlo.subtract %0, %x : tensor<4xf32>
  %2 = stablehlo.compare GT, %1, %c, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %2 : tensor<4xi1>
}

// A slope does not jump.
// CHECK-LABEL: func.func @slope(
// CHECK-NOT:     stablehlo.optimization_barrier
func.func @slope(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %y : tensor<4xf32>
  %1 = stablehlo.subtract %0, %x : tensor<4xf32>
  %2 = stablehlo.compare GT, %1, %c, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = stablehlo.select %2, %1, %c : tensor<4xi1>, tensor<4xf32>
  return %3 : tensor<4xf32>
}
