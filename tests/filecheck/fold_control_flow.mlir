// RUN: torch2mlir-opt --split-input-file -p torch-canonicalize %s | filecheck %s
// Branches that are known, exceptions, and loops that are written out.

// CHECK-LABEL: func.func @known_condition
// CHECK-NEXT:    %[[R:.*]] = torch.aten.exp %x
// CHECK-NEXT:    func.return %[[R]]
func.func @known_condition(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %2 = torch.constant.int 2
  %d = torch.aten.dim %x : !torch.vtensor<[2,3],f32> -> !torch.int
  %c = torch.aten.eq.int %d, %2 : !torch.int, !torch.int -> !torch.bool
  %r = torch.prim.If %c -> (!torch.vtensor<[2,3],f32>) {
    %e = torch.aten.exp %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
    torch.prim.If.yield %e : !torch.vtensor<[2,3],f32>
  } else {
    torch.prim.If.yield %x : !torch.vtensor<[2,3],f32>
  }
  return %r : !torch.vtensor<[2,3],f32>
}

// -----

// CHECK-LABEL: func.func @same_either_way
// CHECK-NEXT:    %[[N:.*]] = torch.aten.__not__ %c
// CHECK-NEXT:    func.return %x, %[[N]]
func.func @same_either_way(%c: !torch.bool, %x: !torch.int) -> (!torch.int, !torch.bool) {
  %t = torch.constant.bool true
  %f = torch.constant.bool false
  %r:3 = torch.prim.If %c -> (!torch.int, !torch.bool, !torch.int) {
    %1 = torch.aten.neg.int %x : !torch.int -> !torch.int
    torch.prim.If.yield %x, %f, %1 : !torch.int, !torch.bool, !torch.int
  } else {
    torch.prim.If.yield %x, %t, %x : !torch.int, !torch.bool, !torch.int
  }
  return %r#0, %r#1 : !torch.int, !torch.bool
}

// -----

// CHECK-LABEL: func.func @exception
// CHECK-NEXT:    torch.runtime.assert %c, "need {} columns"
// CHECK-NEXT:    func.return %x
func.func @exception(%c: !torch.bool, %x: !torch.int) -> !torch.int {
  %s = torch.constant.str "need {} columns"
  %n = torch.constant.none
  %r = torch.prim.If %c -> (!torch.int) {
    torch.prim.If.yield %x : !torch.int
  } else {
    %m = "torch.aten.format"(%s, %x) : (!torch.str, !torch.int) -> !torch.str
    torch.prim.RaiseException %m, %n : !torch.str, !torch.none
    %u = torch.prim.Uninitialized : !torch.int
    torch.prim.If.yield %u : !torch.int
  }
  return %r : !torch.int
}

// -----

// CHECK-LABEL: func.func @loop_over_a_list
// CHECK-NEXT:    %[[A:.*]] = torch.aten.exp %x
// CHECK-NEXT:    %[[B:.*]] = torch.aten.exp %[[A]]
// CHECK-NEXT:    %[[L:.*]] = torch.prim.ListConstruct %x, %[[A]]
// CHECK-NEXT:    func.return %[[L]], %[[B]]
func.func @loop_over_a_list(%x: !torch.vtensor<[2],f32>) -> (!torch.list<vtensor>, !torch.vtensor<[2],f32>) {
  %2 = torch.constant.int 2
  %t = torch.constant.bool true
  %l = torch.prim.ListConstruct : () -> !torch.list<vtensor>
  %r = torch.prim.Loop %2, %t, init(%x) {
  ^bb0(%i: !torch.int, %y: !torch.vtensor<[2],f32>):
    %1 = torch.aten.append.t %l, %y : !torch.list<vtensor>, !torch.vtensor<[2],f32> -> !torch.list<vtensor>
    %e = torch.aten.exp %y : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    torch.prim.Loop.condition %t, iter(%e : !torch.vtensor<[2],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  return %l, %r : !torch.list<vtensor>, !torch.vtensor<[2],f32>
}

// -----

// while k < 20: k *= 3
// CHECK-LABEL: func.func @while_of_numbers
// CHECK-NEXT:    %[[K:.*]] = torch.constant.int 27
// CHECK-NEXT:    func.return %[[K]]
func.func @while_of_numbers() -> !torch.int {
  %most = torch.constant.int 9223372036854775807
  %1 = torch.constant.int 1
  %3 = torch.constant.int 3
  %20 = torch.constant.int 20
  %t = torch.constant.bool true
  %r = torch.prim.Loop %most, %t, init(%1) {
  ^bb0(%i: !torch.int, %k: !torch.int):
    %m = torch.aten.mul.int %k, %3 : !torch.int, !torch.int -> !torch.int
    %c = torch.aten.lt.int %m, %20 : !torch.int, !torch.int -> !torch.bool
    torch.prim.Loop.condition %c, iter(%m : !torch.int)
  } : (!torch.int, !torch.bool, !torch.int) -> !torch.int
  return %r : !torch.int
}

// -----

// A loop of tensors of one type stays a loop.
// CHECK-LABEL: func.func @loop_of_tensors
// CHECK:         torch.prim.Loop
func.func @loop_of_tensors(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %50 = torch.constant.int 50
  %t = torch.constant.bool true
  %r = torch.prim.Loop %50, %t, init(%x) {
  ^bb0(%i: !torch.int, %y: !torch.vtensor<[2],f32>):
    %e = torch.aten.exp %y : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    torch.prim.Loop.condition %t, iter(%e : !torch.vtensor<[2],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  return %r : !torch.vtensor<[2],f32>
}
