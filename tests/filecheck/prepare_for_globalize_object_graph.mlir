// RUN: torch2mlir-opt --torch-prepare-for-globalize-object-graph --split-input-file %s | filecheck %s

torch.class_type @c {
  torch.method "forward", @forward
  torch.method private "helper", @helper
}

// A method call is a call of the function that the receiver's class says.
// CHECK-LABEL: func.func private @forward
// CHECK-NEXT: %y = func.call @helper(%self, %x) : (!torch.nn.Module<"c">, !torch.float) -> !torch.float
func.func private @forward(%self: !torch.nn.Module<"c">, %x: !torch.float) -> !torch.float {
  %y = torch.prim.CallMethod %self["helper"] (%x) : !torch.nn.Module<"c">, (!torch.float) -> !torch.float
  return %y : !torch.float
}

// A call of a function that is a value is a call of the function; the value disappears.
// CHECK-LABEL: func.func private @helper
// CHECK-NEXT: %y = func.call @free(%x) : (!torch.float) -> !torch.float
// CHECK-NEXT: func.return %y
func.func private @helper(%self: !torch.nn.Module<"c">, %x: !torch.float) -> !torch.float {
  %f = constant @free : (!torch.float) -> !torch.float
  %y = call_indirect %f(%x) : (!torch.float) -> !torch.float
  return %y : !torch.float
}
func.func private @free(%x: !torch.float) -> !torch.float {
  return %x : !torch.float
}
torch.nn_module {
} : !torch.nn.Module<"c">
