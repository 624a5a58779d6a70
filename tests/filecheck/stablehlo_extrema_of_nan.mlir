// RUN: torch2mlir-opt -p stablehlo-extrema-of-nan %s | filecheck %s

// CHECK-LABEL: func.func @lines(
// CHECK:         [[IS_NAN:%.*]] = stablehlo.compare NE, %x, %x, FLOAT
// CHECK:         [[NAN:%.*]] = stablehlo.select [[IS_NAN]], %x
// CHECK:         [[SUM:%.*]] = stablehlo.reduce([[NAN]] init: {{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK:         [[BEST:%.*]] = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1]
// CHECK:         [[HAS_NAN:%.*]] = stablehlo.compare NE, [[SUM]], [[SUM]], FLOAT
// CHECK:         stablehlo.select [[HAS_NAN]], [[SUM]], [[BEST]]
func.func @lines(%x: tensor<64x64xf32>, %i: tensor<f32>) -> tensor<64xf32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// XLA computes few elements itself, and no unknown sizes; integers have no NaN.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     stablehlo.add
// CHECK-LABEL: func.func @softmax(
func.func @others(%x: tensor<8x8xf32>, %y: tensor<?x?xf32>, %i: tensor<f32>, %n: tensor<64x64xi32>, %j: tensor<i32>) -> (tensor<8xf32>, tensor<64xi32>, tensor<?xf32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.minimum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%n init: %j) applies stablehlo.minimum across dimensions = [1] : (tensor<64x64xi32>, tensor<i32>) -> tensor<64xi32>
  %2 = stablehlo.reduce(%y init: %i) applies stablehlo.minimum across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<64xi32>, tensor<?xf32>
}

// A softmax is NaN through its sum; along another dimension the maximum is none of a softmax.
// CHECK-NOT:     stablehlo.compare
// CHECK-LABEL: func.func @crossed(
// CHECK:         stablehlo.compare NE, %x, %x
func.func @softmax(%x: tensor<64x64xf32>, %i: tensor<f32>, %z: tensor<f32>) -> tensor<64x64xf32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<64x64xf32>
  %3 = stablehlo.exponential %2 : tensor<64x64xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %6 = stablehlo.divide %3, %5 : tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}
func.func @crossed(%x: tensor<64x64xf32>, %i: tensor<f32>, %z: tensor<f32>) -> tensor<64x64xf32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<64x64xf32>
  %3 = stablehlo.exponential %2 : tensor<64x64xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %6 = stablehlo.divide %3, %5 : tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}
