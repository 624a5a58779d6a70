// RUN: torch2mlir-opt %s -erf-of-doubles | filecheck %s

// CHECK-LABEL: func.func @scalar(
// CHECK-NOT:     math.erf
// CHECK:         math.exp
// CHECK:         [[OUTER:%.*]] = math.copysign {{.*}}, %x : f64
// CHECK:         arith.select {{.*}}, [[OUTER]]
func.func @scalar(%x: f64) -> f64 {
  %0 = math.erf %x : f64
  func.return %0 : f64
}

// CHECK-LABEL: func.func @tensor(
// CHECK:         linalg.generic
// CHECK-NOT:     chlo.erf
func.func @tensor(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = chlo.erf %x : tensor<?xf64> -> tensor<?xf64>
  func.return %0 : tensor<?xf64>
}

// CHECK-LABEL: func.func @right_already(
// CHECK:         math.erf %x : f32
func.func @right_already(%x: f32) -> f32 {
  %0 = math.erf %x : f32
  func.return %0 : f32
}
