// RUN: torch2mlir-opt -p stablehlo-scatters-from-the-front %s | filecheck %s

// CHECK-LABEL: func.func @behind
// CHECK: stablehlo.transpose %x, dims = [1, 2, 0]
// CHECK: stablehlo.transpose %v, dims = [1, 0]
// CHECK: "stablehlo.scatter"
// CHECK-SAME: update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]
// CHECK: stablehlo.transpose {{.*}}, dims = [2, 0, 1]
func.func @behind(%x: tensor<?x4x5xf32>, %i: tensor<3x2xi64>, %v: tensor<?x3xf32>) -> tensor<?x4x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<?x4x5xf32>, tensor<3x2xi64>, tensor<?x3xf32>) -> tensor<?x4x5xf32>
  func.return %0 : tensor<?x4x5xf32>
}

// CHECK-LABEL: func.func @one_dimension
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @one_dimension(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %v: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<3x2xf32>) -> tensor<3x4xf32>
  func.return %0 : tensor<3x4xf32>
}
