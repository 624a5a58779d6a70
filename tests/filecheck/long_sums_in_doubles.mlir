// RUN: torch2mlir-opt %s -long-sums-in-doubles | filecheck %s

// CHECK-LABEL: func.func @loops(
// CHECK:         linalg.generic {{.*}} ins(%x : tensor<4x2000xf32>) outs({{.*}} : tensor<4xf64>)
// CHECK:           arith.extf {{.*}} : f32 to f64
// CHECK:           arith.addf {{.*}} : f64
// CHECK:         arith.truncf {{.*}} : f64 to f32
// CHECK:         return {{.*}} : tensor<4xf32>
func.func @loops(%x: tensor<4x2000xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x2000xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Few enough.
// CHECK-LABEL: func.func @short(
// CHECK-NOT:     f64
// CHECK:         return
func.func @short(%x: tensor<1024x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<1024x4xf32>) -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}

// Nobody knows how many.
// CHECK-LABEL: func.func @of_tosa(
// CHECK-NOT:     tosa.reduce_sum
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x4xf32>) outs({{.*}} : tensor<1x4xf64>)
func.func @of_tosa(%x: tensor<?x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<?x4xf32>) -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @of_stablehlo(
// CHECK:         stablehlo.convert %x : (tensor<4x?xf32>) -> tensor<4x?xf64>
// CHECK:         stablehlo.reduce{{.*}} applies stablehlo.add across dimensions = [1] : (tensor<4x?xf64>, tensor<f64>) -> tensor<4xf64>
// CHECK:         stablehlo.convert {{.*}} : (tensor<4xf64>) -> tensor<4xf32>
func.func @of_stablehlo(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x?xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// The largest stays as it is.
// CHECK-LABEL: func.func @largest(
// CHECK-NOT:     f64
// CHECK:         return
func.func @largest(%x: tensor<4x2000xf32>) -> tensor<4xf32> {
  %lowest = stablehlo.constant dense<0xff800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2000xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
