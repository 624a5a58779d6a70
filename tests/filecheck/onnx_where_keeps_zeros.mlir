// RUN: torch2mlir-opt -p onnx-where-keeps-zeros %s | filecheck %s

// Chosen by the bits.
// CHECK-LABEL: func.func @both_vary(
// CHECK:         [[X:%.*]] = "onnx.BitCast"(%x)
// CHECK:         [[Y:%.*]] = "onnx.BitCast"(%y)
// CHECK:         [[BITS:%.*]] = "onnx.Where"(%c, [[X]], [[Y]])
// CHECK:         "onnx.BitCast"([[BITS]])
func.func @both_vary(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Where"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The constant comes first, without a Not, which would be fused.
// CHECK-LABEL: func.func @constant_second(
// CHECK:         [[NEGATED:%.*]] = "onnx.Xor"(%c
// CHECK:         "onnx.Where"([[NEGATED]], %z, %x)
func.func @constant_second(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "onnx.Constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "onnx.Where"(%c, %x, %z) : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @constant_first(
// CHECK:         "onnx.Where"(%c, %z, %x)
func.func @constant_first(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = "onnx.Constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "onnx.Where"(%c, %z, %x) : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @integers(
// CHECK-NEXT:    %0 = "onnx.Where"(%c, %x, %y)
func.func @integers(%c: tensor<4xi1>, %x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "onnx.Where"(%c, %x, %y) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
