// RUN: torch2mlir-opt --torch-inline-global-slots --torch-erase-module-initializer --split-input-file %s | filecheck %s

// A slot stays if it is public, set, or written in place; one that nobody reads goes.
// CHECK: torch.global_slot @public : !torch.int
// CHECK-NEXT: torch.global_slot "private" @set : !torch.int
// CHECK-NEXT: torch.global_slot "private" @written : !torch.tensor
// CHECK-NEXT: torch.global_slot.module_initializer
// CHECK: torch.initialize.global_slots [
// CHECK-NEXT: @public(
// CHECK-NEXT: @set(
// CHECK-NEXT: @written(
// CHECK-NEXT: ]
// CHECK-LABEL: func.func @forward
// CHECK: torch.global_slot.get @public
// CHECK: torch.global_slot.get @set
// CHECK-NEXT: torch.constant.int 1
// CHECK: torch.global_slot.get @written
torch.global_slot @public : !torch.int
torch.global_slot "private" @set : !torch.int
torch.global_slot "private" @constant : !torch.int
torch.global_slot "private" @unused : !torch.int
torch.global_slot "private" @written : !torch.tensor
torch.global_slot.module_initializer {
  %1 = torch.constant.int 1
  %m = torch.tensor.literal(dense<0.0> : tensor<f32>) : !torch.tensor
  torch.initialize.global_slots [
    @public(%1 : !torch.int)
    @set(%1 : !torch.int)
    @constant(%1 : !torch.int)
    @unused(%1 : !torch.int)
    @written(%m : !torch.tensor)
  ]
}
func.func @forward() -> (!torch.int, !torch.int, !torch.int, !torch.tensor) {
  %0 = torch.constant.int 2
  torch.global_slot.set @set = %0 : !torch.int
  %p = torch.global_slot.get @public : !torch.int
  %s = torch.global_slot.get @set : !torch.int
  %u = torch.global_slot.get @constant : !torch.int
  %m = torch.global_slot.get @written : !torch.tensor
  %row = torch.aten.detach %m : !torch.tensor -> !torch.tensor
  %c = torch.aten.relu_ %row : !torch.tensor -> !torch.tensor
  return %p, %s, %u, %c : !torch.int, !torch.int, !torch.int, !torch.tensor
}

// -----

// What is only read is its value, members of lists too; an initializer of nothing goes.
// CHECK-NOT: torch.global_slot
// CHECK-LABEL: func.func @reads
// CHECK: %[[T:.*]] = torch.tensor.literal
// CHECK: torch.prim.ListConstruct %[[T]]
torch.global_slot "private" @tensor : !torch.tensor
torch.global_slot "private" @list : !torch.list<tensor>
torch.global_slot.module_initializer {
  %t = torch.tensor.literal(dense<0.0> : tensor<f32>) : !torch.tensor
  %l = torch.prim.ListConstruct %t : (!torch.tensor) -> !torch.list<tensor>
  torch.initialize.global_slots [
    @tensor(%t : !torch.tensor)
    @list(%l : !torch.list<tensor>)
  ]
}
func.func @reads() -> !torch.tensor {
  %0 = torch.constant.int 0
  %l = torch.global_slot.get @list : !torch.list<tensor>
  %x = torch.aten.__getitem__.t %l, %0 : !torch.list<tensor>, !torch.int -> !torch.tensor
  %y = torch.aten.mul.Tensor %x, %x : !torch.tensor, !torch.tensor -> !torch.tensor
  return %y : !torch.tensor
}

// -----

// A write to a member, through a call, keeps the list and the member.
// CHECK-LABEL: torch.global_slot.module_initializer
// CHECK: @tensor(
// CHECK-NEXT: @list(
torch.global_slot "private" @tensor : !torch.tensor
torch.global_slot "private" @list : !torch.list<tensor>
torch.global_slot.module_initializer {
  %t = torch.tensor.literal(dense<0.0> : tensor<f32>) : !torch.tensor
  %l = torch.prim.ListConstruct %t : (!torch.tensor) -> !torch.list<tensor>
  torch.initialize.global_slots [
    @tensor(%t : !torch.tensor)
    @list(%l : !torch.list<tensor>)
  ]
}
func.func private @member(%l: !torch.list<tensor>) -> !torch.tensor {
  %0 = torch.constant.int 0
  %x = torch.aten.__getitem__.t %l, %0 : !torch.list<tensor>, !torch.int -> !torch.tensor
  return %x : !torch.tensor
}
func.func @writes() -> !torch.tensor {
  %l = torch.global_slot.get @list : !torch.list<tensor>
  %x = call @member(%l) : (!torch.list<tensor>) -> !torch.tensor
  %y = torch.aten.relu_ %x : !torch.tensor -> !torch.tensor
  %z = torch.global_slot.get @tensor : !torch.tensor
  return %z : !torch.tensor
}
