// RUN: torch2mlir-opt -p torch-weights-as-arguments %s | filecheck %s

// A weight of some size becomes an argument after the user's own; small constants stay where they are.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: !torch.vtensor<[2,3],f32>, %[[W:.*]]: !torch.vtensor<[3,8],f32>)
func.func @main(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,8],f32> {
  // CHECK-NOT: dense_resource
  // CHECK: torch.vtensor.literal(dense<2.{{.*}}> : tensor<f32>)
  // CHECK: torch.aten.mm %{{.*}}, %[[W]]
  // CHECK-NOT: dialect_resources
  %w = torch.vtensor.literal(dense_resource<weight> : tensor<3x8xf32>) : !torch.vtensor<[3,8],f32>
  %two = torch.vtensor.literal(dense<2.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %0 = torch.aten.mm %x, %w : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,8],f32> -> !torch.vtensor<[2,8],f32>
  %1 = torch.aten.mul.Tensor %0, %two : !torch.vtensor<[2,8],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[2,8],f32>
  return %1 : !torch.vtensor<[2,8],f32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E04000000041000010410000204100003041000040410000504100006041000070410000803F0000004000004040000080400000A0400000C0400000E0400000004100001041"
    }
  }
#-}
