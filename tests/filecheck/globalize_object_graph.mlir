// RUN: torch2mlir-opt --torch-globalize-object-graph --split-input-file %s | filecheck %s

// Two objects of one class: a function for each; what is called with objects gets a copy for each combination of them.
// Slots are called by their path, private if the attribute is; a slot that no function uses is left out.
// CHECK: torch.global_slot.module_initializer {
// CHECK-NEXT: %int1 = torch.constant.int 1
// CHECK-NEXT: %int2 = torch.constant.int 2
// CHECK-NEXT: torch.initialize.global_slots [
// CHECK-NEXT: @s1.n(%int1 : !torch.int)
// CHECK-NEXT: @s2.n(%int2 : !torch.int)
// CHECK-NEXT: @k(%int2 : !torch.int)
// CHECK-NEXT: ]
// CHECK: torch.global_slot @s1.n : !torch.int
// CHECK-NEXT: torch.global_slot @s2.n : !torch.int
// CHECK-NEXT: torch.global_slot "private" @k : !torch.int
// CHECK-NEXT: func.func @forward() -> !torch.int
// CHECK-NEXT: func.call @both$0() : () -> ()
// CHECK-NEXT: func.call @both$1() : () -> ()
// CHECK-NEXT: torch.global_slot.get @k : !torch.int
// CHECK: func.func private @both$0() {
// CHECK-NEXT: func.call @s1.get()
// CHECK-NEXT: func.call @s2.get()
// CHECK: func.func private @both$1() {
// CHECK-NEXT: func.call @s2.get()
// CHECK-NEXT: func.call @s1.get()
// CHECK: func.func private @s1.get() -> !torch.int
// CHECK-NEXT: torch.global_slot.get @s1.n : !torch.int
// CHECK: func.func private @s2.get() -> !torch.int
// CHECK-NEXT: torch.global_slot.get @s2.n : !torch.int
torch.class_type @T {
  torch.attr private "s1" : !torch.nn.Module<"S">
  torch.attr "s2" : !torch.nn.Module<"S">
  torch.attr private "k" : !torch.int
  torch.attr "unused" : !torch.int
  torch.method "forward", @T.forward
}
torch.class_type @S {
  torch.attr "n" : !torch.int
  torch.method private "get", @S.get
}
%int1 = torch.constant.int 1
%int2 = torch.constant.int 2
%s1 = torch.nn_module {
  torch.slot "n", %int1 : !torch.int
} : !torch.nn.Module<"S">
%s2 = torch.nn_module {
  torch.slot "n", %int2 : !torch.int
} : !torch.nn.Module<"S">
%t = torch.nn_module {
  torch.slot "s1", %s1 : !torch.nn.Module<"S">
  torch.slot "s2", %s2 : !torch.nn.Module<"S">
  torch.slot "k", %int2 : !torch.int
  torch.slot "unused", %int1 : !torch.int
} : !torch.nn.Module<"T">
func.func private @T.forward(%self: !torch.nn.Module<"T">) -> !torch.int {
  %1 = torch.prim.GetAttr %self["s1"] : !torch.nn.Module<"T"> -> !torch.nn.Module<"S">
  %2 = torch.prim.GetAttr %self["s2"] : !torch.nn.Module<"T"> -> !torch.nn.Module<"S">
  call @both(%1, %2) : (!torch.nn.Module<"S">, !torch.nn.Module<"S">) -> ()
  call @both(%2, %1) : (!torch.nn.Module<"S">, !torch.nn.Module<"S">) -> ()
  %k = torch.prim.GetAttr %self["k"] : !torch.nn.Module<"T"> -> !torch.int
  return %k : !torch.int
}
func.func private @both(%a: !torch.nn.Module<"S">, %b: !torch.nn.Module<"S">) {
  %1 = call @S.get(%a) : (!torch.nn.Module<"S">) -> !torch.int
  %2 = call @S.get(%b) : (!torch.nn.Module<"S">) -> !torch.int
  return
}
func.func private @S.get(%self: !torch.nn.Module<"S">) -> !torch.int {
  %n = torch.prim.GetAttr %self["n"] : !torch.nn.Module<"S"> -> !torch.int
  return %n : !torch.int
}

// -----

// One object by two paths is one set of slots; two methods of it; a slot that is set; lists and tied tensors in slots.
// CHECK: torch.initialize.global_slots [
// CHECK-NEXT: @m.w(%w : !torch.tensor)
// CHECK-NEXT: @m.count(%zero : !torch.int)
// CHECK-NEXT: @l(%l : !torch.list<tensor>)
// CHECK-NEXT: ]
// CHECK-LABEL: func.func @step
// CHECK: %c = torch.global_slot.get @m.count
// CHECK: torch.global_slot.set @m.count = %{{.*}} : !torch.int
// CHECK-LABEL: func.func @tied
// CHECK: torch.global_slot.get @l : !torch.list<tensor>
// CHECK: torch.global_slot.get @m.w : !torch.tensor
torch.class_type @child {
  torch.attr "w" : !torch.tensor
  torch.attr "count" : !torch.int
}
torch.class_type @parent {
  torch.attr "m" : !torch.nn.Module<"child">
  torch.attr "again" : !torch.nn.Module<"child">
  torch.attr "l" : !torch.list<tensor>
  torch.method "step", @step
  torch.method "tied", @tied
}
%zero = torch.constant.int 0
%w = torch.tensor.literal(dense<1.0> : tensor<2xf32>) : !torch.tensor
%l = torch.prim.ListConstruct %w : (!torch.tensor) -> !torch.list<tensor>
%child = torch.nn_module {
  torch.slot "w", %w : !torch.tensor
  torch.slot "count", %zero : !torch.int
} : !torch.nn.Module<"child">
%parent = torch.nn_module {
  torch.slot "m", %child : !torch.nn.Module<"child">
  torch.slot "again", %child : !torch.nn.Module<"child">
  torch.slot "l", %l : !torch.list<tensor>
} : !torch.nn.Module<"parent">
func.func private @step(%self: !torch.nn.Module<"parent">) -> !torch.none {
  %m = torch.prim.GetAttr %self["m"] : !torch.nn.Module<"parent"> -> !torch.nn.Module<"child">
  %again = torch.prim.GetAttr %self["again"] : !torch.nn.Module<"parent"> -> !torch.nn.Module<"child">
  %c = torch.prim.GetAttr %m["count"] : !torch.nn.Module<"child"> -> !torch.int
  %one = torch.constant.int 1
  %next = torch.aten.add.int %c, %one : !torch.int, !torch.int -> !torch.int
  torch.prim.SetAttr %again["count"] = %next : !torch.nn.Module<"child">, !torch.int
  %none = torch.constant.none
  return %none : !torch.none
}
func.func private @tied(%self: !torch.nn.Module<"parent">) -> (!torch.list<tensor>, !torch.tensor) {
  %list = torch.prim.GetAttr %self["l"] : !torch.nn.Module<"parent"> -> !torch.list<tensor>
  %m = torch.prim.GetAttr %self["again"] : !torch.nn.Module<"parent"> -> !torch.nn.Module<"child">
  %x = torch.prim.GetAttr %m["w"] : !torch.nn.Module<"child"> -> !torch.tensor
  return %list, %x : !torch.list<tensor>, !torch.tensor
}
