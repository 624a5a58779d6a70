// RUN: torch2mlir-opt --split-input-file -p torch-recompose-complex-ops,torch-canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @write_into_a_slice
// CHECK:         %[[PART:.*]] = torch.aten.slice.Tensor %x
// CHECK-NEXT:    %[[NEW:.*]] = torch.aten.copy %[[PART]], %y
// CHECK-NEXT:    %[[WHOLE:.*]] = torch.aten.slice_scatter %x, %[[NEW]]
// CHECK-NEXT:    torch.aten.copy_ %x, %[[WHOLE]]
func.func @write_into_a_slice(%x: !torch.tensor<[4,3],f32>, %y: !torch.tensor<[2,3],f32>) -> !torch.tensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int3 = torch.constant.int 3
  %false = torch.constant.bool false
  %0 = torch.aten.slice.Tensor %x, %int0, %int1, %int3, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2,3],f32>
  %1 = torch.aten.copy_ %0, %y, %false : !torch.tensor<[2,3],f32>, !torch.tensor<[2,3],f32>, !torch.bool -> !torch.tensor<[2,3],f32>
  return %x : !torch.tensor<[4,3],f32>
}

// -----

// CHECK-LABEL: func.func @fill_a_row
// CHECK:         torch.aten.fill.Scalar
// CHECK-NEXT:    torch.aten.select_scatter
// CHECK:         torch.aten.copy_ %x
func.func @fill_a_row(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[4,3],f32> {
  %int0 = torch.constant.int 0
  %f = torch.constant.float 2.0
  %0 = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %1 = torch.aten.fill_.Scalar %0, %f : !torch.tensor<[3],f32>, !torch.float -> !torch.tensor<[3],f32>
  return %x : !torch.tensor<[4,3],f32>
}

// -----

// CHECK-LABEL: func.func @rows
// CHECK-NOT:     unbind
// CHECK:         %[[A:.*]] = torch.aten.select.int %x
// CHECK:         %[[B:.*]] = torch.aten.select.int %x
// CHECK:         func.return %[[B]], %[[A]]
func.func @rows(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %l = torch.aten.unbind.int %x, %int0 : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.list<vtensor>
  %a, %b = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
  %c = torch.aten.__getitem__.t %l, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[3],f32>
  return %c, %a : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK-DAG:     torch.aten.slice.Tensor %x{{.*}} -> !torch.vtensor<[2,3],f32>
// CHECK-DAG:     torch.aten.slice.Tensor %x{{.*}} -> !torch.vtensor<[1,3],f32>
// CHECK-DAG:     torch.aten.slice.Tensor %x{{.*}} -> !torch.vtensor<[3,3],f32>
func.func @parts(%x: !torch.vtensor<[5,3],f32>) -> (!torch.vtensor, !torch.vtensor, !torch.vtensor) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %a, %b, %c = torch.prim.ListUnpack %l : !torch.list<vtensor> -> !torch.vtensor, !torch.vtensor, !torch.vtensor
  %m = torch.aten.chunk %x, %int2, %int0 : !torch.vtensor<[5,3],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %d = torch.aten.__getitem__.t %m, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor
  return %a, %c, %d : !torch.vtensor, !torch.vtensor, !torch.vtensor
}

// -----

// Rows of a tensor whose size is not known stay a list.
// CHECK-LABEL: func.func @unknown_number_of_rows
// CHECK:         torch.aten.unbind.int
func.func @unknown_number_of_rows(%x: !torch.vtensor<[?,3],f32>) -> !torch.list<vtensor> {
  %int0 = torch.constant.int 0
  %l = torch.aten.unbind.int %x, %int0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.list<vtensor>
  return %l : !torch.list<vtensor>
}

// -----

// A row at a number that is not known, and how many rows there are.
// CHECK-LABEL: func.func @row_of_unknown_number
// CHECK-DAG:     torch.aten.select.int %x, %int0, %i
// CHECK-DAG:     torch.aten.size.int %x, %int0
// CHECK-NOT:     unbind
func.func @row_of_unknown_number(%x: !torch.vtensor<[?,3],f32>, %i: !torch.int) -> (!torch.vtensor, !torch.int) {
  %int0 = torch.constant.int 0
  %l = torch.aten.unbind.int %x, %int0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.list<vtensor>
  %r = torch.aten.__getitem__.t %l, %i : !torch.list<vtensor>, !torch.int -> !torch.vtensor
  %n = torch.aten.len.t %l : !torch.list<vtensor> -> !torch.int
  return %r, %n : !torch.vtensor, !torch.int
}
