// RUN: torch2mlir-opt %s -keep-terms-of-sums | filecheck %s

// CHECK-LABEL: func.func @of_one_number(
// CHECK:         linalg.fill
// CHECK:         arith.constant dense<-0.0
// CHECK:         "util.optimization_barrier"
// CHECK:         arith.addf
// CHECK:         iterator_types = ["reduction"]
func.func @of_one_number(%x: tensor<?xf32>, %n: index, %init: tensor<f32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%ones : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// CHECK-LABEL: func.func @of_elements(
// CHECK-NOT:     util.optimization_barrier
func.func @of_elements(%x: tensor<?xf32>, %init: tensor<f32>) -> tensor<f32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    %c = arith.addf %e, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// CHECK-LABEL: func.func @of_comparisons(
// CHECK:         tosa.greater_equal
// CHECK:         "util.optimization_barrier"
// CHECK:         arith.addi
// CHECK:         tosa.reduce_sum
func.func @of_comparisons(%x: tensor<4xi64>) -> tensor<1xi64> {
  %0 = tosa.greater_equal %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %1 = tosa.cast %0 : (tensor<4xi1>) -> tensor<4xi64>
  %2 = tosa.reduce_sum %1 {axis = 0 : i32} : (tensor<4xi64>) -> tensor<1xi64>
  return %2 : tensor<1xi64>
}

// CHECK-LABEL: func.func @maxima_and_sums_of_products(
// CHECK-NOT:     util.optimization_barrier
func.func @maxima_and_sums_of_products(%x: tensor<4xf32>, %init: tensor<f32>) -> (tensor<1xf32>, tensor<f32>) {
  %two = "tosa.const"() <{values = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.reduce_max %two {axis = 0 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x, %two : tensor<4xf32>, tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0, %1 : tensor<1xf32>, tensor<f32>
}

// A reduction that yields a number for each element is made into one that does not read what was there before.
// CHECK-LABEL: func.func @any_of_none(
// CHECK:         iterator_types = ["reduction"]
// CHECK:         tensor.dim
// CHECK:         arith.cmpi eq
// CHECK:         arith.constant false
// CHECK:         linalg.generic
// CHECK:           arith.select
// CHECK:         func.return
func.func @any_of_none(%x: tensor<?xi64>, %init: tensor<i1>) -> tensor<i1> {
  %any = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi64>) outs(%init : tensor<i1>) {
  ^bb0(%a: i64, %b: i1):
    %e = arith.cmpi eq, %a, %a : i64
    %c = arith.ori %e, %b : i1
    linalg.yield %c : i1
  } -> tensor<i1>
  return %any : tensor<i1>
}

// CHECK-LABEL: func.func @of_one_size(
// CHECK-NOT:     tensor.dim
func.func @of_one_size(%x: tensor<?x4xi1>) -> tensor<?x1xi1> {
  %true = "tosa.const"() <{values = dense<true> : tensor<1x1xi1>}> : () -> tensor<1x1xi1>
  %0 = tosa.logical_or %x, %true : (tensor<?x4xi1>, tensor<1x1xi1>) -> tensor<?x4xi1>
  %1 = tosa.reduce_any %0 {axis = 1 : i32} : (tensor<?x4xi1>) -> tensor<?x1xi1>
  return %1 : tensor<?x1xi1>
}
