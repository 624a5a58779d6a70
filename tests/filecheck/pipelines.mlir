// RUN: torch2mlir-opt -p 'builtin.module(torchscript-module-to-torch-backend-pipeline{backend-legal-ops=aten.linear decompose-complex-ops=true max-iterations=4 shape-dtype-refine=true extra-library=})' %s | filecheck %s
// RUN: torch2mlir-opt -p 'torchscript-module-to-torch-backend-pipeline{allow-non-finites=false},torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=false}' %s | filecheck %s --check-prefix=LINALG
// RUN: torch2mlir-opt -p 'torchscript-module-to-torch-backend-pipeline,torch-backend-to-stablehlo-backend-pipeline{enable-static-shape=true enable-i32-index=false}' %s | filecheck %s --check-prefix=STABLEHLO
// RUN: torch2mlir-opt -p 'torchscript-module-to-torch-backend-pipeline,torch-backend-to-tosa-backend-pipeline{require-full-tosa-conversion=true}' %s | filecheck %s --check-prefix=TOSA
// RUN: torch2mlir-opt -p 'torch-prepare-for-globalize-object-graph,torch-globalize-object-graph,torch-function-to-torch-backend-pipeline,torchdynamo-export-to-torch-backend-pipeline' %s | filecheck %s --check-prefix=CORE

// A layer in a module, a bias that a branch on a constant slot decides on, and a write in place.
// CHECK-LABEL: func.func @forward(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,2],f32> {
// CHECK: %[[Y:.*]] = torch.aten.linear %x, %{{.*}} -> !torch.vtensor<[2,2],f32>
// CHECK: %[[Z:.*]] = torch.aten.relu %[[Y]]
// CHECK: func.return %[[Z]]
// CHECK-NOT: torch.global_slot

// CORE-LABEL: func.func @forward
// CORE: torch.aten.linear
// CORE: torch.aten.relu

// LINALG-LABEL: func.func @forward(%{{.*}}: tensor<2x3xf32>) -> tensor<2x2xf32>
// LINALG: linalg.matmul
// STABLEHLO-LABEL: func.func @forward(%{{.*}}: tensor<2x3xf32>) -> tensor<2x2xf32>
// STABLEHLO: stablehlo.dot_general
// TOSA-LABEL: func.func @forward(%{{.*}}: tensor<2x3xf32>) -> tensor<2x2xf32>
// TOSA: tosa.matmul
torch.class_type @Model {
  torch.attr private "layer" : !torch.nn.Module<"Layer">
  torch.attr private "activate" : !torch.bool
  torch.method "forward", @Model.forward
}
torch.class_type @Layer {
  torch.attr private "weight" : !torch.tensor
  torch.method private "forward", @Layer.forward
}
%true = torch.constant.bool true
%weight = torch.tensor.literal(dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>) : !torch.tensor
%object = torch.nn_module {
  torch.slot "weight", %weight : !torch.tensor
} : !torch.nn.Module<"Layer">
%model = torch.nn_module {
  torch.slot "layer", %object : !torch.nn.Module<"Layer">
  torch.slot "activate", %true : !torch.bool
} : !torch.nn.Module<"Model">
func.func private @Layer.forward(%self: !torch.nn.Module<"Layer">, %x: !torch.tensor) -> !torch.tensor {
  %w = torch.prim.GetAttr %self["weight"] : !torch.nn.Module<"Layer"> -> !torch.tensor
  %none = torch.constant.none
  %y = torch.aten.linear %x, %w, %none : !torch.tensor, !torch.tensor, !torch.none -> !torch.tensor
  return %y : !torch.tensor
}
func.func private @Model.forward(%self: !torch.nn.Module<"Model">, %x: !torch.tensor {torch.type_bound = !torch.vtensor<[2,3],f32>}) -> !torch.tensor {
  %layer = torch.prim.GetAttr %self["layer"] : !torch.nn.Module<"Model"> -> !torch.nn.Module<"Layer">
  %y = torch.prim.CallMethod %layer["forward"] (%x) : !torch.nn.Module<"Layer">, (!torch.tensor) -> !torch.tensor
  %activate = torch.prim.GetAttr %self["activate"] : !torch.nn.Module<"Model"> -> !torch.bool
  torch.prim.If %activate -> () {
    %z = torch.aten.relu_ %y : !torch.tensor -> !torch.tensor
    torch.prim.If.yield
  } else {
    %z = torch.aten.neg_ %y : !torch.tensor -> !torch.tensor
    torch.prim.If.yield
  }
  return %y : !torch.tensor
}
