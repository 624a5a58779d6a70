// RUN: torch2mlir-opt --split-input-file -p torch-canonicalize %s | filecheck %s
// What numbers, tensor types and texts give before the program runs.

// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT:    %[[F:.*]] = torch.constant.float 2.500000e+00
// CHECK-NEXT:    %[[B:.*]] = torch.constant.bool true
// CHECK-NEXT:    func.return %[[F]], %[[B]]
func.func @arithmetic() -> (!torch.float, !torch.bool) {
  %3 = torch.constant.int 3
  %2 = torch.constant.int 2
  %5 = torch.aten.add.int %3, %2 : !torch.int, !torch.int -> !torch.int
  %f = torch.aten.div.int %5, %2 : !torch.int, !torch.int -> !torch.float
  %b = torch.aten.gt.float_int %f, %2 : !torch.float, !torch.int -> !torch.bool
  return %f, %b : !torch.float, !torch.bool
}

// -----

// A division by zero is the program's to raise.
// CHECK-LABEL: func.func @division_by_zero
// CHECK:         torch.aten.floordiv.int
func.func @division_by_zero() -> !torch.int {
  %3 = torch.constant.int 3
  %0 = torch.constant.int 0
  %r = torch.aten.floordiv.int %3, %0 : !torch.int, !torch.int -> !torch.int
  return %r : !torch.int
}

// -----

// CHECK-LABEL: func.func @facts_of_a_tensor
// CHECK-NEXT:    %[[R:.*]] = torch.constant.int 2
// CHECK-NEXT:    %[[D:.*]] = torch.constant.int 6
// CHECK-NEXT:    %[[T:.*]] = torch.constant.bool true
// CHECK-NEXT:    %[[N:.*]] = torch.constant.int 12
// CHECK-NEXT:    func.return %[[R]], %[[D]], %[[T]], %[[N]]
func.func @facts_of_a_tensor(%x: !torch.vtensor<[3,4],f32>) -> (!torch.int, !torch.int, !torch.bool, !torch.int) {
  %r = torch.aten.dim %x : !torch.vtensor<[3,4],f32> -> !torch.int
  %d = torch.prim.dtype %x : !torch.vtensor<[3,4],f32> -> !torch.int
  %t = torch.aten.is_floating_point %x : !torch.vtensor<[3,4],f32> -> !torch.bool
  %n = torch.aten.numel %x : !torch.vtensor<[3,4],f32> -> !torch.int
  return %r, %d, %t, %n : !torch.int, !torch.int, !torch.bool, !torch.int
}

// -----

// CHECK-LABEL: func.func @kinds_of_numbers
// CHECK-NEXT:    %[[F:.*]] = torch.aten.Float.Scalar %i
// CHECK-NEXT:    %[[S:.*]] = torch.aten.add.float %[[F]], %f
// CHECK-NEXT:    %[[N:.*]] = torch.derefine %[[S]] : !torch.float to !torch.number
// CHECK-NEXT:    func.return %[[N]]
func.func @kinds_of_numbers(%i: !torch.int, %f: !torch.float) -> !torch.number {
  %s = torch.aten.add %i, %f : !torch.int, !torch.float -> !torch.number
  return %s : !torch.number
}

// -----

// CHECK-LABEL: func.func @number_through_a_tensor
// CHECK-NEXT:    func.return %i
func.func @number_through_a_tensor(%i: !torch.int) -> !torch.int {
  %t = torch.prim.NumToTensor.Scalar %i : !torch.int -> !torch.vtensor<[],si64>
  %r = torch.aten.Int.Tensor %t : !torch.vtensor<[],si64> -> !torch.int
  return %r : !torch.int
}

// -----

// A tensor that may be written is not what it was made of.
// CHECK-LABEL: func.func @clone_of_a_mutable_tensor
// CHECK:         torch.aten.clone
func.func @clone_of_a_mutable_tensor(%x: !torch.tensor) -> !torch.tensor {
  %n = torch.constant.none
  %c = torch.aten.clone %x, %n : !torch.tensor, !torch.none -> !torch.tensor
  %y = torch.aten.relu_ %c : !torch.tensor -> !torch.tensor
  return %x : !torch.tensor
}

// -----

// CHECK-LABEL: func.func @optionals
// CHECK-NEXT:    %[[T:.*]] = torch.constant.bool true
// CHECK-NEXT:    %[[R:.*]] = torch.aten.relu %x
// CHECK-NEXT:    func.return %[[R]], %[[T]]
func.func @optionals(%x: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f32>, !torch.bool) {
  %n = torch.constant.none
  %o = torch.derefine %x : !torch.vtensor<[2],f32> to !torch.optional<vtensor>
  %b = torch.aten.__isnot__ %o, %n : !torch.optional<vtensor>, !torch.none -> !torch.bool
  %c = torch.prim.unchecked_cast %o : !torch.optional<vtensor> -> !torch.vtensor
  %r = torch.aten.relu %c : !torch.vtensor -> !torch.vtensor<[2],f32>
  return %r, %b : !torch.vtensor<[2],f32>, !torch.bool
}

// -----

// CHECK-LABEL: func.func @whatever_the_number
// CHECK-NEXT:    %[[GE:.*]] = torch.constant.bool true
// CHECK-NEXT:    %[[NE:.*]] = torch.constant.bool false
// CHECK-NEXT:    %[[OR:.*]] = torch.constant.bool true
// CHECK-NEXT:    %[[Z:.*]] = torch.constant.int 0
// CHECK-NEXT:    func.return %[[GE]], %[[NE]], %[[OR]], %b, %[[Z]], %i
func.func @whatever_the_number(%i: !torch.int, %b: !torch.bool, %s: !torch.str) -> (!torch.bool, !torch.bool, !torch.bool, !torch.bool, !torch.int, !torch.int) {
  %true = torch.constant.bool true
  %0 = torch.aten.ge.int %i, %i : !torch.int, !torch.int -> !torch.bool
  %1 = torch.aten.ne.str %s, %s : !torch.str, !torch.str -> !torch.bool
  %2 = torch.aten.__or__.bool %true, %b : !torch.bool, !torch.bool -> !torch.bool
  %3 = torch.aten.__and__.bool %b, %true : !torch.bool, !torch.bool -> !torch.bool
  %4 = torch.aten.sub.int %i, %i : !torch.int, !torch.int -> !torch.int
  %5 = torch.prim.max.int %i, %i : !torch.int, !torch.int -> !torch.int
  return %0, %1, %2, %3, %4, %5 : !torch.bool, !torch.bool, !torch.bool, !torch.bool, !torch.int, !torch.int
}

// -----

// NaN is equal to nothing, not even to itself.
// CHECK-LABEL: func.func @not_for_floats
// CHECK:         torch.aten.eq.float
// CHECK-NEXT:    torch.aten.ge.float
func.func @not_for_floats(%f: !torch.float) -> (!torch.bool, !torch.bool) {
  %0 = torch.aten.eq.float %f, %f : !torch.float, !torch.float -> !torch.bool
  %1 = torch.aten.ge.float %f, %f : !torch.float, !torch.float -> !torch.bool
  return %0, %1 : !torch.bool, !torch.bool
}

// -----

// Compiled programs run on the CPU as far as PyTorch knows, without autograd or autocast, and warn nobody.
// CHECK-LABEL: func.func @modes
// CHECK-NOT:     torch.aten
// CHECK-NOT:     torch.prim
// CHECK:         return
func.func @modes(%x: !torch.vtensor<[2],f32>) -> (!torch.bool, !torch.bool, !torch.bool, !torch.str) {
  %message = torch.constant.str "beware"
  %level = torch.constant.int 2
  torch.aten.warn %message, %level : !torch.str, !torch.int
  %g = torch.aten.is_grad_enabled : !torch.bool
  %a = torch.aten.is_autocast_enabled : !torch.bool
  %r = torch.prim.requires_grad %x : !torch.vtensor<[2],f32> -> !torch.bool
  %d = torch.prim.device %x : !torch.vtensor<[2],f32> -> !torch.Device
  %t = torch.prim.type %d : !torch.Device -> !torch.str
  return %g, %a, %r, %t : !torch.bool, !torch.bool, !torch.bool, !torch.str
}
