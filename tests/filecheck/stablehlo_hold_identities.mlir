// RUN: torch2mlir-opt -p stablehlo-hold-identities %s | filecheck %s

// CHECK-LABEL: func.func @number_of_boolean(
// CHECK:         [[ONE:%.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK:         [[ZERO:%.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK:         chlo.broadcast_select %m, [[ONE]], [[ZERO]]
func.func @number_of_boolean(%m: tensor<4xi1>) -> tensor<4xf32> {
  %0 = stablehlo.convert %m : (tensor<4xi1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @plus_zero(
// CHECK:         [[ZERO:%.*]] = stablehlo.compare EQ, %x, %z
// CHECK:         stablehlo.select [[ZERO]], %z, %x
func.func @plus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %z : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The sum with -0.0 is the other term.
// CHECK-LABEL: func.func @plus_minus_zero(
// CHECK:         stablehlo.add %x, %z
// CHECK-NOT:     stablehlo.select
func.func @plus_minus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %z : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @two_constants(
// CHECK:         [[SUM:%.*]] = stablehlo.add %x, %c
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[SUM]]
// CHECK:         stablehlo.subtract [[HELD]], %c
func.func @two_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0e30> : tensor<4xf32>
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  %1 = stablehlo.subtract %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @log_of_exp(
// CHECK:         [[EXP:%.*]] = stablehlo.exponential %x
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[EXP]]
// CHECK:         stablehlo.log [[HELD]]
func.func @log_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.log %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @integers(
// CHECK:         stablehlo.add %x, %z
// CHECK-NOT:     stablehlo.select
func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.add %x, %z : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// The only place along a dimension of 1 is a zero.
// CHECK-LABEL: func.func @place(
// CHECK-NOT:     stablehlo.add
// CHECK:         stablehlo.select
func.func @place(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<1xi64>
  %1 = stablehlo.convert %0 : (tensor<1xi64>) -> tensor<1xf32>
  %2 = stablehlo.add %x, %1 : tensor<1xf32>
  return %2 : tensor<1xf32>
}

// What XLA may fold to a zero is kept from the sum.
// CHECK-LABEL: func.func @folded(
// CHECK:         [[ZEROS:%.*]] = stablehlo.slice
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[ZEROS]]
// CHECK:         stablehlo.add %x, [[HELD]]
func.func @folded(%x: tensor<1xf32>) -> tensor<1xf32> {
  %z = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = stablehlo.slice %z [0:1:1] : (tensor<2xf32>) -> tensor<1xf32>
  %1 = stablehlo.add %x, %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}

// CHECK-LABEL: func.func @less_nothing(
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier %z
// CHECK:         stablehlo.subtract %x, [[HELD]]
func.func @less_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %0 = stablehlo.subtract %x, %z : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A mask made of places is computed at every call, beside what it is added to.
// CHECK-LABEL: func.func @of_places(
// CHECK-NOT:     stablehlo.optimization_barrier
// CHECK:         stablehlo.add
func.func @of_places(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.add %x, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A magnitude is not negative, and no number if it is of none.
// CHECK-LABEL: func.func @not_negative(
// CHECK:         [[SIZE:%.*]] = stablehlo.abs %x
// CHECK:         [[ABOVE:%.*]] = stablehlo.compare GE, [[SIZE]], %z
// CHECK:         [[NUMBER:%.*]] = stablehlo.compare EQ, [[SIZE]], [[SIZE]]
// CHECK:         stablehlo.and [[ABOVE]], [[NUMBER]]
func.func @not_negative(%x: tensor<4xf32>) -> tensor<4xi1> {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = stablehlo.compare GE, %0, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// Squares of integers may be negative.
// CHECK-LABEL: func.func @square_of_integers(
// CHECK:         [[SQUARE:%.*]] = stablehlo.multiply %x, %x
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[SQUARE]]
// CHECK:         stablehlo.compare GT, %z, [[HELD]]
func.func @square_of_integers(%x: tensor<4xi32>) -> tensor<4xi1> {
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.multiply %x, %x : tensor<4xi32>
  %1 = stablehlo.compare GT, %z, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// CHECK-LABEL: func.func @of_either_sign(
// CHECK-NOT:     stablehlo.and
// CHECK:         return
func.func @of_either_sign(%x: tensor<4xf32>) -> tensor<4xi1> {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.compare GE, %0, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// Differences and products of integers that are 0 whatever they are of.
// CHECK-LABEL: func.func @zeros_of_integers(
// CHECK:         [[ZERO:%.*]] = stablehlo.convert
// CHECK:         [[HELD:%.*]] = stablehlo.optimization_barrier [[ZERO]]
// CHECK:         stablehlo.add %x, [[HELD]]
func.func @zeros_of_integers(%x: tensor<4xf32>, %n: tensor<4xi32>) -> tensor<4xf32> {
  %0 = stablehlo.subtract %n, %n : tensor<4xi32>
  %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xf32>
  %2 = stablehlo.add %x, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
