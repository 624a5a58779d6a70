// RUN: torch2mlir-opt -p stablehlo-angles-by-formulas %s | filecheck %s

// CHECK-LABEL: func.func @angles
// CHECK-NOT: chlo.
// CHECK-NOT: stablehlo.atan2
// CHECK: return
func.func @angles(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<9xf32>
  %1 = chlo.acos %0 : tensor<9xf32> -> tensor<9xf32>
  %2 = chlo.asin %1 : tensor<9xf32> -> tensor<9xf32>
  %3 = chlo.atan %2 : tensor<9xf32> -> tensor<9xf32>
  return %3 : tensor<9xf32>
}

// The polynomials are those of single precision.
// CHECK-LABEL: func.func @double
// CHECK: stablehlo.atan2
func.func @double(%x: tensor<9xf64>, %y: tensor<9xf64>) -> tensor<9xf64> {
  %0 = stablehlo.atan2 %x, %y : tensor<9xf64>
  return %0 : tensor<9xf64>
}
