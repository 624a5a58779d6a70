// RUN: torch2mlir-opt %s -integers-to-bfloat16-by-bits | filecheck %s

// CHECK-LABEL: func.func @numbers(
// CHECK:         [[NUMBER:%.*]] = arith.sitofp %x : i64 to f32
// CHECK-NEXT:    [[BITS:%.*]] = arith.bitcast [[NUMBER]] : f32 to i32
// CHECK:         arith.addi
// CHECK:         [[UPPER:%.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK-NEXT:    [[HALF:%.*]] = arith.bitcast [[UPPER]] : i16 to bf16
// CHECK-NEXT:    func.return [[HALF]]
func.func @numbers(%x: i64) -> bf16 {
  %0 = arith.sitofp %x : i64 to bf16
  func.return %0 : bf16
}

// CHECK-LABEL: func.func @by_way_of_a_float(
// CHECK:         [[NUMBERS:%.*]] = tosa.cast %x
// CHECK:         linalg.generic
// CHECK-NOT:     tosa.cast
func.func @by_way_of_a_float(%x: tensor<4xi32>) -> tensor<4x1xbf16> {
  %0 = tosa.cast %x : (tensor<4xi32>) -> tensor<4xf32>
  %shape = tosa.const_shape {values = dense<[4, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.reshape %0, %shape : (tensor<4xf32>, !tosa.shape<2>) -> tensor<4x1xf32>
  %2 = tosa.cast %1 : (tensor<4x1xf32>) -> tensor<4x1xbf16>
  func.return %2 : tensor<4x1xbf16>
}

// CHECK-LABEL: func.func @masks(
// CHECK:         stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf32>
// CHECK:         linalg.generic
// CHECK-NOT:     stablehlo.convert
func.func @masks(%x: tensor<4xi1>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xbf16>
  func.return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @floats(
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.truncf
// CHECK-NEXT:    func.return
func.func @floats(%x: f32) -> bf16 {
  %0 = arith.addf %x, %x : f32
  %1 = arith.truncf %0 : f32 to bf16
  func.return %1 : bf16
}
