// RUN: torch2mlir-opt %s -extend-bfloat16-by-bits | filecheck %s

// CHECK-LABEL: func.func @scalars(
// CHECK:         [[ROUNDED:%.*]] = arith.truncf %x : f32 to bf16
// CHECK-NEXT:    [[BITS:%.*]] = arith.bitcast [[ROUNDED]] : bf16 to i16
// CHECK-NEXT:    [[WIDE:%.*]] = arith.extui [[BITS]] : i16 to i32
// CHECK-NEXT:    [[PLACES:%.*]] = arith.constant 16 : i32
// CHECK-NEXT:    [[UPPER:%.*]] = arith.shli [[WIDE]], [[PLACES]] : i32
// CHECK-NEXT:    [[NUMBER:%.*]] = arith.bitcast [[UPPER]] : i32 to f32
// CHECK-NEXT:    func.return [[NUMBER]]
func.func @scalars(%x: f32) -> f32 {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.extf %0 : bf16 to f32
  func.return %1 : f32
}

// CHECK-LABEL: func.func @tensors(
// CHECK:         tosa.cast
// CHECK:         tensor.dim
// CHECK:         linalg.generic
// CHECK:         arith.shli
// CHECK-NOT:     tosa.cast
func.func @tensors(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tosa.cast %x : (tensor<?xf32>) -> tensor<?xbf16>
  %1 = tosa.cast %0 : (tensor<?xbf16>) -> tensor<?xf32>
  func.return %1 : tensor<?xf32>
}
