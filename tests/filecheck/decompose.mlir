// RUN: torch2mlir-opt -p torch-decompose-complex-ops %s | filecheck %s
// RUN: torch2mlir-opt -p torch-decompose-complex-ops{legal-ops=aten.silu} %s | filecheck %s --check-prefix=KEPT

// CHECK-LABEL: func.func @silu
// KEPT-LABEL: func.func @silu
func.func @silu(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // CHECK: %[[S:.*]] = torch.aten.sigmoid %x
  // CHECK-NEXT: %[[M:.*]] = torch.aten.mul.Tensor %x, %[[S]]
  // CHECK-NEXT: return %[[M]]
  // KEPT: torch.aten.silu %x
  %0 = torch.aten.silu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// Core ops stay.
// CHECK-LABEL: func.func @core
func.func @core(%x: !torch.vtensor<[2,3],f32>, %w: !torch.vtensor<[4,3],f32>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[2,4],f32> {
  // CHECK-NEXT: torch.aten.linear %x, %w, %b
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// A list of results: the list and its unpacking disappear.
// CHECK-LABEL: func.func @chunk
func.func @chunk(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) {
  // CHECK: %[[A:.*]] = torch.aten.slice.Tensor %x
  // CHECK: %[[B:.*]] = torch.aten.slice.Tensor %x
  // CHECK-NOT: ListUnpack
  // CHECK: return %[[A]], %[[B]]
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %0 = torch.aten.chunk %x, %two, %zero : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[2],f32>>
  %1, %2 = torch.prim.ListUnpack %0 : !torch.list<vtensor<[2],f32>> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  return %1, %2 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
}

// A reduction of everything is one over all dimensions.
// CHECK-LABEL: func.func @mean_of_all
func.func @mean_of_all(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[],f32> {
  // CHECK: torch.aten.mean.dim %x, {{.*}} -> !torch.vtensor<[],f32>
  %none = torch.constant.none
  %0 = torch.aten.mean %x, %none : !torch.vtensor<[2,3],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// Integers promote before a function whose result is a float.
// CHECK-LABEL: func.func @softmax_of_integers
func.func @softmax_of_integers(%x: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],f32> {
  // CHECK-NOT: torch.aten.softmax
  // CHECK: torch.prims.convert_element_type %x
  // CHECK: torch.aten.exp
  %zero = torch.constant.int 0
  %f32 = torch.constant.int 6
  %0 = torch.aten.softmax.int %x, %zero, %f32 : !torch.vtensor<[4],si64>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
