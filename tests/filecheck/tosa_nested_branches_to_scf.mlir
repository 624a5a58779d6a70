// RUN: torch2mlir-opt %s -tosa-nested-branches-to-scf | filecheck %s

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    %[[P:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK-NEXT:    scf.if %[[P]] -> (tensor<4xf32>) {
// CHECK-NEXT:      tosa.cond_if
// CHECK:           scf.yield
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %x
func.func @nested(%x: tensor<4xf32>, %c: tensor<i1>, %d: tensor<i1>) -> tensor<4xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    %1 = tosa.cond_if %d : tensor<i1> -> tensor<4xf32> {
      %2 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      tosa.yield %2 : tensor<4xf32>
    } else {
      tosa.yield %x : tensor<4xf32>
    }
    tosa.yield %1 : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
