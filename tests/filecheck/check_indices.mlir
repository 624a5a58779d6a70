// RUN: torch2mlir-opt -p torch-check-indices %s | filecheck %s

// Indices that a caller gives are said to be in range.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    torch.preconditions = [{argument = 1 : i64, lowest = 0 : i64, highest = 9 : i64
// CHECK-NOT:     torch.aten.clamp
// CHECK:         torch.aten.index_select %x, {{%.*}}, %i
func.func @given(%x: !torch.vtensor<[10,3],f32>, %i: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4,3],f32> {
  %c0 = torch.constant.int 0
  %0 = torch.aten.index_select %x, %c0, %i : !torch.vtensor<[10,3],f32>, !torch.int, !torch.vtensor<[4],si64> -> !torch.vtensor<[4,3],f32>
  return %0 : !torch.vtensor<[4,3],f32>
}

// Others are held inside, the op takes these, and that they were is asserted; once for views of them.
// CHECK-LABEL: func.func @computed(
// CHECK:         [[I:%.*]] = torch.aten.neg %i
// CHECK:         [[HELD:%.*]] = torch.aten.clamp [[I]]
// CHECK:         [[SAME:%.*]] = torch.aten.eq.Tensor [[HELD]], [[I]]
// CHECK:         [[ALL:%.*]] = torch.aten.all [[SAME]]
// CHECK:         [[OK:%.*]] = torch.aten.Bool.Tensor [[ALL]]
// CHECK:         torch.runtime.assert [[OK]], "an index of aten.index_select is out of range: it takes 0 to 9
// CHECK:         torch.aten.index_select %x, {{%.*}}, [[HELD]]
// CHECK:         [[VIEW:%.*]] = torch.aten.unsqueeze [[HELD]]
// CHECK:         torch.aten.gather %x, {{%.*}}, [[VIEW]]
// CHECK-NOT:     torch.runtime.assert
func.func @computed(%x: !torch.vtensor<[10,3],f32>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,1],f32>) {
  %c0 = torch.constant.int 0
  %c1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.neg %i : !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
  %1 = torch.aten.index_select %x, %c0, %0 : !torch.vtensor<[10,3],f32>, !torch.int, !torch.vtensor<[4],si64> -> !torch.vtensor<[4,3],f32>
  %2 = torch.aten.unsqueeze %0, %c1 : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4,1],si64>
  %3 = torch.aten.gather %x, %c0, %2, %false : !torch.vtensor<[10,3],f32>, !torch.int, !torch.vtensor<[4,1],si64>, !torch.bool -> !torch.vtensor<[4,1],f32>
  return %1, %3 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,1],f32>
}

// Positions that the program has found are in range.
// CHECK-LABEL: func.func @found(
// CHECK-NOT:     torch.preconditions
// CHECK-NOT:     torch.runtime.assert
// CHECK:         return
func.func @found(%x: !torch.vtensor<[10,3],f32>) -> !torch.vtensor<[3,3],f32> {
  %c0 = torch.constant.int 0
  %false = torch.constant.bool false
  %0 = torch.aten.argmax %x, %c0, %false : !torch.vtensor<[10,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3],si64>
  %1 = torch.aten.index_select %x, %c0, %0 : !torch.vtensor<[10,3],f32>, !torch.int, !torch.vtensor<[3],si64> -> !torch.vtensor<[3,3],f32>
  return %1 : !torch.vtensor<[3,3],f32>
}
