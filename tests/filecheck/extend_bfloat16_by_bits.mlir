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

// IREE extends what it compares by itself.
// CHECK-LABEL: func.func @compared(
// CHECK:         arith.shli
// CHECK:         arith.shli
// CHECK:         arith.cmpf oeq, {{.*}} : f32
func.func @compared(%x: f32, %y: bf16) -> i1 {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.cmpf oeq, %0, %y : bf16
  func.return %1 : i1
}

// CHECK-LABEL: func.func @summed(
// CHECK:         [[SUM:%.*]] = tosa.add {{.*}} -> tensor<4xf32>
// CHECK:         tosa.cast [[SUM]] : (tensor<4xf32>) -> tensor<4xbf16>
func.func @summed(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = tosa.add %x, %y : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  func.return %0 : tensor<4xbf16>
}

// How a reduction combines two elements stays.
// CHECK-LABEL: func.func @reduced(
// CHECK:         stablehlo.multiply {{.*}} : tensor<4xf32>
// CHECK:         applies stablehlo.add across dimensions
func.func @reduced(%x: tensor<4xbf16>) -> tensor<bf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.multiply %x, %x : tensor<4xbf16>
  %1 = "stablehlo.reduce"(%0, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %2 = stablehlo.add %a, %b : tensor<bf16>
    "stablehlo.return"(%2) : (tensor<bf16>) -> ()
  }) : (tensor<4xbf16>, tensor<bf16>) -> tensor<bf16>
  func.return %1 : tensor<bf16>
}
