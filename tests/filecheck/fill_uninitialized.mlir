// RUN: torch2mlir-opt --split-input-file -p torch-fill-uninitialized %s | filecheck %s
// Zeros where branches and loops hand on what nobody has put in, if their type says how many.

// CHECK-LABEL: func.func @numbers_and_tensors
// CHECK:         torch.aten.exp
// CHECK:         } else {
// CHECK:         %[[N:.*]] = torch.constant.int 0
// CHECK:         %[[ROWS:.*]] = torch.prim.ListConstruct %{{.*}}, %{{.*}} : (!torch.int, !torch.int)
// CHECK:         %[[ZEROS:.*]] = torch.aten.full %[[ROWS]]
// CHECK:         torch.prim.If.yield %[[N]], %[[ZEROS]]
func.func @numbers_and_tensors(%c: !torch.bool, %n: !torch.int, %x: !torch.vtensor<[2,3],f32>) -> (!torch.int, !torch.vtensor<[2,3],f32>) {
  %r:2 = torch.prim.If %c -> (!torch.int, !torch.vtensor<[2,3],f32>) {
    %e = torch.aten.exp %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
    torch.prim.If.yield %n, %e : !torch.int, !torch.vtensor<[2,3],f32>
  } else {
    %i = torch.prim.Uninitialized : !torch.int
    %u = torch.prim.Uninitialized : !torch.vtensor<[2,3],f32>
    torch.prim.If.yield %i, %u : !torch.int, !torch.vtensor<[2,3],f32>
  }
  return %r#0, %r#1 : !torch.int, !torch.vtensor<[2,3],f32>
}

// -----

// CHECK-LABEL: func.func @unknown_size
// CHECK:         %[[U:.*]] = torch.prim.Uninitialized
// CHECK:         torch.prim.If.yield %[[U]]
func.func @unknown_size(%c: !torch.bool, %x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %r = torch.prim.If %c -> (!torch.vtensor<[?],f32>) {
    torch.prim.If.yield %x : !torch.vtensor<[?],f32>
  } else {
    %u = torch.prim.Uninitialized : !torch.vtensor<[?],f32>
    torch.prim.If.yield %u : !torch.vtensor<[?],f32>
  }
  return %r : !torch.vtensor<[?],f32>
}
