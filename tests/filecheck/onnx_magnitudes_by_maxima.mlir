// RUN: torch2mlir-opt -p onnx-magnitudes-by-maxima %s | filecheck %s

// CHECK-LABEL: func.func @of_joined(
// CHECK:         [[JOINED:%.*]] = "onnx.Concat"
// CHECK:         [[NEGATIVE:%.*]] = "onnx.Neg"([[JOINED]])
// CHECK:         [[LARGER:%.*]] = "onnx.Max"([[JOINED]], [[NEGATIVE]])
// CHECK:         [[MAGNITUDE:%.*]] = "onnx.Abs"([[LARGER]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK:         "onnx.Sub"([[MAGNITUDE]], [[JOINED]])
func.func @of_joined(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "onnx.Concat"(%x, %y) <{axis = 0 : si64}> : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = "onnx.Abs"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = "onnx.Sub"(%1, %0) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
