// RUN: torch2mlir-opt --split-input-file -p torch-simplify-shape-calculations,torch-simplify-dtype-calculations %s | filecheck %s
// RUN: torch2mlir-opt --split-input-file -p torch-simplify-shape-calculations,torch-simplify-dtype-calculations,torch-drop-abstract-interp-calculations %s | filecheck %s --check-prefix=DROPPED
// RUN: torch2mlir-opt --split-input-file -p torch-reify-shape-calculations,torch-reify-dtype-calculations %s | filecheck %s --check-prefix=AS-IT-IS
// What the peer's reified calculations come to.

// CHECK-LABEL: func.func @shapes
// CHECK:         torch.aten.tanh %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],unk>
// CHECK:         %[[L:.*]] = torch.prim.ListConstruct
// CHECK-NEXT:    torch.shape.calculate.yield.shapes %[[L]]
// DROPPED-LABEL: func.func @shapes
// DROPPED:         %[[T:.*]] = torch.aten.tanh %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],unk>
// DROPPED-NEXT:    torch.tensor_static_info_cast %[[T]]
// DROPPED-NOT:     calculate
// AS-IT-IS:      torch.prim.Loop
func.func @shapes(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor {
  %true = torch.constant.bool true
  %int3 = torch.constant.int 3
  %int2 = torch.constant.int 2
  %0 = torch.shape.calculate {
    %1 = torch.aten.tanh %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor
    torch.shape.calculate.yield %1 : !torch.vtensor
  } shapes {
    %1 = torch.prim.ListConstruct %int2, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
    %2 = torch.prim.ListConstruct  : () -> !torch.list<int>
    torch.prim.Loop %int2, %true, init() {
    ^bb0(%i: !torch.int):
      %3 = torch.aten.__getitem__.t %1, %i : !torch.list<int>, !torch.int -> !torch.int
      %4 = torch.aten.append.t %2, %3 : !torch.list<int>, !torch.int -> !torch.list<int>
      torch.prim.Loop.condition %true, iter()
    } : (!torch.int, !torch.bool) -> ()
    torch.shape.calculate.yield.shapes %2 : !torch.list<int>
  } : !torch.vtensor
  return %0 : !torch.vtensor
}

// -----

// CHECK-LABEL: func.func @dtypes
// CHECK:         torch.aten.tanh %x : !torch.vtensor<[2,3],si64> -> !torch.vtensor<[2,3],f32>
func.func @dtypes(%x: !torch.vtensor<[2,3],si64>) -> !torch.vtensor<[2,3],unk> {
  %int4 = torch.constant.int 4
  %int6 = torch.constant.int 6
  %0 = torch.dtype.calculate {
    %1 = torch.aten.tanh %x : !torch.vtensor<[2,3],si64> -> !torch.vtensor<[2,3],unk>
    torch.dtype.calculate.yield %1 : !torch.vtensor<[2,3],unk>
  } dtypes {
    %d = torch.prim.dtype %x : !torch.vtensor<[2,3],si64> -> !torch.int
    %c = torch.aten.eq.int %d, %int4 : !torch.int, !torch.int -> !torch.bool
    %r = torch.prim.If %c -> (!torch.int) {
      torch.prim.If.yield %int6 : !torch.int
    } else {
      torch.prim.If.yield %d : !torch.int
    }
    torch.dtype.calculate.yield.dtypes %r : !torch.int
  } : !torch.vtensor<[2,3],unk>
  return %0 : !torch.vtensor<[2,3],unk>
}
