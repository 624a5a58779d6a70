// RUN: torch2mlir-opt %s -torch-bools-to-integers | filecheck %s
// RUN: torch2mlir-opt %s -torch-bools-to-integers -torch-integers-to-bools -torch-canonicalize | filecheck %s --check-prefix=BACK

// CHECK-LABEL: func.func @mask(
// CHECK:         [[TRUE:%.*]] = torch.constant.bool true
// CHECK:         [[ONE:%.*]] = torch.aten.Int.bool [[TRUE]] : !torch.bool -> !torch.int
// CHECK:         torch.aten.bitwise_and.Scalar %x, [[ONE]]
// BACK-LABEL:  func.func @mask(
// BACK:          [[TRUE:%.*]] = torch.constant.bool true
// BACK-NOT:      torch.aten.Int.bool
// BACK:          torch.aten.bitwise_and.Scalar %x, [[TRUE]]
func.func @mask(%x: !torch.vtensor<[2],i1>) -> !torch.vtensor<[2],i1> {
  %true = torch.constant.bool true
  %0 = torch.aten.bitwise_and.Scalar %x, %true : !torch.vtensor<[2],i1>, !torch.bool -> !torch.vtensor<[2],i1>
  func.return %0 : !torch.vtensor<[2],i1>
}

// An integer that was meant stays one: the result is of integers.
// CHECK-LABEL: func.func @integers(
// BACK-LABEL:  func.func @integers(
// BACK:          torch.constant.int 1
// BACK-NEXT:     [[ONE:%.*]] = torch.constant.int 1
// BACK-NEXT:     torch.aten.add.Scalar %x, [[ONE]], %int1
func.func @integers(%x: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],si64> {
  %true = torch.constant.bool true
  %int1 = torch.constant.int 1
  %0 = torch.aten.Int.bool %true : !torch.bool -> !torch.int
  %1 = torch.aten.add.Scalar %x, %0, %int1 : !torch.vtensor<[2],si64>, !torch.int, !torch.int -> !torch.vtensor<[2],si64>
  func.return %1 : !torch.vtensor<[2],si64>
}

// What is a bool by the op's schema stays one.
// CHECK-LABEL: func.func @flag(
// CHECK-NOT:     torch.aten.Int.bool
func.func @flag(%x: !torch.vtensor<[2,3],f32>, %dim: !torch.int) -> !torch.vtensor<[2,3],f32> {
  %false = torch.constant.bool false
  %0 = torch.aten._softmax %x, %dim, %false : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2,3],f32>
  func.return %0 : !torch.vtensor<[2,3],f32>
}
