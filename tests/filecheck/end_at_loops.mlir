// RUN: torch2mlir-opt %s -end-at-loops | filecheck %s

// CHECK-LABEL: func.func @of_unknown_size(
// CHECK:         scf.for
// CHECK:         scf.yield
// CHECK:         "util.optimization_barrier"
// CHECK:         return
func.func @of_unknown_size(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %i = %0 to %n step %1 iter_args(%y = %x) -> (tensor<?xf32>) {
    scf.yield %y : tensor<?xf32>
  }
  return %2 : tensor<?xf32>
}

// CHECK-LABEL: func.func @of_known_size(
// CHECK:         scf.for
// CHECK:         "util.optimization_barrier"
func.func @of_known_size(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %i = %0 to %n step %1 iter_args(%y = %x) -> (tensor<4xf32>) {
    scf.yield %y : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if
// CHECK:         "util.optimization_barrier"
func.func @branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %0 = scf.if %p -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// What hands on no tensors reads none that is updated.
// CHECK-LABEL: func.func @of_numbers(
// CHECK-NOT:     util.optimization_barrier
func.func @of_numbers(%x: f32, %n: index) -> f32 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %i = %0 to %n step %1 iter_args(%y = %x) -> (f32) {
    scf.yield %y : f32
  }
  return %2 : f32
}
