// RUN: torch2mlir-opt %s -reductions-by-columns | filecheck %s

// Sixteen columns, and then the sixteen.
// CHECK-LABEL: func.func @sum(
// CHECK:         [[TABLE:%.*]] = tensor.expand_shape %x
// CHECK-SAME:      tensor<4x512xf32> into tensor<4x32x16xf32>
// CHECK:         [[LINE:%.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins([[TABLE]]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins([[LINE]] : tensor<4x16xf32>)
func.func @sum(%x: tensor<4x512xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x512xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Two dimensions are one line; a result keeps its dimensions of size 1.
// CHECK-LABEL: func.func @largest_of_image(
// CHECK:         tensor.expand_shape {{.*}} into tensor<2x3x16x16xf32>
// CHECK:         arith.maximumf
// CHECK:         arith.maximumf
// CHECK:         return {{.*}} : tensor<2x3x1x1xf32>
func.func @largest_of_image(%x: tensor<2x3x8x32xf32>) -> tensor<2x3x1x1xf32> {
  %lowest = arith.constant 0xff800000 : f32
  %empty = tensor.empty() : tensor<2x3x1x1xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x : tensor<2x3x8x32xf32>) outs(%init : tensor<2x3x1x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.maximumf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x1x1xf32>
  func.return %0 : tensor<2x3x1x1xf32>
}

// A sum of squares is a contraction for IREE.
// CHECK-LABEL: func.func @squares(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @squares(%x: tensor<4x512xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %place = tensor.empty() : tensor<4x512xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x512xf32>) outs(%place : tensor<4x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x512xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%squares : tensor<4x512xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Lines of unknown length, and short ones.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @others(%x: tensor<4x?xf32>, %y: tensor<4x64xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x?xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x64xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  func.return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// The same in TOSA.
// CHECK-LABEL: func.func @in_tosa(
// CHECK:         tosa.reshape %x
// CHECK:         tosa.reduce_sum {{.*}} {axis = 1 : i32} : (tensor<4x32x16xf32>) -> tensor<4x1x16xf32>
// CHECK:         tosa.reduce_sum {{.*}} {axis = 1 : i32} : (tensor<4x16xf32>) -> tensor<4x1xf32>
func.func @in_tosa(%x: tensor<4x512xf32>) -> tensor<4x1xf32> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x512xf32>) -> tensor<4x1xf32>
  func.return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @squares_in_tosa(
// CHECK:         tosa.reduce_sum {{.*}} : (tensor<4x512xf32>) -> tensor<4x1xf32>
func.func @squares_in_tosa(%x: tensor<4x512xf32>) -> tensor<4x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %squares = tosa.mul %x, %x, %shift : (tensor<4x512xf32>, tensor<4x512xf32>, tensor<1xi8>) -> tensor<4x512xf32>
  %0 = tosa.reduce_sum %squares {axis = 1 : i32} : (tensor<4x512xf32>) -> tensor<4x1xf32>
  func.return %0 : tensor<4x1xf32>
}

// Five is in the sum once, not once for each column.
// CHECK-LABEL: func.func @from_five(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @from_five(%x: tensor<4x512xf32>) -> tensor<4xf32> {
  %five = arith.constant 5.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%five : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x512xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// The lines of each channel, and then the images.
// CHECK-LABEL: func.func @channels(
// CHECK:         tensor.expand_shape {{.*}} into tensor<2x3x16x16xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins({{.*}} : tensor<2x3xf32>)
// CHECK:         return {{.*}} : tensor<1x3x1x1xf32>
func.func @channels(%x: tensor<2x3x8x32xf32>) -> tensor<1x3x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%x : tensor<2x3x8x32xf32>) outs(%init : tensor<1x3x1x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1x3x1x1xf32>
  func.return %0 : tensor<1x3x1x1xf32>
}
