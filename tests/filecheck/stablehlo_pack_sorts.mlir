// RUN: torch2mlir-opt -p stablehlo-pack-sorts %s | filecheck %s

// Floats and their positions are one integer each.
// CHECK-LABEL: func.func @floats
// CHECK: stablehlo.bitcast_convert %x : (tensor<2x9xf32>) -> tensor<2x9xi32>
// CHECK: stablehlo.shift_left {{.*}} : tensor<2x9xi64>
// CHECK: "stablehlo.sort"
// CHECK-SAME: is_stable = false
// CHECK: stablehlo.compare LT, {{.*}} : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK: }) : (tensor<2x9xi64>) -> tensor<2x9xi64>
// CHECK: stablehlo.bitcast_convert {{.*}} : (tensor<2x9xi32>) -> tensor<2x9xf32>
func.func @floats(%x: tensor<2x9xf32>) -> (tensor<2x9xf32>, tensor<2x9xi64>) {
  %places = stablehlo.iota dim = 1 : tensor<2x9xi64>
  %0, %1 = "stablehlo.sort"(%x, %places) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i64>, %j: tensor<i64>):
    %less = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %number = stablehlo.compare EQ, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %before = stablehlo.and %number, %nan : tensor<i1>
    %first = stablehlo.or %less, %before : tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<2x9xf32>, tensor<2x9xi64>) -> (tensor<2x9xf32>, tensor<2x9xi64>)
  return %0, %1 : tensor<2x9xf32>, tensor<2x9xi64>
}

// What is not read of the result is not computed.
// CHECK-LABEL: func.func @places_of_integers_downwards
// CHECK: stablehlo.not
// CHECK: }) : (tensor<9xi64>) -> tensor<9xi64>
// CHECK-NOT: stablehlo.convert
// CHECK: return
func.func @places_of_integers_downwards(%x: tensor<9xui8>) -> tensor<9xi64> {
  %places = stablehlo.iota dim = 0 : tensor<9xi64>
  %0, %1 = "stablehlo.sort"(%x, %places) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>, %i: tensor<i64>, %j: tensor<i64>):
    %first = stablehlo.compare LT, %b, %a, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<9xui8>, tensor<9xi64>) -> (tensor<9xui8>, tensor<9xi64>)
  return %1 : tensor<9xi64>
}

// Without NaN beyond all numbers it is another order; 64 bits have no room for positions; other companions are no positions.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: "stablehlo.sort"(%
// CHECK-NOT: shift_left
func.func @others(%x: tensor<9xf32>, %y: tensor<9xi64>, %z: tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi64>, tensor<9xi64>) {
  %places = stablehlo.iota dim = 0 : tensor<9xi64>
  %0, %1 = "stablehlo.sort"(%x, %places) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i64>, %j: tensor<i64>):
    %first = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<9xf32>, tensor<9xi64>) -> (tensor<9xf32>, tensor<9xi64>)
  %2, %3 = "stablehlo.sort"(%y, %places) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %i: tensor<i64>, %j: tensor<i64>):
    %first = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<9xi64>, tensor<9xi64>) -> (tensor<9xi64>, tensor<9xi64>)
  %4, %5 = "stablehlo.sort"(%z, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %i: tensor<i64>, %j: tensor<i64>):
    %first = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<9xi32>, tensor<9xi64>) -> (tensor<9xi32>, tensor<9xi64>)
  return %0, %2, %5 : tensor<9xf32>, tensor<9xi64>, tensor<9xi64>
}
