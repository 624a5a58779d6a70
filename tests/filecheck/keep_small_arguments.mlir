// RUN: torch2mlir-opt -p keep-small-arguments %s | filecheck %s

// A function whose result is its argument, where that is small.
// CHECK-LABEL: func.func @linalg_or_math(
// CHECK:         [[SIZE:%.*]] = math.absf %a
// CHECK:         [[SMALL:%.*]] = arith.cmpf ole, [[SIZE]]
// CHECK:         [[SIN:%.*]] = math.sin %a
// CHECK:         [[CHOSEN:%.*]] = arith.select [[SMALL]], %a, [[SIN]]
// CHECK:         linalg.yield [[CHOSEN]]
func.func @linalg_or_math(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.sin %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @tosa(
// CHECK:         [[HELD:%.*]] = tosa.clamp %x
// CHECK:         [[SMALL:%.*]] = tosa.equal [[HELD]], %x
// CHECK:         [[SIN:%.*]] = tosa.sin %x
// CHECK:         tosa.select [[SMALL]], %x, [[SIN]]
func.func @tosa(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @stablehlo(
// CHECK:         [[HELD:%.*]] = stablehlo.clamp
// CHECK:         [[SMALL:%.*]] = stablehlo.compare EQ, [[HELD]], %x
// CHECK:         [[SIN:%.*]] = stablehlo.sine %x
// CHECK:         stablehlo.select [[SMALL]], %x, [[SIN]]
func.func @stablehlo(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The cosine of a small number is 1.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    %0 = stablehlo.cosine %x
// CHECK-NEXT:    func.return %0
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
