// RUN: torch2mlir-opt -p torch-check-numbers %s | filecheck %s

// An integer of a float that elements decide: once for each float.
// CHECK-LABEL: func.func @integers(
// CHECK:         [[A:%.*]] = torch.aten.item %x
// CHECK:         [[SIZE:%.*]] = torch.operator "torch.prim.abs.float"([[A]])
// CHECK:         [[HELD:%.*]] = torch.aten.lt.float [[SIZE]], {{%.*}}
// CHECK:         torch.runtime.assert [[HELD]], "the program makes an integer of a float that is infinite, NaN or beyond 64 bits"
// CHECK:         torch.aten.Int.Scalar [[A]]
// CHECK-NOT:     torch.runtime.assert
// CHECK:         "torch.aten.floor.float"([[A]])
func.func @integers(%x: !torch.vtensor<[],f32>) -> (!torch.int, !torch.int) {
  %0 = torch.aten.item %x : !torch.vtensor<[],f32> -> !torch.float
  %1 = torch.aten.Int.Scalar %0 : !torch.float -> !torch.int
  %2 = torch.aten.floor.float %0 : !torch.float -> !torch.int
  return %1, %2 : !torch.int, !torch.int
}

// A divisor, and a base that has no real root; what is computed with numbers of elements is one too.
// CHECK-LABEL: func.func @divided(
// CHECK:         [[A:%.*]] = torch.aten.item %x
// CHECK:         [[B:%.*]] = torch.aten.add.float [[A]], {{%.*}}
// CHECK:         [[OTHER:%.*]] = torch.operator "torch.aten.ne.float"([[B]], {{%.*}})
// CHECK:         torch.runtime.assert [[OTHER]], "the program divides a number by 0"
// CHECK:         [[C:%.*]] = torch.aten.div.float {{%.*}}, [[B]]
// CHECK:         [[NEGATIVE:%.*]] = torch.aten.lt.float [[C]], {{%.*}}
// CHECK:         [[NOT:%.*]] = torch.aten.__not__ [[NEGATIVE]]
// CHECK:         torch.runtime.assert [[NOT]], "the program takes a root of a negative number"
// CHECK:         "torch.aten.sqrt.float"([[C]])
// CHECK-NOT:     torch.runtime.assert
func.func @divided(%x: !torch.vtensor<[],f32>) -> !torch.float {
  %c1 = torch.constant.float 1.000000e+00
  %0 = torch.aten.item %x : !torch.vtensor<[],f32> -> !torch.float
  %1 = torch.aten.add.float %0, %c1 : !torch.float, !torch.float -> !torch.float
  %2 = torch.aten.div.float %c1, %1 : !torch.float, !torch.float -> !torch.float
  %3 = torch.aten.sqrt.float %2 : !torch.float -> !torch.float
  return %3 : !torch.float
}

// Sizes of arguments are no elements.
// CHECK-LABEL: func.func @sizes(
// CHECK-NOT:     torch.runtime.assert
func.func @sizes(%x: !torch.vtensor<[?],f32>) -> !torch.int {
  %s = torch.symbolic_int "n" {min_val = 0, max_val = 100} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  %c0 = torch.constant.int 0
  %c8 = torch.constant.int 8
  %0 = torch.aten.size.int %x, %c0 : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %1 = torch.aten.div.int %c8, %0 : !torch.int, !torch.int -> !torch.float
  %2 = torch.aten.Int.float %1 : !torch.float -> !torch.int
  return %2 : !torch.int
}

// What a loop hands on may come from elements; what stands in a branch is checked there.
// CHECK-LABEL: func.func @handed_on(
// CHECK:         torch.prim.Loop
// CHECK:           torch.prim.If
// CHECK:             torch.runtime.assert {{%.*}}, "the program divides a number by 0"
// CHECK:             torch.aten.div.float
func.func @handed_on(%x: !torch.vtensor<[],f32>) -> !torch.float {
  %c1 = torch.constant.float 1.000000e+00
  %c3 = torch.constant.int 3
  %true = torch.constant.bool true
  %0 = torch.aten.item %x : !torch.vtensor<[],f32> -> !torch.float
  %1 = torch.prim.Loop %c3, %true, init(%c1) {
  ^bb0(%i: !torch.int, %a: !torch.float):
    %2 = torch.aten.gt.float %a, %c1 : !torch.float, !torch.float -> !torch.bool
    %3 = torch.prim.If %2 -> (!torch.float) {
      %4 = torch.aten.div.float %c1, %a : !torch.float, !torch.float -> !torch.float
      torch.prim.If.yield %4 : !torch.float
    } else {
      torch.prim.If.yield %0 : !torch.float
    }
    torch.prim.Loop.condition %true, iter(%3 : !torch.float)
  } : (!torch.int, !torch.bool, !torch.float) -> !torch.float
  return %1 : !torch.float
}
