// RUN: torch2mlir-opt --torch-adjust-calling-conventions %s | filecheck %s

// An annotated argument has its type; inside, the tensor is a copy. An argument without annotation stays.
// CHECK-LABEL: func.func @annotated(%x: !torch.vtensor<[2,?],f32>, %y: !torch.tensor) -> !torch.tensor {
// CHECK-NEXT: %[[ERASED:.*]] = torch.tensor_static_info_cast %x : !torch.vtensor<[2,?],f32> to !torch.vtensor
// CHECK-NEXT: %[[COPY:.*]] = torch.copy.to_tensor %[[ERASED]] : !torch.tensor
// CHECK-NEXT: func.return %[[COPY]]
func.func @annotated(%x: !torch.tensor {torch.type_bound = !torch.vtensor<[2,?],f32>}, %y: !torch.tensor) -> !torch.tensor {
  return %x : !torch.tensor
}

// CHECK-LABEL: func.func @calls
// CHECK: %[[KNOWN:.*]] = torch.tensor_static_info_cast %x : !torch.tensor to !torch.tensor<[2,?],f32>
// CHECK-NEXT: %[[VALUE:.*]] = torch.copy.to_vtensor %[[KNOWN]] : !torch.vtensor<[2,?],f32>
// CHECK-NEXT: func.call @annotated(%[[VALUE]], %x) : (!torch.vtensor<[2,?],f32>, !torch.tensor) -> !torch.tensor
func.func @calls(%x: !torch.tensor) -> !torch.tensor {
  %0 = call @annotated(%x, %x) : (!torch.tensor, !torch.tensor) -> !torch.tensor
  return %0 : !torch.tensor
}

// CHECK-LABEL: func.func @nothing() {
// CHECK-NEXT: torch.constant.none
// CHECK-NEXT: func.return
func.func @nothing() -> !torch.none {
  %none = torch.constant.none
  return %none : !torch.none
}

// Tuples are several results, nested ones too; None in them is none.
// CHECK-LABEL: func.func @tuples(%x: !torch.tensor, %p: !torch.tuple<int, none>) -> (!torch.tensor, !torch.int) {
// CHECK-NEXT: torch.prim.TupleUnpack %p
func.func @tuples(%x: !torch.tensor, %p: !torch.tuple<int, none>) -> !torch.tuple<tensor, tuple<int, none>> {
  %t = torch.prim.TupleConstruct %x, %p : !torch.tensor, !torch.tuple<int, none> -> !torch.tuple<tensor, tuple<int, none>>
  return %t : !torch.tuple<tensor, tuple<int, none>>
}

// CHECK-LABEL: func.func @calls_tuples
// CHECK-NEXT: %[[T:.*]], %[[I:.*]] = func.call @tuples(%x, %p)
// CHECK-NEXT: %[[NONE:.*]] = torch.constant.none
// CHECK-NEXT: %[[PAIR:.*]] = torch.prim.TupleConstruct %[[I]], %[[NONE]]
// CHECK-NEXT: torch.prim.TupleConstruct %[[T]], %[[PAIR]]
func.func @calls_tuples(%x: !torch.tensor, %p: !torch.tuple<int, none>) -> !torch.tensor {
  %t = call @tuples(%x, %p) : (!torch.tensor, !torch.tuple<int, none>) -> !torch.tuple<tensor, tuple<int, none>>
  %y:2 = torch.prim.TupleUnpack %t : !torch.tuple<tensor, tuple<int, none>> -> !torch.tensor, !torch.tuple<int, none>
  return %y#0 : !torch.tensor
}
