// RUN: torch2mlir-opt --torch-globalize-object-graph --split-input-file --verify-diagnostics %s | filecheck %s --allow-empty
// CHECK-NOT: func.func

torch.class_type @c1 {}
torch.class_type @c2 {}
torch.nn_module {} : !torch.nn.Module<"c1">
// expected-error @below {{found more than one root module (module that is not a child of any other module)}}
torch.nn_module {} : !torch.nn.Module<"c2">

// -----

torch.class_type @parent {
  torch.method "forward", @forward
}
torch.nn_module {} : !torch.nn.Module<"parent">
func.func private @forward(%self: !torch.nn.Module<"parent">) {
  // expected-error @below {{unsupported use of a torch.nn.Module. Expected only method calls or attribute get/set}}
  %l = torch.prim.ListConstruct %self : (!torch.nn.Module<"parent">) -> !torch.list<nn.Module<"parent">>
  return
}

// -----

torch.class_type @child {
  // expected-error @below {{public function with multiple monomorphizations}}
  torch.method "forward", @forward
}
torch.class_type @root {
  torch.attr "a" : !torch.nn.Module<"child">
  torch.attr "b" : !torch.nn.Module<"child">
}
%a = torch.nn_module {} : !torch.nn.Module<"child">
%b = torch.nn_module {} : !torch.nn.Module<"child">
torch.nn_module {
  torch.slot "a", %a : !torch.nn.Module<"child">
  torch.slot "b", %b : !torch.nn.Module<"child">
} : !torch.nn.Module<"root">
func.func private @forward(%self: !torch.nn.Module<"child">) {
  return
}
