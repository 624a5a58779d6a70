// RUN: torch2mlir-opt -p torch-refine-types %s | filecheck %s
// A tensor of a size has no shape that depends on it, and the size stays open.

// CHECK-LABEL: func.func @tensor_of_size
// CHECK:         torch.prim.NumToTensor.Scalar %{{.*}} : !torch.int -> !torch.vtensor<[],si64>
// CHECK:         torch.aten.mul.Tensor %x, %{{.*}} -> !torch.vtensor<[?,3],f32>
func.func @tensor_of_size(%x: !torch.vtensor<[?,3],f32>, %n: !torch.int) -> (!torch.vtensor, !torch.vtensor) {
  %s0 = torch.symbolic_int "s0" {min_val = 0, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  %0 = torch.constant.int 0
  %1 = torch.aten.size.int %x, %0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.int
  %2 = torch.prim.NumToTensor.Scalar %1 : !torch.int -> !torch.vtensor
  %3 = torch.aten.mul.Tensor %x, %2 : !torch.vtensor<[?,3],f32>, !torch.vtensor -> !torch.vtensor
  // CHECK: torch.prim.NumToTensor.Scalar %n : !torch.int -> !torch.vtensor<[],si64>
  %4 = torch.prim.NumToTensor.Scalar %n : !torch.int -> !torch.vtensor
  return %3, %4 : !torch.vtensor, !torch.vtensor
}
