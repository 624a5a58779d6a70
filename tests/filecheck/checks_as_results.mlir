// RUN: torch2mlir-opt -p torch-checks-as-results %s | filecheck %s

// CHECK-LABEL: func.func @asserted(
// CHECK:         [[OK:%.*]] = torch.aten.lt.int
// CHECK-NOT:     torch.runtime.assert
// CHECK:         func.return %x, [[OK]] : !torch.vtensor<[],si64>, !torch.bool
func.func @asserted(%x: !torch.vtensor<[],si64>) -> !torch.vtensor<[],si64> {
  %c3 = torch.constant.int 3
  %i = torch.aten.item %x : !torch.vtensor<[],si64> -> !torch.int
  %ok = torch.aten.lt.int %i, %c3 : !torch.int, !torch.int -> !torch.bool
  torch.runtime.assert %ok, "less than 3"
  return %x : !torch.vtensor<[],si64>
}

// What always holds is no result.
// CHECK-LABEL: func.func @known(
// CHECK-NOT:     torch.runtime.assert
// CHECK:         func.return %x : !torch.vtensor<[],si64>
func.func @known(%x: !torch.vtensor<[],si64>) -> !torch.vtensor<[],si64> {
  %true = torch.constant.bool true
  torch.runtime.assert %true, "always"
  return %x : !torch.vtensor<[],si64>
}

// Holds where the branch is not taken.
// CHECK-LABEL: func.func @in_a_branch(
// CHECK:         [[RESULT:%.*]], [[OK:%.*]] = torch.prim.If %c
// CHECK:         torch.prim.If.yield %x, %ok
// CHECK:         [[TRUE:%.*]] = torch.constant.bool true
// CHECK:         torch.prim.If.yield %x, [[TRUE]]
// CHECK:         func.return [[RESULT]], [[OK]]
func.func @in_a_branch(%x: !torch.vtensor<[],si64>, %c: !torch.bool, %ok: !torch.bool) -> !torch.vtensor<[],si64> {
  %0 = torch.prim.If %c -> (!torch.vtensor<[],si64>) {
    torch.runtime.assert %ok, "in a branch"
    torch.prim.If.yield %x : !torch.vtensor<[],si64>
  } else {
    torch.prim.If.yield %x : !torch.vtensor<[],si64>
  }
  return %0 : !torch.vtensor<[],si64>
}

// Holds if it does in every turn.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         [[RESULT:%.*]], [[OK:%.*]] = torch.prim.Loop %n, %true, init(%x, {{%.*}})
// CHECK:         [[BOTH:%.*]] = torch.aten.__and__.bool {{%.*}}, %ok
// CHECK:         torch.prim.Loop.condition %true, iter(%y, [[BOTH]]
// CHECK:         func.return [[RESULT]], [[OK]]
func.func @in_a_loop(%x: !torch.vtensor<[],si64>, %n: !torch.int) -> !torch.vtensor<[],si64> {
  %true = torch.constant.bool true
  %c3 = torch.constant.int 3
  %0 = torch.prim.Loop %n, %true, init(%x) {
  ^bb0(%i: !torch.int, %y: !torch.vtensor<[],si64>):
    %ok = torch.aten.lt.int %i, %c3 : !torch.int, !torch.int -> !torch.bool
    torch.runtime.assert %ok, "in a loop"
    torch.prim.Loop.condition %true, iter(%y : !torch.vtensor<[],si64>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[],si64>) -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}
