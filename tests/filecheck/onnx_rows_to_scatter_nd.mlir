// RUN: torch2mlir-opt -p onnx-rows-to-scatter-nd %s | filecheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     onnx.ScatterElements
// CHECK:         "onnx.ScatterND"(%x, %rows, %updates) <{reduction = "add"}>
func.func @rows(%x: tensor<5x3xf32>, %rows: tensor<4x1xi64>, %updates: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %sizes = "onnx.Constant"() <{value = dense<[4, 3]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %places = "onnx.Expand"(%rows, %sizes) : (tensor<4x1xi64>, tensor<2xi64>) -> tensor<4x3xi64>
  %0 = "onnx.ScatterElements"(%x, %places, %updates) <{axis = 0 : si64, reduction = "add"}> : (tensor<5x3xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// Along the other dimension, and of elements with places of their own.
// CHECK-LABEL: func.func @elements(
// CHECK-NOT:     onnx.ScatterND
func.func @elements(%x: tensor<5x3xf32>, %rows: tensor<4x1xi64>, %own: tensor<4x3xi64>, %updates: tensor<4x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %sizes = "onnx.Constant"() <{value = dense<[4, 3]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %places = "onnx.Expand"(%rows, %sizes) : (tensor<4x1xi64>, tensor<2xi64>) -> tensor<4x3xi64>
  %0 = "onnx.ScatterElements"(%x, %places, %updates) <{axis = 1 : si64, reduction = "add"}> : (tensor<5x3xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %1 = "onnx.ScatterElements"(%x, %own, %updates) <{axis = 0 : si64, reduction = "add"}> : (tensor<5x3xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
