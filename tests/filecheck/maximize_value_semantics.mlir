// RUN: torch2mlir-opt --torch-maximize-value-semantics %s | filecheck %s

// What a tensor holds is what was written last.
// CHECK-LABEL: func.func @in_order
// CHECK-NEXT: func.return %x, %y, %z
func.func @in_order(%x: !torch.vtensor, %y: !torch.vtensor, %z: !torch.vtensor) -> (!torch.vtensor, !torch.vtensor, !torch.vtensor) {
  %t = torch.copy.to_tensor %x : !torch.tensor
  %0 = torch.copy.to_vtensor %t : !torch.vtensor
  torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
  %1 = torch.copy.to_vtensor %t : !torch.vtensor
  torch.overwrite.tensor.contents %z overwrites %t : !torch.vtensor, !torch.tensor
  %2 = torch.copy.to_vtensor %t : !torch.vtensor
  return %0, %1, %2 : !torch.vtensor, !torch.vtensor, !torch.vtensor
}

// A view made before a write sees it; a write to a view is one to the whole.
// CHECK-LABEL: func.func @through_views
// CHECK: %[[ROW:.*]] = torch.aten.select.int %y
// CHECK: %[[ALL:.*]] = torch.aten.select_scatter %y, %z
// CHECK: func.return %[[ROW]], %[[ALL]]
func.func @through_views(%x: !torch.vtensor, %y: !torch.vtensor, %z: !torch.vtensor) -> (!torch.vtensor, !torch.vtensor) {
  %0 = torch.constant.int 0
  %t = torch.copy.to_tensor %x : !torch.tensor
  %row = torch.aten.select.int %t, %0, %0 : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
  torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
  %before = torch.copy.to_vtensor %row : !torch.vtensor
  torch.overwrite.tensor.contents %z overwrites %row : !torch.vtensor, !torch.tensor
  %after = torch.copy.to_vtensor %t : !torch.vtensor
  return %before, %after : !torch.vtensor, !torch.vtensor
}

// x[:, 0] = y: from the innermost view outwards.
// CHECK-LABEL: func.func @slice_assignment
// CHECK: %[[S:.*]] = torch.aten.slice.Tensor %x
// CHECK: %[[C:.*]] = torch.aten.select_scatter %[[S]], %y
// CHECK: %[[R:.*]] = torch.aten.slice_scatter %x, %[[C]]
// CHECK: func.return %[[R]]
func.func @slice_assignment(%x: !torch.vtensor, %y: !torch.vtensor) -> !torch.vtensor {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %none = torch.constant.none
  %t = torch.copy.to_tensor %x : !torch.tensor
  %s = torch.aten.slice.Tensor %t, %0, %none, %none, %1 : !torch.tensor, !torch.int, !torch.none, !torch.none, !torch.int -> !torch.tensor
  %v = torch.aten.select.int %s, %1, %0 : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
  torch.overwrite.tensor.contents %y overwrites %v : !torch.vtensor, !torch.tensor
  %r = torch.copy.to_vtensor %t : !torch.vtensor
  return %r : !torch.vtensor
}

// CHECK-LABEL: func.func @in_a_branch
// CHECK: %[[T:.*]] = torch.prim.If %c -> (!torch.vtensor) {
// CHECK-NEXT: torch.prim.If.yield %y
// CHECK-NEXT: } else {
// CHECK-NEXT: torch.prim.If.yield %x
// CHECK: func.return %x, %[[T]]
func.func @in_a_branch(%x: !torch.vtensor, %y: !torch.vtensor, %c: !torch.bool) -> (!torch.vtensor, !torch.vtensor) {
  %t = torch.copy.to_tensor %x : !torch.tensor
  %before = torch.copy.to_vtensor %t : !torch.vtensor
  torch.prim.If %c -> () {
    torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
    torch.prim.If.yield
  } else {
    torch.prim.If.yield
  }
  %after = torch.copy.to_vtensor %t : !torch.vtensor
  return %before, %after : !torch.vtensor, !torch.vtensor
}

// CHECK-LABEL: func.func @in_a_loop
// CHECK: %[[R:.*]] = torch.prim.Loop %n, %true, init(%x) {
// CHECK-NEXT: ^bb0(%i: !torch.int, %t: !torch.vtensor):
// CHECK: %[[ROW:.*]] = torch.aten.select.int %t, %{{.*}}, %i
// CHECK: %[[NEW:.*]] = torch.aten.relu %[[ROW]]
// CHECK: %[[ALL:.*]] = torch.aten.select_scatter %t, %[[NEW]], %{{.*}}, %i
// CHECK: torch.prim.Loop.condition %true, iter(%[[ALL]] : !torch.vtensor)
// CHECK: func.return %[[R]]
func.func @in_a_loop(%x: !torch.vtensor, %n: !torch.int) -> !torch.vtensor {
  %0 = torch.constant.int 0
  %true = torch.constant.bool true
  %t = torch.copy.to_tensor %x : !torch.tensor
  torch.prim.Loop %n, %true, init() {
  ^bb0(%i: !torch.int):
    %row = torch.aten.select.int %t, %0, %i : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
    %v = torch.copy.to_vtensor %row : !torch.vtensor
    %w = torch.aten.relu %v : !torch.vtensor -> !torch.vtensor
    torch.overwrite.tensor.contents %w overwrites %row : !torch.vtensor, !torch.tensor
    torch.prim.Loop.condition %true, iter()
  } : (!torch.int, !torch.bool) -> ()
  %r = torch.copy.to_vtensor %t : !torch.vtensor
  return %r : !torch.vtensor
}

// What a branch or a reshape hands on may be written if nobody asks for what it was made of.
// CHECK-LABEL: func.func @handed_on
// CHECK-NOT: torch.overwrite
// CHECK: func.return
func.func @handed_on(%x: !torch.vtensor, %y: !torch.vtensor, %s: !torch.list<int>, %c: !torch.bool) -> !torch.vtensor {
  %t = torch.copy.to_tensor %x : !torch.tensor
  %u = torch.copy.to_tensor %y : !torch.tensor
  %one = torch.prim.If %c -> (!torch.tensor) {
    torch.prim.If.yield %t : !torch.tensor
  } else {
    torch.prim.If.yield %u : !torch.tensor
  }
  torch.overwrite.tensor.contents %y overwrites %one : !torch.vtensor, !torch.tensor
  %v = torch.aten.reshape %one, %s : !torch.tensor, !torch.list<int> -> !torch.tensor
  torch.overwrite.tensor.contents %x overwrites %v : !torch.vtensor, !torch.tensor
  %r = torch.copy.to_vtensor %v : !torch.vtensor
  return %r : !torch.vtensor
}

// If somebody does, it depends on the strides or the condition which one is written: nothing is claimed.
// CHECK-LABEL: func.func @still_asked_for
// CHECK: torch.overwrite.tensor.contents %y overwrites
func.func @still_asked_for(%x: !torch.vtensor, %y: !torch.vtensor, %s: !torch.list<int>) -> !torch.vtensor {
  %t = torch.copy.to_tensor %x : !torch.tensor
  %v = torch.aten.reshape %t, %s : !torch.tensor, !torch.list<int> -> !torch.tensor
  torch.overwrite.tensor.contents %y overwrites %v : !torch.vtensor, !torch.tensor
  %r = torch.copy.to_vtensor %t : !torch.vtensor
  return %r : !torch.vtensor
}

// So is a tensor in a loop that the next iteration sees by another name.
// CHECK-LABEL: func.func @in_the_next_iteration
// CHECK: torch.overwrite.tensor.contents
func.func @in_the_next_iteration(%x: !torch.vtensor, %y: !torch.vtensor, %s: !torch.list<int>, %n: !torch.int) -> !torch.vtensor {
  %true = torch.constant.bool true
  %t = torch.copy.to_tensor %x : !torch.tensor
  %u = torch.copy.to_tensor %y : !torch.tensor
  %l = torch.prim.Loop %n, %true, init(%u) {
  ^bb0(%i: !torch.int, %a: !torch.tensor):
    torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
    %v = torch.copy.to_vtensor %a : !torch.vtensor
    torch.runtime.assert %true, "used"
    %w = torch.aten.reshape %t, %s : !torch.tensor, !torch.list<int> -> !torch.tensor
    torch.prim.Loop.condition %true, iter(%w : !torch.tensor)
  } : (!torch.int, !torch.bool, !torch.tensor) -> !torch.tensor
  %r = torch.copy.to_vtensor %l : !torch.vtensor
  return %r : !torch.vtensor
}

// What an op that is not known may keep is left, and all that shares its memory.
// CHECK-LABEL: func.func @unknown
// CHECK: torch.overwrite.tensor.contents
// CHECK: torch.operator "torch.mylib.keep"
func.func @unknown(%x: !torch.vtensor, %y: !torch.vtensor) -> !torch.vtensor {
  %t = torch.copy.to_tensor %x : !torch.tensor
  torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
  torch.operator "torch.mylib.keep"(%t) : (!torch.tensor) -> ()
  %r = torch.copy.to_vtensor %t : !torch.vtensor
  return %r : !torch.vtensor
}

// An argument belongs to the caller too.
// CHECK-LABEL: func.func @argument
// CHECK: torch.overwrite.tensor.contents %x overwrites %t
func.func @argument(%t: !torch.tensor, %x: !torch.vtensor) -> !torch.tensor {
  torch.overwrite.tensor.contents %x overwrites %t : !torch.vtensor, !torch.tensor
  return %t : !torch.tensor
}

// A view takes its shape from another tensor: that is read as a value too.
// CHECK-LABEL: func.func @shape_of_another
// CHECK-NOT: torch.copy
// CHECK: torch.aten.expand_as %x, %y : !torch.vtensor, !torch.vtensor -> !torch.vtensor
func.func @shape_of_another(%x: !torch.vtensor, %y: !torch.vtensor) -> !torch.vtensor {
  %a = torch.copy.to_tensor %x : !torch.tensor
  %b = torch.copy.to_tensor %y : !torch.tensor
  %e = torch.aten.expand_as %a, %b : !torch.tensor, !torch.tensor -> !torch.tensor
  %r = torch.copy.to_vtensor %e : !torch.vtensor
  return %r : !torch.vtensor
}
