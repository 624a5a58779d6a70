// RUN: torch2mlir-opt %s -tosa-elementwise-to-linalg | filecheck %s

// CHECK-LABEL: func.func @two_of_one_size(
// CHECK:         tensor.dim
// CHECK:         linalg.generic
// CHECK:         arith.addf
// CHECK-NOT:     tosa.add
func.func @two_of_one_size(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>) -> tensor<?x4xf32> {
  %0 = tosa.add %x, %y : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A shift of zero is no op on elements; a comparison keeps its predicate.
// CHECK-LABEL: func.func @product_and_comparison(
// CHECK:         arith.muli
// CHECK:         arith.cmpi sgt
// CHECK:         arith.select
func.func @product_and_comparison(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %y, %shift : (tensor<?xi32>, tensor<?xi32>, tensor<1xi8>) -> tensor<?xi32>
  %1 = tosa.greater %0, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  %2 = tosa.select %1, %0, %y : (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  return %2 : tensor<?xi32>
}

// Nothing is asked at run time of known sizes, nor of one unknown one beside sizes of 1.
// CHECK-LABEL: func.func @left_alone(
// CHECK:         tosa.add
// CHECK:         tosa.sub
func.func @left_alone(%x: tensor<2x4xf32>, %y: tensor<?x4xf32>, %one: tensor<1x1xf32>) -> (tensor<2x4xf32>, tensor<?x4xf32>) {
  %0 = tosa.add %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tosa.sub %y, %one : (tensor<?x4xf32>, tensor<1x1xf32>) -> tensor<?x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<?x4xf32>
}

// A number made into a tensor is the number again.
// CHECK-LABEL: func.func @with_a_number(
// CHECK:         linalg.generic
// CHECK-SAME:    ins(%{{[^:,]*}} : tensor<?xi32>)
// CHECK:         arith.andi
func.func @with_a_number(%x: tensor<?xi32>, %n: i32) -> tensor<?xi32> {
  %0 = tensor.from_elements %n : tensor<i32>
  %1 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %2 = tosa.reshape %0, %1 : (tensor<i32>, !tosa.shape<1>) -> tensor<1xi32>
  %3 = tosa.bitwise_and %x, %2 : (tensor<?xi32>, tensor<1xi32>) -> tensor<?xi32>
  return %3 : tensor<?xi32>
}
