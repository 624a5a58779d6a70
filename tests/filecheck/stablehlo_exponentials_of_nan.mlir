// RUN: torch2mlir-opt -p stablehlo-exponentials-of-nan %s | filecheck %s

// CHECK-LABEL: func.func @written(
// CHECK:         [[X:%.*]] = stablehlo.select %c, %y, %nan
// CHECK-DAG:     [[EXP:%.*]] = stablehlo.exponential [[X]]
// CHECK-DAG:     [[IS_NAN:%.*]] = stablehlo.compare NE, [[X]], [[X]], FLOAT
// CHECK:         stablehlo.select [[IS_NAN]], [[X]], [[EXP]]
func.func @written(%c: tensor<4xi1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %x = stablehlo.select %c, %y, %nan : tensor<4xi1>, tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An infinity beside elements, and NaNs from memory, are as they should be.
// CHECK-LABEL: func.func @read(
// CHECK-NOT:     stablehlo.compare
// CHECK:         return
func.func @read(%c: tensor<4xi1>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %x = stablehlo.select %c, %y, %inf : tensor<4xi1>, tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.exponential %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
