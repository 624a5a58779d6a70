// RUN: torch2mlir-opt -p torch-known-values %s | filecheck %s

// 10 * 0.7 is 7 in f32, or the float below.
// CHECK-LABEL: func.func @rounded(
// CHECK:         [[KNOWN:%.*]] = torch.vtensor.literal(dense<[0, 7]> : tensor<2xsi64>)
// CHECK:         torch.aten.add.Tensor %x, [[KNOWN]]
func.func @rounded(%x: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],si64> {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %long = torch.constant.int 4
  %end = torch.constant.int 20
  %step = torch.constant.int 10
  %zero = torch.constant.int 0
  %float = torch.constant.int 6
  %number = torch.constant.float 0.69999999999999996
  %0 = torch.aten.arange.start_step %zero, %end, %step, %float, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  %1 = torch.aten.mul.Scalar %0, %number : !torch.vtensor<[2],f32>, !torch.float -> !torch.vtensor<[2],f32>
  %2 = torch.prims.convert_element_type %1, %long : !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],si64>
  %3 = torch.aten.add.Tensor %x, %2, %one : !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2],si64>
  return %3 : !torch.vtensor<[2],si64>
}

// CHECK-LABEL: func.func @exact(
// CHECK-NOT:     torch.vtensor.literal
func.func @exact(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %end = torch.constant.int 2
  %float = torch.constant.int 6
  %zero = torch.constant.int 0
  %0 = torch.aten.arange.start_step %zero, %end, %one, %float, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  %1 = torch.aten.add.Tensor %x, %0, %one : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}

// Doubles keep their digits.
// CHECK-LABEL: func.func @double(
// CHECK:         torch.vtensor.literal(dense<-2.3025850929940455> : tensor<f64>)
func.func @double(%x: !torch.vtensor<[2],f64>) -> !torch.vtensor<[2],f64> {
  %one = torch.constant.int 1
  %0 = torch.vtensor.literal(dense<1.000000e-01> : tensor<f64>) : !torch.vtensor<[],f64>
  %1 = torch.aten.log %0 : !torch.vtensor<[],f64> -> !torch.vtensor<[],f64>
  %2 = torch.aten.add.Tensor %x, %1, %one : !torch.vtensor<[2],f64>, !torch.vtensor<[],f64>, !torch.int -> !torch.vtensor<[2],f64>
  return %2 : !torch.vtensor<[2],f64>
}
