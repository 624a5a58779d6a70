// RUN: torch2mlir-opt -p 'prepare-weights{arguments=1,2,3}' -split-input-file %s | filecheck %s
// RUN: torch2mlir-opt -p 'prepare-weights{arguments=1,2,3 small=0}' -split-input-file %s | filecheck %s --check-prefix=TIGHT

// A norm's scale is prepared; the weight that is used as it is stays an argument, the broadcast stays at its use.
// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[RAW:.*]]: tensor<8xf32>, %[[SCALE:.*]]: tensor<8xf32>)
// CHECK-NEXT: broadcast_in_dim %[[SCALE]]
// CHECK-NEXT: broadcast_in_dim %[[RAW]]
// CHECK-NOT: rsqrt
// CHECK-LABEL: func.func @scale_prepare
// CHECK-SAME: (%[[MEAN:.*]]: tensor<8xf32>, %[[VAR:.*]]: tensor<8xf32>) -> tensor<8xf32>
// CHECK: rsqrt %[[VAR]]
// CHECK-NEXT: %[[R:.*]] = stablehlo.multiply
// CHECK-NEXT: return %[[R]]
func.func @scale(%x: tensor<4x8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>, %raw: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.rsqrt %var : tensor<8xf32>
  %1 = stablehlo.multiply %0, %mean : tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.broadcast_in_dim %raw, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %4 = stablehlo.multiply %x, %2 : tensor<4x8xf32>
  %5 = stablehlo.add %4, %3 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// A dequantized weight takes four times the memory: only small ones are prepared, of the others what is as small.
// CHECK-LABEL: func.func @dequantize
// CHECK-NOT: convert
// CHECK: func.func @dequantize_prepare
// TIGHT-LABEL: func.func @dequantize(
// TIGHT-SAME: %[[Q:[a-z0-9]+]]: tensor<8x8xi8>, %{{.*}}: tensor<f32>)
// TIGHT: convert %[[Q]]
// TIGHT: func.func @dequantize_prepare(%{{.*}}: tensor<f32>) -> tensor<f32>
func.func @dequantize(%x: tensor<4x8xf32>, %q: tensor<8x8xi8>, %scale: tensor<f32>, %unused: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.convert %q : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %1 = stablehlo.abs %scale : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<8x8xf32>
  %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// Views, iotas and numbers are nothing to prepare; a table made of them is, if it is small.
// CHECK-LABEL: func.func @table
// CHECK-NOT: cosine
// CHECK: func.func @table_prepare() -> tensor<4x8xf32>
// CHECK: cosine
// TIGHT-LABEL: func.func @table
// TIGHT: cosine
// TIGHT-NOT: @table_prepare
func.func @table(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %1: tensor<f32>, %2: tensor<f32>) -> tensor<4x8xf32> {
  %first = stablehlo.slice %w [0:4, 0:8] : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %position = stablehlo.iota dim = 0 : tensor<4x8xf32>
  %angle = stablehlo.cosine %position : tensor<4x8xf32>
  %a = stablehlo.add %x, %first : tensor<4x8xf32>
  %b = stablehlo.multiply %a, %angle : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// An op with a region that uses a prepared value moves with it; random numbers and branches stay where they are.
// CHECK-LABEL: func.func @regions
// CHECK-SAME: (%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[SUM:.*]]: tensor<f32>)
// CHECK-NOT: stablehlo.reduce
// CHECK: stablehlo.rng
// CHECK: func.func @regions_prepare(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.reduce
func.func @regions(%x: tensor<4xf32>, %w: tensor<4xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<4xf32> {
  %sum = stablehlo.reduce(%w init: %low) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %noise = "stablehlo.rng"(%low, %high, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.add %noise, %0 : tensor<4xf32>
  %2 = stablehlo.add %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Linalg computes into empty tensors, which each side makes for itself.
// CHECK-LABEL: func.func @linalg
// CHECK-SAME: (%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: linalg.matmul
// CHECK: func.func @linalg_prepare(%{{.*}}: tensor<16x8xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.transpose
func.func @linalg(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %1: tensor<f32>, %2: tensor<f32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %t = linalg.transpose ins(%w : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = linalg.matmul ins(%x, %t : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
