// RUN: torch2mlir-opt -p torch-scalarize-shapes %s | filecheck %s

// view(x, [size(x, 0), prod(shape(x)[1:])])
// CHECK-LABEL: func.func @flatten
// CHECK-NOT:     _shape_as_tensor
// CHECK:         %[[A:.*]] = torch.aten.size.int %x
// CHECK:         %[[B:.*]] = torch.aten.size.int %x
// CHECK:         %[[P:.*]] = torch.aten.mul.int %{{.*}}, %[[B]]
// CHECK:         %[[L:.*]] = torch.prim.ListConstruct %[[A]], %[[P]]
// CHECK-NEXT:    torch.aten.view %x, %[[L]]
func.func @flatten(%x: !torch.vtensor<[?,3,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %n = torch.constant.none
  %s = torch.aten._shape_as_tensor %x : !torch.vtensor<[?,3,?],f32> -> !torch.vtensor<[3],si64>
  %i = torch.vtensor.literal(dense<0> : tensor<si64>) : !torch.vtensor<[],si64>
  %a = torch.aten.index_select %s, %0, %i : !torch.vtensor<[3],si64>, !torch.int, !torch.vtensor<[],si64> -> !torch.vtensor<[1],si64>
  %b = torch.aten.item %a : !torch.vtensor<[1],si64> -> !torch.int
  %r = torch.aten.slice.Tensor %s, %0, %1, %n, %1 : !torch.vtensor<[3],si64>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[2],si64>
  %p = torch.aten.prod %r, %n : !torch.vtensor<[2],si64>, !torch.none -> !torch.vtensor<[],si64>
  %q = torch.aten.item %p : !torch.vtensor<[],si64> -> !torch.int
  %l = torch.prim.ListConstruct %b, %q : (!torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.view %x, %l : !torch.vtensor<[?,3,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  return %v : !torch.vtensor<[?,?],f32>
}
