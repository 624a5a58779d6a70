// RUN: torch2mlir-opt -p stablehlo-functions-to-linalg %s | filecheck %s

// A power is the formula that Linalg has, in a loop over both tensors.
// CHECK-LABEL: func.func @power
// CHECK-NOT: stablehlo.power
// CHECK: linalg.generic
// CHECK: math.powf
// CHECK: math.copysign
func.func @power(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.power %x, %y : tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// Integers are not multiplied by logarithms.
// CHECK-LABEL: func.func @power_of_integers
// CHECK: stablehlo.power
func.func @power_of_integers(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.power %x, %y : tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// Of sizes that are not known, too.
// CHECK-LABEL: func.func @angle
// CHECK: tensor.dim
// CHECK-NOT: stablehlo.atan2
func.func @angle(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// IREE's logarithm is good enough in 32 bits, not in 64.
// CHECK-LABEL: func.func @logarithms
// CHECK: stablehlo.log_plus_one
// CHECK-NOT: stablehlo.log_plus_one
func.func @logarithms(%x: tensor<3xf32>, %y: tensor<3xf64>) -> (tensor<3xf32>, tensor<3xf64>) {
  %0 = stablehlo.log_plus_one %x : tensor<3xf32>
  %1 = stablehlo.log_plus_one %y : tensor<3xf64>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf64>
}
