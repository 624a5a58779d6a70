// RUN: torch2mlir-opt -p 'torch-mask-padding{symbols=s0}' %s | filecheck %s

// A sum over rows gets zeros for those that are padding; how many rows are real is the last argument.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    [[X:%.*]]: !torch.vtensor<[?,3],f32>, [[COUNT:%.*]]: !torch.vtensor<[],si64>)
// CHECK:         [[PLACES:%.*]] = torch.aten.arange.start_step
// CHECK:         [[REAL:%.*]] = torch.aten.lt.Tensor [[PLACES]], [[COUNT]]
// CHECK:         [[MASK:%.*]] = torch.aten.unsqueeze [[REAL]]
// CHECK:         [[KEPT:%.*]] = torch.aten.where.self [[MASK]], [[X]]
// CHECK:         torch.aten.sum.dim_IntList [[KEPT]]
func.func @sum(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[3],f32> {
  %s = torch.symbolic_int "s0" {min_val = 0, max_val = 8} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  %zero = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !torch.vtensor<[?,3],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// Element by element padding stays apart, and nothing is added.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    [[X:%.*]]: !torch.vtensor<[?,3],f32>)
// CHECK-NOT:     torch.aten.where
func.func @elementwise(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %s = torch.symbolic_int "s0" {min_val = 0, max_val = 8} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  %0 = torch.aten.tanh %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  torch.bind_symbolic_shape %0, [%s], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}
