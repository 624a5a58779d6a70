// RUN: torch2mlir-opt --split-input-file -p torch-canonicalize %s | filecheck %s
// Lists, tuples and dicts: what is taken out is what was put in.

// CHECK-LABEL: func.func @sizes
// CHECK-DAG:     %[[THREE:.*]] = torch.constant.int 3
// CHECK-DAG:     %[[ONE:.*]] = torch.constant.int 1
// CHECK:         %[[N:.*]] = torch.aten.size.int %x, %[[ONE]]
// CHECK-NEXT:    func.return %[[N]], %[[THREE]]
func.func @sizes(%x: !torch.vtensor<[3,?],f32>) -> (!torch.int, !torch.int) {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %s = torch.aten.size %x : !torch.vtensor<[3,?],f32> -> !torch.list<int>
  %n = torch.aten.__getitem__.t %s, %1 : !torch.list<int>, !torch.int -> !torch.int
  %m = torch.aten.__getitem__.t %s, %0 : !torch.list<int>, !torch.int -> !torch.int
  return %n, %m : !torch.int, !torch.int
}

// -----

// CHECK-LABEL: func.func @new_lists
// CHECK-NEXT:    %[[L:.*]] = torch.prim.ListConstruct %b, %a, %b
// CHECK-NEXT:    %[[N:.*]] = torch.constant.int 3
// CHECK-NEXT:    func.return %[[L]], %[[N]]
func.func @new_lists(%a: !torch.int, %b: !torch.int) -> (!torch.list<int>, !torch.int) {
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %n = torch.constant.none
  %l = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %m = torch.aten.mul.left_t %l, %2 : !torch.list<int>, !torch.int -> !torch.list<int>
  %s = torch.aten.slice.t %m, %1, %n, %1 : !torch.list<int>, !torch.int, !torch.none, !torch.int -> !torch.list<int>
  %c = torch.aten.len.t %s : !torch.list<int> -> !torch.int
  return %s, %c : !torch.list<int>, !torch.int
}

// -----

// CHECK-LABEL: func.func @written_lists
// CHECK-NEXT:    %[[BEFORE:.*]] = torch.prim.ListConstruct %a, %b
// CHECK-NEXT:    %[[AFTER:.*]] = torch.prim.ListConstruct %b, %a
// CHECK-NEXT:    func.return %b, %[[BEFORE]], %[[AFTER]]
func.func @written_lists(%a: !torch.int, %b: !torch.int) -> (!torch.int, !torch.list<int>, !torch.list<int>) {
  %0 = torch.constant.int 0
  %-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %a : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.append.t %l, %b : !torch.list<int>, !torch.int -> !torch.list<int>
  %k = torch.aten.list.t %l : !torch.list<int> -> !torch.list<int>
  %p = torch.aten.pop.t %l, %-1 : !torch.list<int>, !torch.int -> !torch.int
  torch.aten.insert.t %l, %0, %p : !torch.list<int>, !torch.int, !torch.int
  return %p, %k, %l : !torch.int, !torch.list<int>, !torch.list<int>
}

// -----

// Where the program decides whether a list is written, it stays a list that is written.
// CHECK-LABEL: func.func @written_in_a_branch
// CHECK:         torch.aten.append.t
// CHECK:         torch.aten.len.t
func.func @written_in_a_branch(%a: !torch.int, %c: !torch.bool) -> !torch.int {
  %l = torch.prim.ListConstruct %a : (!torch.int) -> !torch.list<int>
  torch.prim.If %c -> () {
    %1 = torch.aten.append.t %l, %a : !torch.list<int>, !torch.int -> !torch.list<int>
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  %n = torch.aten.len.t %l : !torch.list<int> -> !torch.int
  return %n : !torch.int
}

// -----

// Two empty lists are two lists.
// CHECK-LABEL: func.func @two_lists
// CHECK-DAG:     %[[A:.*]] = torch.prim.ListConstruct %a
// CHECK-DAG:     %[[B:.*]] = torch.prim.ListConstruct :
// CHECK:         func.return %[[A]], %[[B]]
func.func @two_lists(%a: !torch.int) -> (!torch.list<int>, !torch.list<int>) {
  %l = torch.prim.ListConstruct : () -> !torch.list<int>
  %m = torch.prim.ListConstruct : () -> !torch.list<int>
  %1 = torch.aten.append.t %l, %a : !torch.list<int>, !torch.int -> !torch.list<int>
  return %l, %m : !torch.list<int>, !torch.list<int>
}

// -----

// CHECK-LABEL: func.func @dicts
// CHECK-NEXT:    %[[T:.*]] = torch.constant.bool true
// CHECK-NEXT:    func.return %b, %[[T]]
func.func @dicts(%a: !torch.int, %b: !torch.int) -> (!torch.int, !torch.bool) {
  %x = torch.constant.str "x"
  %y = torch.constant.str "y"
  %d = torch.prim.DictConstruct keys(%x : !torch.str) values(%a : !torch.int) -> !torch.dict<str, int>
  torch.aten._set_item.str %d, %y, %b : !torch.dict<str, int>, !torch.str, !torch.int
  %r = torch.aten.__getitem__.Dict_str %d, %y : !torch.dict<str, int>, !torch.str -> !torch.int
  %c = torch.aten.__contains__.str %d, %x : !torch.dict<str, int>, !torch.str -> !torch.bool
  return %r, %c : !torch.int, !torch.bool
}

// -----

// CHECK-LABEL: func.func @tuples
// CHECK-NEXT:    func.return %b, %a
func.func @tuples(%a: !torch.int, %b: !torch.float) -> (!torch.float, !torch.int) {
  %1 = torch.constant.int 1
  %t = torch.prim.TupleConstruct %a, %b : !torch.int, !torch.float -> !torch.tuple<int, float>
  %f = torch.prim.TupleIndex %t, %1 : !torch.tuple<int, float>, !torch.int -> !torch.float
  %i, %g = torch.prim.TupleUnpack %t : !torch.tuple<int, float> -> !torch.int, !torch.float
  return %f, %i : !torch.float, !torch.int
}
