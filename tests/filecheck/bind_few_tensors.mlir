// RUN: torch2mlir-opt %s -bind-few-tensors | filecheck %s

// The sum of 24 of the 30 is computed before the rest.
// CHECK-LABEL: func.func @many_terms(
// CHECK-COUNT-23: stablehlo.add
// CHECK:          compute_barrier
// CHECK-COUNT-6:  stablehlo.add
// CHECK-NOT:      compute_barrier
func.func @many_terms(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>, %a5: tensor<4xf32>, %a6: tensor<4xf32>, %a7: tensor<4xf32>, %a8: tensor<4xf32>, %a9: tensor<4xf32>, %a10: tensor<4xf32>, %a11: tensor<4xf32>, %a12: tensor<4xf32>, %a13: tensor<4xf32>, %a14: tensor<4xf32>, %a15: tensor<4xf32>, %a16: tensor<4xf32>, %a17: tensor<4xf32>, %a18: tensor<4xf32>, %a19: tensor<4xf32>, %a20: tensor<4xf32>, %a21: tensor<4xf32>, %a22: tensor<4xf32>, %a23: tensor<4xf32>, %a24: tensor<4xf32>, %a25: tensor<4xf32>, %a26: tensor<4xf32>, %a27: tensor<4xf32>, %a28: tensor<4xf32>, %a29: tensor<4xf32>) -> tensor<4xf32> {
  %b1 = stablehlo.add %a0, %a1 : tensor<4xf32>
  %b2 = stablehlo.add %b1, %a2 : tensor<4xf32>
  %b3 = stablehlo.add %b2, %a3 : tensor<4xf32>
  %b4 = stablehlo.add %b3, %a4 : tensor<4xf32>
  %b5 = stablehlo.add %b4, %a5 : tensor<4xf32>
  %b6 = stablehlo.add %b5, %a6 : tensor<4xf32>
  %b7 = stablehlo.add %b6, %a7 : tensor<4xf32>
  %b8 = stablehlo.add %b7, %a8 : tensor<4xf32>
  %b9 = stablehlo.add %b8, %a9 : tensor<4xf32>
  %b10 = stablehlo.add %b9, %a10 : tensor<4xf32>
  %b11 = stablehlo.add %b10, %a11 : tensor<4xf32>
  %b12 = stablehlo.add %b11, %a12 : tensor<4xf32>
  %b13 = stablehlo.add %b12, %a13 : tensor<4xf32>
  %b14 = stablehlo.add %b13, %a14 : tensor<4xf32>
  %b15 = stablehlo.add %b14, %a15 : tensor<4xf32>
  %b16 = stablehlo.add %b15, %a16 : tensor<4xf32>
  %b17 = stablehlo.add %b16, %a17 : tensor<4xf32>
  %b18 = stablehlo.add %b17, %a18 : tensor<4xf32>
  %b19 = stablehlo.add %b18, %a19 : tensor<4xf32>
  %b20 = stablehlo.add %b19, %a20 : tensor<4xf32>
  %b21 = stablehlo.add %b20, %a21 : tensor<4xf32>
  %b22 = stablehlo.add %b21, %a22 : tensor<4xf32>
  %b23 = stablehlo.add %b22, %a23 : tensor<4xf32>
  %b24 = stablehlo.add %b23, %a24 : tensor<4xf32>
  %b25 = stablehlo.add %b24, %a25 : tensor<4xf32>
  %b26 = stablehlo.add %b25, %a26 : tensor<4xf32>
  %b27 = stablehlo.add %b26, %a27 : tensor<4xf32>
  %b28 = stablehlo.add %b27, %a28 : tensor<4xf32>
  %b29 = stablehlo.add %b28, %a29 : tensor<4xf32>
  return %b29 : tensor<4xf32>
}

// The terms are many, the tensors are not.
// CHECK-LABEL: func.func @few_tensors(
// CHECK-NOT:     compute_barrier
func.func @few_tensors(%a0: tensor<4xf32>, %a1: tensor<4xf32>) -> tensor<4xf32> {
  %b1 = stablehlo.add %a0, %a0 : tensor<4xf32>
  %b2 = stablehlo.add %b1, %a1 : tensor<4xf32>
  %b3 = stablehlo.add %b2, %a0 : tensor<4xf32>
  %b4 = stablehlo.add %b3, %a1 : tensor<4xf32>
  %b5 = stablehlo.add %b4, %a0 : tensor<4xf32>
  %b6 = stablehlo.add %b5, %a1 : tensor<4xf32>
  %b7 = stablehlo.add %b6, %a0 : tensor<4xf32>
  %b8 = stablehlo.add %b7, %a1 : tensor<4xf32>
  %b9 = stablehlo.add %b8, %a0 : tensor<4xf32>
  %b10 = stablehlo.add %b9, %a1 : tensor<4xf32>
  %b11 = stablehlo.add %b10, %a0 : tensor<4xf32>
  %b12 = stablehlo.add %b11, %a1 : tensor<4xf32>
  %b13 = stablehlo.add %b12, %a0 : tensor<4xf32>
  %b14 = stablehlo.add %b13, %a1 : tensor<4xf32>
  %b15 = stablehlo.add %b14, %a0 : tensor<4xf32>
  %b16 = stablehlo.add %b15, %a1 : tensor<4xf32>
  %b17 = stablehlo.add %b16, %a0 : tensor<4xf32>
  %b18 = stablehlo.add %b17, %a1 : tensor<4xf32>
  %b19 = stablehlo.add %b18, %a0 : tensor<4xf32>
  %b20 = stablehlo.add %b19, %a1 : tensor<4xf32>
  %b21 = stablehlo.add %b20, %a0 : tensor<4xf32>
  %b22 = stablehlo.add %b21, %a1 : tensor<4xf32>
  %b23 = stablehlo.add %b22, %a0 : tensor<4xf32>
  %b24 = stablehlo.add %b23, %a1 : tensor<4xf32>
  %b25 = stablehlo.add %b24, %a0 : tensor<4xf32>
  %b26 = stablehlo.add %b25, %a1 : tensor<4xf32>
  %b27 = stablehlo.add %b26, %a0 : tensor<4xf32>
  %b28 = stablehlo.add %b27, %a1 : tensor<4xf32>
  %b29 = stablehlo.add %b28, %a0 : tensor<4xf32>
  return %b29 : tensor<4xf32>
}
