// RUN: torch2mlir-opt --torch-verify-backend-contract-no-decompositions --split-input-file --verify-diagnostics %s | filecheck %s --allow-empty
// RUN: torch2mlir-opt --torch-lower-to-backend-contract=shape-dtype-refine=false --split-input-file --verify-diagnostics %s | filecheck %s --allow-empty
// CHECK-NOT: func.func

func.func @rank(%x: !torch.vtensor<[?,?],f32>) -> !torch.vtensor {
  // expected-error @below {{unsupported by backend contract: tensor with unknown rank}}
  %t = torch.aten.sin %x : !torch.vtensor<[?,?],f32> -> !torch.vtensor
  return %t : !torch.vtensor
}

// -----

func.func @dtype(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],unk> {
  // expected-error @below {{unsupported by backend contract: tensor with unknown dtype}}
  %t = torch.aten.sin %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],unk>
  return %t : !torch.vtensor<[2],unk>
}

// -----

// expected-error @below {{unsupported by backend contract: tensor with reference semantics}}
func.func @argument(%x: !torch.tensor<[2],f32>) {
  return
}

// -----

torch.global_slot @s : !torch.int
torch.global_slot.module_initializer {
  %0 = torch.constant.int 1
  // expected-error @below {{unsupported by backend contract: module initializers, of the slots @s}}
  torch.initialize.global_slots [
    @s(%0 : !torch.int)
  ]
}
func.func @state() -> !torch.int {
  %t = torch.global_slot.get @s : !torch.int
  return %t : !torch.int
}
