// RUN: torch2mlir-opt --split-input-file -p torch-refine-types %s | filecheck %s
// Types through branches, loops, optionals and numbers.

// What both sides have in common.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:      -> !torch.vtensor<[?,3],f32>
// CHECK:         torch.prim.If %b -> (!torch.vtensor<[?,3],f32>)
// CHECK:         torch.aten.relu %{{.*}} : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
func.func @branches(%b: !torch.bool, %x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[4,3],f32>) -> !torch.vtensor {
  %r = torch.prim.If %b -> (!torch.vtensor) {
    %e = torch.aten.exp %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor
    torch.prim.If.yield %e : !torch.vtensor
  } else {
    %e = torch.aten.tanh %y : !torch.vtensor<[4,3],f32> -> !torch.vtensor
    torch.prim.If.yield %e : !torch.vtensor
  }
  %s = torch.aten.relu %r : !torch.vtensor -> !torch.vtensor
  return %s : !torch.vtensor
}

// -----

// What is never None is no optional.
// CHECK-LABEL: func.func @optionals
// CHECK:         %[[R:.*]] = torch.prim.If %b -> (!torch.vtensor<[2,3],f32>)
// CHECK:         torch.prim.unchecked_cast %[[R]] : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
func.func @optionals(%b: !torch.bool, %x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor {
  %r = torch.prim.If %b -> (!torch.optional<vtensor>) {
    %e = torch.aten.exp %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor
    %o = torch.derefine %e : !torch.vtensor to !torch.optional<vtensor>
    torch.prim.If.yield %o : !torch.optional<vtensor>
  } else {
    %o = torch.derefine %x : !torch.vtensor<[2,3],f32> to !torch.optional<vtensor>
    torch.prim.If.yield %o : !torch.optional<vtensor>
  }
  %c = torch.prim.unchecked_cast %r : !torch.optional<vtensor> -> !torch.vtensor
  return %c : !torch.vtensor
}

// -----

// One tensor keeps its type, one grows, and the number is an int.
// CHECK-LABEL: func.func @loops
// CHECK-SAME:      -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int)
// CHECK:         ^{{.*}}(%i: !torch.int, %y: !torch.vtensor<[2,3],f32>, %z: !torch.vtensor<[?,3],f32>, %k: !torch.int):
func.func @loops(%n: !torch.int, %x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor, !torch.vtensor, !torch.number) {
  %true = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %r:3 = torch.prim.Loop %n, %true, init(%x, %x, %one) {
  ^bb0(%i: !torch.int, %y: !torch.vtensor, %z: !torch.vtensor, %k: !torch.number):
    %e = torch.aten.exp %y : !torch.vtensor -> !torch.vtensor
    %l = torch.prim.ListConstruct %z, %x : (!torch.vtensor, !torch.vtensor<[2,3],f32>) -> !torch.list<vtensor>
    %c = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor
    %m = torch.aten.add %k, %one : !torch.number, !torch.int -> !torch.number
    torch.prim.Loop.condition %true, iter(%e, %c, %m : !torch.vtensor, !torch.vtensor, !torch.number)
  } : (!torch.int, !torch.bool, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>, !torch.int) -> (!torch.vtensor, !torch.vtensor, !torch.number)
  return %r#0, %r#1, %r#2 : !torch.vtensor, !torch.vtensor, !torch.number
}

// -----

// An op that does not fit in a branch that may not run is nobody's error; the kind of an element is its dtype's.
// CHECK-LABEL: func.func @what_may_not_run
// CHECK:         torch.aten.mm %x, %x : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32> -> !torch.vtensor
// CHECK:         torch.aten.item %{{.*}} : !torch.vtensor<[],si64> -> !torch.int
func.func @what_may_not_run(%b: !torch.bool, %x: !torch.vtensor<[2,3],f32>, %s: !torch.vtensor<[],si64>) -> !torch.number {
  %r = torch.prim.If %b -> (!torch.vtensor) {
    %e = torch.aten.mm %x, %x : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32> -> !torch.vtensor
    torch.prim.If.yield %e : !torch.vtensor
  } else {
    torch.prim.If.yield %x : !torch.vtensor<[2,3],f32>
  }
  %i = torch.aten.item %s : !torch.vtensor<[],si64> -> !torch.number
  return %i : !torch.number
}

// -----

// A number known only at run time says nothing about the shape.
// CHECK-LABEL: func.func @run_time_numbers
// CHECK:         torch.aten.mul.Scalar %x, %f : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
// CHECK:         torch.aten.select.int %x, %{{.*}}, %i : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
func.func @run_time_numbers(%x: !torch.vtensor<[2,3],f32>, %f: !torch.float, %i: !torch.int) -> (!torch.vtensor, !torch.vtensor) {
  %0 = torch.constant.int 0
  %m = torch.aten.mul.Scalar %x, %f : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor
  %s = torch.aten.select.int %x, %0, %i : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor
  return %m, %s : !torch.vtensor, !torch.vtensor
}

// -----

// What a cast says and what is known are put together; mutable tensors have types too.
// CHECK-LABEL: func.func @casts
// CHECK:         %[[T:.*]] = torch.copy.to_tensor %x : !torch.tensor<[2,3],f32>
// CHECK:         torch.aten.relu %[[T]] : !torch.tensor<[2,3],f32> -> !torch.tensor<[2,3],f32>
// CHECK-NOT:     static_info_cast
func.func @casts(%x: !torch.vtensor<[2,3],f32>) -> !torch.tensor {
  %c = torch.tensor_static_info_cast %x : !torch.vtensor<[2,3],f32> to !torch.vtensor
  %t = torch.copy.to_tensor %c : !torch.tensor
  %r = torch.aten.relu %t : !torch.tensor -> !torch.tensor
  return %r : !torch.tensor
}

// -----

// A list of tensors that is used as a whole is made of its members, of which the number is known.
// CHECK-LABEL: func.func @lists_as_a_whole
// CHECK:         %[[L:.*]] = torch.aten.meshgrid
// CHECK-NEXT:    %[[A:.*]], %[[B:.*]] = torch.prim.ListUnpack %[[L]] : !torch.list<vtensor> -> !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>
// CHECK:         %[[N:.*]] = torch.prim.ListConstruct
// CHECK:         return %[[N]]
func.func @lists_as_a_whole(%x: !torch.vtensor<[2],f32>, %y: !torch.vtensor<[3],f32>) -> !torch.list<vtensor> {
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[2],f32>, !torch.vtensor<[3],f32>) -> !torch.list<vtensor>
  %g = torch.aten.meshgrid %l : !torch.list<vtensor> -> !torch.list<vtensor>
  return %g : !torch.list<vtensor>
}
