// RUN: torch2mlir-opt --pass-pipeline='builtin.module(torch-canonicalize)' %s | filecheck %s

// A condition that counts from zero is a trip count; what never changes is not carried.
// CHECK-LABEL: func.func @counts
// CHECK: %[[N:.*]] = torch.constant.int 5
// CHECK: torch.prim.Loop %[[N]], %{{.*}}, init(%x)
// CHECK: torch.aten.add.Tensor %{{.*}}, %w
// CHECK: torch.prim.Loop.condition %{{.*}}, iter(%{{.*}} : !torch.vtensor<[3],f32>)
func.func @counts(%x: !torch.vtensor<[3],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %none = torch.constant.none
  %int64 = torch.constant.int 4
  %five = torch.constant.int 5
  %most = torch.constant.int 9223372036854775807
  %true = torch.constant.bool true
  %sizes = torch.prim.ListConstruct : () -> !torch.list<int>
  %k0 = torch.aten.full %sizes, %zero, %int64, %none, %none, %none : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],si64>
  %r:3 = torch.prim.Loop %most, %true, init(%k0, %x, %w) {
  ^bb0(%i: !torch.int, %k: !torch.vtensor<[],si64>, %a: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>):
    %next = torch.aten.add.Scalar %k, %one, %one : !torch.vtensor<[],si64>, !torch.int, !torch.int -> !torch.vtensor<[],si64>
    %sum = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
    %less = torch.aten.lt.Scalar %next, %five : !torch.vtensor<[],si64>, !torch.int -> !torch.vtensor<[],i1>
    %go_on = torch.aten.Bool.Tensor %less : !torch.vtensor<[],i1> -> !torch.bool
    torch.prim.Loop.condition %go_on, iter(%next, %sum, %b : !torch.vtensor<[],si64>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[],si64>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>)
  return %r#1 : !torch.vtensor<[3],f32>
}

// A loop whose count is asked for afterwards keeps it.
// CHECK-LABEL: func.func @asks
// CHECK: torch.prim.Loop %{{.*}}, %{{.*}}, init(%{{.*}}, %x)
func.func @asks(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[3],f32>) {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %none = torch.constant.none
  %int64 = torch.constant.int 4
  %five = torch.constant.int 5
  %most = torch.constant.int 9223372036854775807
  %true = torch.constant.bool true
  %sizes = torch.prim.ListConstruct : () -> !torch.list<int>
  %k0 = torch.aten.full %sizes, %zero, %int64, %none, %none, %none : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],si64>
  %r:2 = torch.prim.Loop %most, %true, init(%k0, %x) {
  ^bb0(%i: !torch.int, %k: !torch.vtensor<[],si64>, %a: !torch.vtensor<[3],f32>):
    %next = torch.aten.add.Scalar %k, %one, %one : !torch.vtensor<[],si64>, !torch.int, !torch.int -> !torch.vtensor<[],si64>
    %sum = torch.aten.add.Tensor %a, %a, %one : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
    %less = torch.aten.lt.Scalar %next, %five : !torch.vtensor<[],si64>, !torch.int -> !torch.vtensor<[],i1>
    %go_on = torch.aten.Bool.Tensor %less : !torch.vtensor<[],i1> -> !torch.bool
    torch.prim.Loop.condition %go_on, iter(%next, %sum : !torch.vtensor<[],si64>, !torch.vtensor<[3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[],si64>, !torch.vtensor<[3],f32>) -> (!torch.vtensor<[],si64>, !torch.vtensor<[3],f32>)
  return %r#0, %r#1 : !torch.vtensor<[],si64>, !torch.vtensor<[3],f32>
}
