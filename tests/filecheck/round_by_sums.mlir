// RUN: torch2mlir-opt %s -round-by-sums | filecheck %s

// CHECK-LABEL: func.func @single(
// CHECK:         [[BOUND:%.*]] = arith.constant 0x4B000000 : f32
// CHECK:         [[SIZE:%.*]] = math.absf %x : f32
// CHECK:         [[SUM:%.*]] = arith.addf [[SIZE]], [[BOUND]] : f32
// CHECK:         [[ROUNDED:%.*]] = arith.subf [[SUM]], [[BOUND]] : f32
// CHECK:         arith.cmpf olt, [[SIZE]], [[BOUND]] : f32
// CHECK:         [[CHOSEN:%.*]] = arith.select {{.*}}, [[ROUNDED]], [[SIZE]] : f32
// CHECK:         math.copysign [[CHOSEN]], %x : f32
func.func @single(%x: f32) -> f32 {
  %0 = math.roundeven %x : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @double(
// CHECK:         math.roundeven
func.func @double(%x: f64) -> f64 {
  %0 = math.roundeven %x : f64
  func.return %0 : f64
}
