// RUN: torch2mlir-opt --torch-reduce-op-variants %s | filecheck %s

// What only reads gets values and gives new tensors.
// CHECK-LABEL: func.func @reads
// CHECK-NEXT: %[[V:.*]] = torch.copy.to_vtensor %x : !torch.vtensor<[],f32>
// CHECK-NEXT: %[[Y:.*]] = torch.aten.tanh %[[V]] : !torch.vtensor<[],f32> -> !torch.vtensor<[],f32>
// CHECK-NEXT: %[[T:.*]] = torch.copy.to_tensor %[[Y]] : !torch.tensor<[],f32>
// CHECK-NEXT: func.return %[[T]]
func.func @reads(%x: !torch.tensor<[],f32>) -> !torch.tensor<[],f32> {
  %0 = torch.aten.tanh %x : !torch.tensor<[],f32> -> !torch.tensor<[],f32>
  return %0 : !torch.tensor<[],f32>
}

// Lists and optionals are made again, of values.
// CHECK-LABEL: func.func @containers
// CHECK: %[[A:.*]] = torch.copy.to_vtensor %a : !torch.vtensor
// CHECK-NEXT: %[[B:.*]] = torch.copy.to_vtensor %b : !torch.vtensor<[4],f32>
// CHECK-NEXT: %[[L:.*]] = torch.prim.ListConstruct %[[A]], %[[B]] : (!torch.vtensor, !torch.vtensor<[4],f32>) -> !torch.list<vtensor>
// CHECK-NEXT: torch.aten.cat %[[L]], %{{.*}} : !torch.list<vtensor>, !torch.int -> !torch.vtensor
// CHECK: torch.derefine %{{.*}} : !torch.vtensor<[4],f32> to !torch.optional<vtensor<[4],f32>>
// CHECK: torch.aten.linear %{{.*}} : !torch.vtensor, !torch.vtensor, !torch.optional<vtensor<[4],f32>> -> !torch.vtensor
func.func @containers(%a: !torch.tensor, %b: !torch.tensor<[4],f32>) -> !torch.tensor {
  %0 = torch.constant.int 0
  %l = torch.prim.ListConstruct %a, %b : (!torch.tensor, !torch.tensor<[4],f32>) -> !torch.list<tensor>
  %c = torch.aten.cat %l, %0 : !torch.list<tensor>, !torch.int -> !torch.tensor
  %o = torch.derefine %b : !torch.tensor<[4],f32> to !torch.optional<tensor>
  %d = torch.aten.linear %c, %a, %o : !torch.tensor, !torch.tensor, !torch.optional<tensor> -> !torch.tensor
  return %d : !torch.tensor
}

// In place: the functional op, in the dtype of what is written; the result is what was written.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[SUM:.*]] = torch.aten.add.Tensor %{{.*}} -> !torch.vtensor<[2],unk>
// CHECK: %[[SIX:.*]] = torch.constant.int 6
// CHECK: %[[SAME:.*]] = torch.aten.to.dtype %[[SUM]], %[[SIX]], %{{.*}} -> !torch.vtensor<[2],f32>
// CHECK: torch.overwrite.tensor.contents %[[SAME]] overwrites %x : !torch.vtensor<[2],f32>, !torch.tensor<[2],f32>
// CHECK-NEXT: func.return %x, %x
func.func @in_place(%x: !torch.tensor<[2],f32>, %y: !torch.tensor<[2],f64>) -> (!torch.tensor<[2],f32>, !torch.tensor<[2],f32>) {
  %1 = torch.constant.int 1
  %0 = torch.aten.add_.Tensor %x, %y, %1 : !torch.tensor<[2],f32>, !torch.tensor<[2],f64>, !torch.int -> !torch.tensor<[2],f32>
  return %0, %x : !torch.tensor<[2],f32>, !torch.tensor<[2],f32>
}

// CHECK-LABEL: func.func @out
// CHECK: %[[M:.*]], %[[I:.*]] = torch.aten.max.dim
// CHECK-NEXT: torch.overwrite.tensor.contents %[[M]] overwrites %m
// CHECK-NEXT: torch.overwrite.tensor.contents %[[I]] overwrites %i
// CHECK-NEXT: func.return %m, %i
func.func @out(%x: !torch.tensor, %m: !torch.tensor, %i: !torch.tensor) -> (!torch.tensor, !torch.tensor) {
  %0 = torch.constant.int 0
  %false = torch.constant.bool false
  %r:2 = torch.aten.max.dim_max %x, %0, %false, %m, %i : !torch.tensor, !torch.int, !torch.bool, !torch.tensor, !torch.tensor -> !torch.tensor, !torch.tensor
  return %r#0, %r#1 : !torch.tensor, !torch.tensor
}

// A change of shape in place is a view, which the tensor's name stands for from there on.
// CHECK-LABEL: func.func @shape
// CHECK: %t = torch.copy.to_tensor %x
// CHECK: torch.copy.to_vtensor %t
// CHECK: %[[V:.*]] = torch.aten.unsqueeze %t
// CHECK-NEXT: func.return %{{.*}}, %[[V]]
func.func @shape(%x: !torch.vtensor) -> (!torch.tensor, !torch.tensor) {
  %t = torch.copy.to_tensor %x : !torch.tensor
  %0 = torch.constant.int 0
  %s = torch.aten.sin %t : !torch.tensor -> !torch.tensor
  %u = torch.aten.unsqueeze_ %t, %0 : !torch.tensor, !torch.int -> !torch.tensor
  return %s, %t : !torch.tensor, !torch.tensor
}

// CHECK-LABEL: func.func @literal
// CHECK-NEXT: torch.vtensor.literal(dense<0.000000e+00> : tensor<7xf32>) : !torch.vtensor<[7],f32>
// CHECK-NEXT: torch.tensor_static_info_cast %{{.*}} : !torch.vtensor<[7],f32> to !torch.vtensor
// CHECK-NEXT: torch.copy.to_tensor
func.func @literal() -> !torch.tensor {
  %0 = torch.tensor.literal(dense<0.0> : tensor<7xf32>) : !torch.tensor
  return %0 : !torch.tensor
}

// Views, and ops that may give their operand itself, are for the next pass.
// CHECK-LABEL: func.func @views
// CHECK: torch.aten.select.int %x
// CHECK: torch.aten.contiguous %{{.*}} : !torch.tensor, !torch.int -> !torch.tensor
func.func @views(%x: !torch.tensor) -> !torch.tensor {
  %0 = torch.constant.int 0
  %v = torch.aten.select.int %x, %0, %0 : !torch.tensor, !torch.int, !torch.int -> !torch.tensor
  %c = torch.aten.contiguous %v, %0 : !torch.tensor, !torch.int -> !torch.tensor
  return %c : !torch.tensor
}
