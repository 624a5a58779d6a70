// RUN: torch2mlir-opt -p stablehlo-products-of-one-term %s | filecheck %s

// CHECK-LABEL: func.func @outer
// CHECK-NOT: dot_general
// CHECK: [[X:%.*]] = stablehlo.broadcast_in_dim {{%.*}}, dims = [0]
// CHECK: [[Y:%.*]] = stablehlo.broadcast_in_dim {{%.*}}, dims = [1]
// CHECK: [[P:%.*]] = stablehlo.multiply [[X]], [[Y]] : tensor<3x4xf32>
// CHECK: stablehlo.add [[P]], {{%.*}} : tensor<3x4xf32>
func.func @outer(%x: tensor<3x1xf32>, %y: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x1xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// A batch comes first, whatever its dimension is in an operand.
// CHECK-LABEL: func.func @batched
// CHECK: stablehlo.broadcast_in_dim {{%.*}}, dims = [0, 1] : (tensor<2x3xi64>)
// CHECK: stablehlo.transpose %y, dims = [1, 0, 2]
// CHECK: stablehlo.broadcast_in_dim {{%.*}}, dims = [0, 2] : (tensor<2x4xi64>)
func.func @batched(%x: tensor<2x3x1xi64>, %y: tensor<4x2x1xi64>) -> tensor<2x3x4xi64> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [2] x [2] : (tensor<2x3x1xi64>, tensor<4x2x1xi64>) -> tensor<2x3x4xi64>
  return %0 : tensor<2x3x4xi64>
}

// CHECK-LABEL: func.func @two_terms
// CHECK: stablehlo.dot_general
func.func @two_terms(%x: tensor<3x2xf32>, %y: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @of_any_size
// CHECK: stablehlo.dot_general
func.func @of_any_size(%x: tensor<?x1xf32>, %y: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x1xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
