// RUN: torch2mlir-opt -p tosa-products-of-one-term %s | filecheck %s

// CHECK-LABEL: func.func @one_term(
// CHECK:         [[PRODUCT:%.*]] = tosa.mul %x, %y
// CHECK:         tosa.add [[PRODUCT]]
func.func @one_term(%x: tensor<1x2x1xf32>, %y: tensor<1x1x3xf32>) -> tensor<1x2x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %z, %z : (tensor<1x2x1xf32>, tensor<1x1x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

// CHECK-LABEL: func.func @two_terms(
// CHECK:         tosa.matmul
func.func @two_terms(%x: tensor<1x2x2xf32>, %y: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %z, %z : (tensor<1x2x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}
