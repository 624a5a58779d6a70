// RUN: torch2mlir-opt --split-input-file -p torch-canonicalize,torch-canonicalize,torch-canonicalize %s | filecheck %s
// Containers that branches and loops hand on become their members, optionals what may be in them.

// CHECK-LABEL: func.func @tuple_of_a_branch
// CHECK-NEXT:    %[[A:.*]] = torch.prim.If %c -> (!torch.int) {
// CHECK-NEXT:      torch.prim.If.yield %n : !torch.int
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[M:.*]] = torch.aten.neg.int %n
// CHECK-NEXT:      torch.prim.If.yield %[[M]] : !torch.int
// CHECK:         func.return %[[A]], %x
func.func @tuple_of_a_branch(%c: !torch.bool, %n: !torch.int, %x: !torch.float) -> (!torch.int, !torch.float) {
  %r = torch.prim.If %c -> (!torch.tuple<int, float>) {
    %1 = torch.prim.TupleConstruct %n, %x : !torch.int, !torch.float -> !torch.tuple<int, float>
    torch.prim.If.yield %1 : !torch.tuple<int, float>
  } else {
    %m = torch.aten.neg.int %n : !torch.int -> !torch.int
    %2 = torch.prim.TupleConstruct %m, %x : !torch.int, !torch.float -> !torch.tuple<int, float>
    torch.prim.If.yield %2 : !torch.tuple<int, float>
  }
  %a, %b = torch.prim.TupleUnpack %r : !torch.tuple<int, float> -> !torch.int, !torch.float
  return %a, %b : !torch.int, !torch.float
}

// -----

// CHECK-LABEL: func.func @optional_of_a_branch
// CHECK-NEXT:    %[[M:.*]] = torch.prim.If %c -> (!torch.int) {
// CHECK-NEXT:      %[[N:.*]] = torch.aten.neg.int %n
// CHECK-NEXT:      torch.prim.If.yield %[[N]] : !torch.int
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[U:.*]] = torch.prim.Uninitialized : !torch.int
// CHECK-NEXT:      torch.prim.If.yield %[[U]] : !torch.int
// CHECK:         %[[R:.*]] = torch.prim.If %c -> (!torch.int) {
// CHECK-NEXT:      torch.prim.If.yield %[[M]] : !torch.int
// CHECK-NEXT:    } else {
// CHECK-NEXT:      torch.prim.If.yield %n : !torch.int
func.func @optional_of_a_branch(%c: !torch.bool, %n: !torch.int) -> !torch.int {
  %none = torch.constant.none
  %o = torch.prim.If %c -> (!torch.optional<int>) {
    %m = torch.aten.neg.int %n : !torch.int -> !torch.int
    %1 = torch.derefine %m : !torch.int to !torch.optional<int>
    torch.prim.If.yield %1 : !torch.optional<int>
  } else {
    %2 = torch.derefine %none : !torch.none to !torch.optional<int>
    torch.prim.If.yield %2 : !torch.optional<int>
  }
  %there = torch.aten.__isnot__ %o, %none : !torch.optional<int>, !torch.none -> !torch.bool
  %r = torch.prim.If %there -> (!torch.int) {
    %i = torch.prim.unchecked_cast %o : !torch.optional<int> -> !torch.int
    torch.prim.If.yield %i : !torch.int
  } else {
    torch.prim.If.yield %n : !torch.int
  }
  return %r : !torch.int
}

// -----

// CHECK-LABEL: func.func @tuple_of_a_loop
// CHECK-NEXT:    %t = torch.constant.bool true
// CHECK-NEXT:    %[[R:.*]] = torch.prim.Loop %k, %t, init(%n) {
// CHECK-NEXT:    ^bb0(%{{.*}}: !torch.int, %[[A:.*]]: !torch.int):
// CHECK-NEXT:      %[[M:.*]] = torch.aten.neg.int %[[A]]
// CHECK-NEXT:      torch.prim.Loop.condition %t, iter(%[[M]] : !torch.int)
// CHECK:         func.return %[[R]], %x
func.func @tuple_of_a_loop(%k: !torch.int, %n: !torch.int, %x: !torch.float) -> (!torch.int, !torch.float) {
  %t = torch.constant.bool true
  %p = torch.prim.TupleConstruct %n, %x : !torch.int, !torch.float -> !torch.tuple<int, float>
  %r = torch.prim.Loop %k, %t, init(%p) {
  ^bb0(%i: !torch.int, %q: !torch.tuple<int, float>):
    %a, %b = torch.prim.TupleUnpack %q : !torch.tuple<int, float> -> !torch.int, !torch.float
    %m = torch.aten.neg.int %a : !torch.int -> !torch.int
    %s = torch.prim.TupleConstruct %m, %b : !torch.int, !torch.float -> !torch.tuple<int, float>
    torch.prim.Loop.condition %t, iter(%s : !torch.tuple<int, float>)
  } : (!torch.int, !torch.bool, !torch.tuple<int, float>) -> !torch.tuple<int, float>
  %c, %d = torch.prim.TupleUnpack %r : !torch.tuple<int, float> -> !torch.int, !torch.float
  return %c, %d : !torch.int, !torch.float
}
