// RUN: torch2mlir-opt -p convert-torch-to-stablehlo %s | filecheck %s --check-prefix=HLO
// RUN: torch2mlir-opt -p convert-torch-to-linalg %s | filecheck %s --check-prefix=LINALG
// RUN: torch2mlir-opt -p convert-torch-to-tosa %s | filecheck %s --check-prefix=TOSA
// RUN: torch2mlir-opt -p torch-lower-to-backend-contract,convert-torch-to-stablehlo %s | filecheck %s --check-prefix=HLO

// The torch dialect is gone, from types too; matrix products are named ops.
// HLO-LABEL: func.func @matmul(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x4xf32>) -> tensor<2x4xf32>
// LINALG-LABEL: func.func @matmul(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x4xf32>) -> tensor<2x4xf32>
// TOSA-LABEL: func.func @matmul(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @matmul(%x: !torch.vtensor<[2,3],f32>, %w: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32> {
  // HLO: stablehlo.dot_general
  // HLO-NOT: torch
  // LINALG: linalg.matmul
  // LINALG-NOT: torch
  // TOSA: tosa.matmul
  // TOSA-NOT: torch
  %0 = torch.aten.mm %x, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// Sizes that are known to be equal are not compared at run time, and nothing is broadcast.
// HLO-LABEL: func.func @equal_symbols(%{{.*}}: tensor<?xf32>, %{{.*}}: tensor<?xf32>) -> tensor<?xf32>
// LINALG-LABEL: func.func @equal_symbols
func.func @equal_symbols(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  // HLO-NOT: broadcast
  // HLO: stablehlo.add %x, %y : tensor<?xf32>
  // HLO-NEXT: return
  // LINALG-NOT: cf.assert
  // LINALG-NOT: arith.cmpi
  // LINALG: return
  %n = torch.symbolic_int "n" {min_val = 2, max_val = 100} : !torch.int
  torch.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %y, [%n], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %y, %one : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %0, [%n], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// A Python number is no tensor of the full shape.
// LINALG-LABEL: func.func @scalar
// TOSA-LABEL: func.func @scalar
func.func @scalar(%x: !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[8,8],f32> {
  // LINALG-NOT: tensor<8x8xf32>) = dense
  // TOSA: values = dense<{{.*}}> : tensor<1x1xf32>
  %half = torch.constant.float 5.000000e-01
  %0 = torch.aten.mul.Scalar %x, %half : !torch.vtensor<[8,8],f32>, !torch.float -> !torch.vtensor<[8,8],f32>
  return %0 : !torch.vtensor<[8,8],f32>
}

// Unsigned integers keep their sign where the dialect has one.
// HLO-LABEL: func.func @unsigned(%{{.*}}: tensor<4xui8>) -> tensor<4xf32>
// LINALG-LABEL: func.func @unsigned(%{{.*}}: tensor<4xi8>) -> tensor<4xf32>
func.func @unsigned(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],f32> {
  // LINALG: arith.uitofp
  %f32 = torch.constant.int 6
  %0 = torch.prims.convert_element_type %x, %f32 : !torch.vtensor<[4],ui8>, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
