// RUN: torch2mlir-opt -p stablehlo-products-of-one-row %s | filecheck %s

// The matrix is read as it was before it was transposed, on either side.
// CHECK-LABEL: func.func @row
// CHECK: stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]{{.*}} (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<1x3xf32>
func.func @row(%x: tensor<1x4xf32>, %w: tensor<3x4xf32>) -> tensor<1x3xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @column
// CHECK: stablehlo.dot_general %w, %x, contracting_dims = [0] x [0]{{.*}} (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
func.func @column(%w: tensor<4x3xf32>, %x: tensor<4x1xf32>) -> tensor<3x1xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
  return %1 : tensor<3x1xf32>
}

// XLA folds the transposes of products of several rows itself.
// CHECK-LABEL: func.func @rows
// CHECK: [[T:%.*]] = stablehlo.transpose
// CHECK: stablehlo.dot_general %x, [[T]]
func.func @rows(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
