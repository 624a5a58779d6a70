// RUN: torch2mlir-opt -p tosa-hits-to-scatters %s | filecheck %s

// A loop over the indices of all lines, each combined with the row it points to.
// CHECK-LABEL: func.func @pointed
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.*}} : tensor<65x1xi32> to tensor<1x1xi32>
// CHECK-NOT: tosa.reduce_any
// CHECK: return
func.func @pointed(%index: tensor<1x1x300xi32>) -> tensor<1x64x1xi1> {
  %places = "tosa.const"() <{values = dense<[[[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [13], [14], [15], [16], [17], [18], [19], [20], [21], [22], [23], [24], [25], [26], [27], [28], [29], [30], [31], [32], [33], [34], [35], [36], [37], [38], [39], [40], [41], [42], [43], [44], [45], [46], [47], [48], [49], [50], [51], [52], [53], [54], [55], [56], [57], [58], [59], [60], [61], [62], [63]]]> : tensor<1x64x1xi32>}> : () -> tensor<1x64x1xi32>
  %hits = tosa.equal %places, %index : (tensor<1x64x1xi32>, tensor<1x1x300xi32>) -> tensor<1x64x300xi1>
  %0 = tosa.reduce_any %hits {axis = 2 : i32} : (tensor<1x64x300xi1>) -> tensor<1x64x1xi1>
  return %0 : tensor<1x64x1xi1>
}

// A few comparisons are faster.
// CHECK-LABEL: func.func @few
// CHECK: tosa.reduce_any
func.func @few(%index: tensor<1x1x300xi32>) -> tensor<1x3x1xi1> {
  %places = "tosa.const"() <{values = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi32>}> : () -> tensor<1x3x1xi32>
  %hits = tosa.equal %places, %index : (tensor<1x3x1xi32>, tensor<1x1x300xi32>) -> tensor<1x3x300xi1>
  %0 = tosa.reduce_any %hits {axis = 2 : i32} : (tensor<1x3x300xi1>) -> tensor<1x3x1xi1>
  return %0 : tensor<1x3x1xi1>
}
