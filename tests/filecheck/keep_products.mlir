// RUN: torch2mlir-opt -p torch-keep-products %s | filecheck %s

// CHECK-LABEL: func.func @ceil(
// CHECK:         [[PRODUCT:%.*]] = torch.aten.mul.Scalar %x
// CHECK:         [[SAME:%.*]] = torch.aten.eq.Tensor [[PRODUCT]], [[PRODUCT]]
// CHECK:         [[KEPT:%.*]] = torch.aten.where.self [[SAME]], [[PRODUCT]]
// CHECK:         torch.aten.sub.Scalar [[KEPT]]
func.func @ceil(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %tenth = torch.constant.float 1.000000e-01
  %one = torch.constant.int 1
  %0 = torch.aten.mul.Scalar %x, %tenth : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %1 = torch.aten.sub.Scalar %0, %one, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  %2 = torch.aten.ceil %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %2 : !torch.vtensor<[4],f32>
}

// A sum that stays a float may be rounded once.
// CHECK-LABEL: func.func @sum(
// CHECK-NOT:     torch.aten.where.self
func.func @sum(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %tenth = torch.constant.float 1.000000e-01
  %one = torch.constant.int 1
  %0 = torch.aten.mul.Scalar %x, %tenth : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %1 = torch.aten.sub.Scalar %0, %one, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// Nothing is added to this product.
// CHECK-LABEL: func.func @product(
// CHECK-NOT:     torch.aten.where.self
func.func @product(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %tenth = torch.constant.float 1.000000e-01
  %0 = torch.aten.mul.Scalar %x, %tenth : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %1 = torch.aten.floor %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
