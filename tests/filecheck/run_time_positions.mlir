// RUN: torch2mlir-opt -p torch-run-time-positions,torch-canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @select
func.func @select(%x: !torch.vtensor<[5,3],f32>, %i: !torch.vtensor<[],si64>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[I:.*]] = torch.aten.item %i
  // CHECK: %[[FULL:.*]] = torch.aten.full
  // CHECK: %[[PLACE:.*]] = torch.aten.remainder.Scalar %[[FULL]]
  // CHECK: %[[ROW:.*]] = torch.aten.index_select %x, %{{.*}}, %[[PLACE]] {{.*}} -> !torch.vtensor<[1,3],f32>
  // CHECK: torch.aten.squeeze.dim %[[ROW]]
  %0 = torch.aten.item %i : !torch.vtensor<[],si64> -> !torch.int
  %1 = torch.constant.int 0
  %2 = torch.aten.select.int %x, %1, %0 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  return %2 : !torch.vtensor<[3],f32>
}

// A position that is known stays as it is.
// CHECK-LABEL: func.func @known
func.func @known(%x: !torch.vtensor<[5,3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: torch.aten.select.int
  // CHECK-NOT: index_select
  %0 = torch.constant.int 0
  %1 = torch.aten.select.int %x, %0, %0 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  return %1 : !torch.vtensor<[3],f32>
}
