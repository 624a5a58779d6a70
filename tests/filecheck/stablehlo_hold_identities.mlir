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
