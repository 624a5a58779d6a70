// RUN: torch2mlir-opt %s -divisions-that-do-not-trap | filecheck %s

#line = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @divided(
// CHECK:         linalg.generic
// CHECK:         [[IS_ZERO:%.*]] = arith.cmpi eq, [[Y:%.*]], %{{.*}} : i64
// CHECK:         [[NOT_ZERO:%.*]] = arith.select [[IS_ZERO]], %{{.*}}, [[Y]] : i64
// CHECK:         [[SAFE:%.*]] = arith.select %{{.*}}, %{{.*}}, [[NOT_ZERO]] : i64
// CHECK:         arith.divsi [[X:%.*]], [[SAFE]] : i64
// CHECK:         linalg.yield
func.func @divided(%x: tensor<?xi64>, %y: tensor<?xi64>, %z: tensor<?xi64>) -> tensor<?xi64> {
  %0 = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi64>, tensor<?xi64>) outs(%z : tensor<?xi64>) {
  ^bb0(%a: i64, %b: i64, %c: i64):
    %1 = arith.divsi %a, %b : i64
    linalg.yield %1 : i64
  } -> tensor<?xi64>
  func.return %0 : tensor<?xi64>
}

// CHECK-LABEL: func.func @by_three(
// CHECK-NOT:     arith.select
// CHECK:         arith.remsi
// CHECK-NOT:     arith.select
func.func @by_three(%x: tensor<?xi64>, %z: tensor<?xi64>) -> tensor<?xi64> {
  %three = arith.constant 3 : i64
  %0 = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi64>) outs(%z : tensor<?xi64>) {
  ^bb0(%a: i64, %c: i64):
    %1 = arith.remsi %a, %three : i64
    linalg.yield %1 : i64
  } -> tensor<?xi64>
  func.return %0 : tensor<?xi64>
}
