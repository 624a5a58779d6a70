// RUN: torch2mlir-opt --torch-refine-public-return %s | filecheck %s

// CHECK-LABEL: func.func @forgets(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32> {
// CHECK: func.return %x : !torch.vtensor<[2,?],f32>
func.func @forgets(%x: !torch.vtensor<[2,?],f32>) -> !torch.tensor {
  %t = torch.copy.to_tensor %x : !torch.tensor<[2,?],f32>
  %y = torch.tensor_static_info_cast %t : !torch.tensor<[2,?],f32> to !torch.tensor
  return %y : !torch.tensor
}

// CHECK-LABEL: func.func @optional() -> !torch.int {
func.func @optional() -> !torch.optional<int> {
  %i = torch.constant.int 1
  %o = torch.derefine %i : !torch.int to !torch.optional<int>
  return %o : !torch.optional<int>
}

// A tensor that is written is read where it is returned.
// CHECK-LABEL: func.func @written
// CHECK: %[[V:.*]] = torch.copy.to_vtensor %t : !torch.vtensor
// CHECK-NEXT: func.return %[[V]] : !torch.vtensor
func.func @written(%x: !torch.vtensor, %y: !torch.vtensor) -> !torch.tensor {
  %t = torch.copy.to_tensor %x : !torch.tensor
  torch.overwrite.tensor.contents %y overwrites %t : !torch.vtensor, !torch.tensor
  return %t : !torch.tensor
}

// A private function keeps its type.
// CHECK-LABEL: func.func private @private(%x: !torch.vtensor) -> !torch.tensor {
func.func private @private(%x: !torch.vtensor) -> !torch.tensor {
  %t = torch.copy.to_tensor %x : !torch.tensor
  return %t : !torch.tensor
}
