// RUN: torch2mlir-opt %s -reduce-angles | filecheck %s

// CHECK-LABEL: func.func @sine(
// CHECK:         [[WIDE:%.*]] = arith.extf %x : f32 to f64
// CHECK:         [[WHOLE:%.*]] = math.roundeven
// CHECK:         [[BACK:%.*]] = arith.negf [[WHOLE]]
// CHECK:         math.fma [[BACK]], {{.*}}, [[WIDE]] : f64
// CHECK:         math.fma [[BACK]]
// CHECK-NOT:     math.sin
// CHECK:         [[SINE:%.*]] = arith.truncf {{.*}} : f64 to f32
// CHECK:         [[TURNED:%.*]] = arith.negf [[SINE]]
// CHECK-NEXT:    arith.select {{.*}}, [[TURNED]], [[SINE]]
func.func @sine(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @tensor(
// CHECK:         tensor.dim %x
// CHECK:         linalg.generic
// CHECK-NOT:     tosa.cos
func.func @tensor(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tosa.cos %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @right_already(
// CHECK:         math.cos %x : f64
func.func @right_already(%x: f64) -> f64 {
  %0 = math.cos %x : f64
  func.return %0 : f64
}
