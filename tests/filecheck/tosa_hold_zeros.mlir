// RUN: torch2mlir-opt -p tosa-hold-zeros %s | filecheck %s

// CHECK-LABEL: func.func @product(
// CHECK:         [[NUMBER:%.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         [[ZERO:%.*]] = linalg.fill ins([[NUMBER]]
// CHECK:         tosa.mul %x, [[ZERO]]
func.func @product(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %z, %s : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @sum(
// CHECK:         [[ZERO:%.*]] = linalg.fill
// CHECK:         tosa.add %x, [[ZERO]]
func.func @sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.add %x, %z : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @other_numbers_and_ops(
// CHECK-NOT:     linalg.fill
// CHECK:         tosa.add %x, %one
// CHECK:         tosa.add %i, %zi
// CHECK:         tosa.maximum %x, %z
func.func @other_numbers_and_ops(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zi = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.add %x, %one : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tosa.add %i, %zi : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  %2 = tosa.maximum %x, %z : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// Folders move, cut out and cast constants first.
// CHECK-LABEL: func.func @moved(
// CHECK:         [[NUMBER:%.*]] = arith.constant 0 : i32
// CHECK:         [[ZEROS:%.*]] = linalg.fill ins([[NUMBER]]
// CHECK:         [[SHAPED:%.*]] = tosa.reshape [[ZEROS]]
// CHECK:         [[FLOATS:%.*]] = tosa.cast [[SHAPED]]
// CHECK:         tosa.mul %x, [[FLOATS]]
func.func @moved(%x: tensor<f32>) -> tensor<f32> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %none = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
  %0 = tosa.reshape %z, %none : (tensor<1xi32>, !tosa.shape<0>) -> tensor<i32>
  %1 = tosa.cast %0 : (tensor<i32>) -> tensor<f32>
  %2 = tosa.mul %x, %1, %s : (tensor<f32>, tensor<f32>, tensor<1xi8>) -> tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @difference(
// CHECK:         [[ZERO:%.*]] = linalg.fill
// CHECK:         tosa.sub %x, [[ZERO]]
func.func @difference(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "tosa.const"() <{values = dense<-0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.sub %x, %z : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Products of integers with zero are zero.
// CHECK-LABEL: func.func @of_integers(
// CHECK:         [[ZEROS:%.*]] = linalg.fill
// CHECK:         [[PRODUCT:%.*]] = tosa.mul %n, [[ZEROS]]
// CHECK:         [[FLOATS:%.*]] = tosa.cast [[PRODUCT]]
// CHECK:         tosa.add %x, [[FLOATS]]
func.func @of_integers(%x: tensor<4xf32>, %n: tensor<4xi32>) -> tensor<4xf32> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %n, %z, %s : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi32>
  %1 = tosa.cast %0 : (tensor<4xi32>) -> tensor<4xf32>
  %2 = tosa.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
