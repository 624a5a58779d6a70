// RUN: torch2mlir-opt -p torch-canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @same_view
func.func @same_view(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK-NOT: torch.aten.view
  // CHECK: return %x
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %two, %three : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.view %x, %sizes : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// Nothing between them: the first view goes, and the second reads the argument.
// CHECK-LABEL: func.func @view_of_view
func.func @view_of_view(%x: !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[4,3],f32> {
  // CHECK: %[[SIZES:.*]] = torch.prim.ListConstruct
  // CHECK-NEXT: %[[VIEW:.*]] = torch.aten.view %x, %[[SIZES]] : !torch.vtensor<[2,6],f32>
  // CHECK-NEXT: return %[[VIEW]]
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %flat = torch.constant.int -1
  %0 = torch.prim.ListConstruct %flat : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.view %x, %0 : !torch.vtensor<[2,6],f32>, !torch.list<int> -> !torch.vtensor<[12],f32>
  %2 = torch.prim.ListConstruct %four, %three : (!torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.view %1, %2 : !torch.vtensor<[12],f32>, !torch.list<int> -> !torch.vtensor<[4,3],f32>
  return %3 : !torch.vtensor<[4,3],f32>
}

// CHECK-LABEL: func.func @identity_permutation
func.func @identity_permutation(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  // CHECK-NOT: torch.aten.permute
  // CHECK: return %x
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %order = torch.prim.ListConstruct %zero, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.permute %x, %order : !torch.vtensor<[2,2],f32>, !torch.list<int> -> !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}

// Equal types are not enough: the elements move.
// CHECK-LABEL: func.func @square_transpose
func.func @square_transpose(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  // CHECK: torch.aten.permute
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.permute %x, %order : !torch.vtensor<[2,2],f32>, !torch.list<int> -> !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}

// CHECK-LABEL: func.func @whole_slice
func.func @whole_slice(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // CHECK-NOT: torch.aten.slice
  // CHECK: return %x
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %end = torch.constant.int 9223372036854775807
  %0 = torch.aten.slice.Tensor %x, %zero, %zero, %end, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// A `?` that meets a `?` is not known to be the same size.
// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  // CHECK: torch.aten.slice.Tensor
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %end = torch.constant.int 9223372036854775807
  %0 = torch.aten.slice.Tensor %x, %zero, %one, %end, %one : !torch.vtensor<[?],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// CHECK-LABEL: func.func @unused
func.func @unused(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // CHECK-NEXT: return %x
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.sin %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %x : !torch.vtensor<[4],f32>
}

// What writes is used by everybody.
// CHECK-LABEL: func.func @written
func.func @written(%x: !torch.tensor<[4],f32>) -> !torch.tensor<[4],f32> {
  // CHECK-NEXT: torch.aten.relu_ %x
  %0 = torch.aten.relu_ %x : !torch.tensor<[4],f32> -> !torch.tensor<[4],f32>
  return %x : !torch.tensor<[4],f32>
}

// There and back again.
// CHECK-LABEL: func.func @permutation_undone
func.func @permutation_undone(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32> {
  // CHECK-NOT: torch.aten.permute
  // CHECK: return %x
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %last = torch.constant.int -1
  %0 = torch.prim.ListConstruct %last, %zero, %one : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.permute %x, %0 : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %2 = torch.prim.ListConstruct %one, %two, %zero : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %3 = torch.aten.permute %1, %2 : !torch.vtensor<[4,2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3,4],f32>
  return %3 : !torch.vtensor<[2,3,4],f32>
}

// CHECK-LABEL: func.func @computed_twice
func.func @computed_twice(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[EXP:.*]] = torch.aten.exp %x
  // CHECK-NEXT: %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[EXP]], %[[EXP]]
  // CHECK-NEXT: return %[[PRODUCT]]
  %0 = torch.aten.exp %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  %1 = torch.aten.exp %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  %2 = torch.aten.mul.Tensor %0, %1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %2 : !torch.vtensor<[3],f32>
}

// Two draws are not one.
// CHECK-LABEL: func.func @drawn_twice
func.func @drawn_twice(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  // CHECK-COUNT-2: torch.aten.rand_like
  %none = torch.constant.none
  %0 = torch.aten.rand_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[3],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  %1 = torch.aten.rand_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[3],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  return %0, %1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @shapes_that_stay
// CHECK-NEXT:    func.return %x, %x
func.func @shapes_that_stay(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) {
  %0 = torch.constant.int 0
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %2, %3 : (!torch.int, !torch.int) -> !torch.list<int>
  %a = torch.aten.broadcast_to %x, %sizes : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  %b = torch.aten.squeeze.dim %a, %0 : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  %c = torch.aten.transpose.int %b, %0, %0 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %alone = torch.prim.ListConstruct %x : (!torch.vtensor<[2,3],f32>) -> !torch.list<vtensor>
  %d = torch.aten.cat %alone, %0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,3],f32>
  return %c, %d : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @forgotten_and_back
// CHECK-NEXT:    %[[R:.*]] = torch.aten.relu %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
// CHECK-NEXT:    func.return %x, %[[R]]
func.func @forgotten_and_back(%x: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) {
  %0 = torch.tensor_static_info_cast %x : !torch.vtensor<[2],f32> to !torch.vtensor
  %1 = torch.tensor_static_info_cast %0 : !torch.vtensor to !torch.vtensor<[2],f32>
  %2 = torch.aten.relu %0 : !torch.vtensor -> !torch.vtensor<[2],f32>
  return %1, %2 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
}
