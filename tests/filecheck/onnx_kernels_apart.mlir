// RUN: torch2mlir-opt -p onnx-kernels-apart %s | filecheck %s

// CHECK-LABEL: func.func @tied(
// CHECK:         [[CODE:%.*]] = "onnx.MatMul"(%x, %m)
// CHECK:         [[TURNED:%.*]] = "onnx.Transpose"(%m)
// CHECK:         [[HALF:%.*]] = "onnx.Mul"([[CODE]], {{.*}}
// CHECK:         [[TWICE:%.*]] = "onnx.Mul"([[TURNED]], {{.*}}
// CHECK:         [[HELD:%.*]] = "onnx.Max"([[HALF]], [[HALF]])
// CHECK:         "onnx.MatMul"([[HELD]], [[TWICE]])
func.func @tied(%x: tensor<?x4xf32>, %m: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %0 = "onnx.MatMul"(%x, %m) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = "onnx.Transpose"(%m) <{perm = [1, 0]}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "onnx.MatMul"(%0, %1) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// The same way, whoever reads, and a matrix that is not square.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT:     onnx.Mul"
// CHECK:         return
func.func @apart(%x: tensor<?x4xf32>, %m: tensor<4x4xf32>, %n: tensor<4x5xf32>) -> tensor<?x4xf32> {
  %0 = "onnx.MatMul"(%x, %m) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = "onnx.MatMul"(%0, %m) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = "onnx.MatMul"(%1, %n) : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %3 = "onnx.Transpose"(%n) <{perm = [1, 0]}> : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %4 = "onnx.MatMul"(%2, %3) : (tensor<?x5xf32>, tensor<5x4xf32>) -> tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}
