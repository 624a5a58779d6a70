// RUN: torch2mlir-opt -p torch-state-as-arguments %s | filecheck %s

builtin.module {
  torch.global_slot.module_initializer {
    %count = torch.tensor.literal(dense_resource<count> : tensor<2xf32>) : !torch.tensor<[2],f32>
    %cache = torch.tensor.literal(dense_resource<cache> : tensor<2xf32>) : !torch.tensor<[2],f32>
    %steps = torch.constant.int 0
    torch.initialize.global_slots [
      @count(%count : !torch.tensor<[2],f32>)
      @cache(%cache : !torch.tensor<[2],f32>)
      @steps(%steps : !torch.int)
    ]
  }
  torch.global_slot "private" @count : !torch.tensor
  torch.global_slot "private" @cache : !torch.tensor
  torch.global_slot "private" @steps : !torch.int

  // a number is no tensor
  // CHECK: torch.initialize.global_slots [
  // CHECK-NEXT: @steps(
  // CHECK-NOT: @count

  // written in place: one tensor all the time
  // CHECK-LABEL: func.func @written
  // CHECK-SAME: (%x: !torch.tensor, %count: !torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f32>, !torch.tensor)
  // CHECK: %[[MEMORY:.*]] = torch.copy.to_tensor %count
  // CHECK: %[[SAME:.*]] = torch.tensor_static_info_cast %[[MEMORY]]
  // CHECK: torch.aten.add_.Tensor %[[SAME]], %x
  // CHECK: %[[AFTER:.*]] = torch.copy.to_vtensor
  // CHECK: func.return %[[AFTER]], %{{.*}}
  func.func @written(%x: !torch.tensor) -> !torch.tensor {
    %one = torch.constant.int 1
    %0 = torch.global_slot.get @count : !torch.tensor
    %1 = torch.aten.add_.Tensor %0, %x, %one : !torch.tensor, !torch.tensor, !torch.int -> !torch.tensor
    func.return %1 : !torch.tensor
  }

  // set in one branch: a result more of the branch
  // CHECK-LABEL: func.func @set
  // CHECK: %[[BRANCH:.*]] = torch.prim.If %{{.*}} -> (!torch.tensor) {
  // CHECK-NEXT: torch.prim.If.yield %x : !torch.tensor
  // CHECK: } else {
  // CHECK: torch.prim.If.yield %{{.*}} : !torch.tensor
  // CHECK: %[[LAST:.*]] = torch.copy.to_vtensor %[[BRANCH]]
  // CHECK: func.return %[[LAST]], %[[BRANCH]]
  func.func @set(%x: !torch.tensor, %c: !torch.bool) -> !torch.tensor {
    torch.prim.If %c -> () {
      torch.global_slot.set @cache = %x : !torch.tensor
      torch.prim.If.yield
    } else {
      torch.prim.If.yield
    }
    %0 = torch.global_slot.get @cache : !torch.tensor
    func.return %0 : !torch.tensor
  }

  // a loop carries what it sets
  // CHECK-LABEL: func.func @carried
  // CHECK: torch.prim.Loop %n, %{{.*}}, init(%{{.*}})
  // CHECK: torch.prim.Loop.condition %{{.*}}, iter(%{{.*}} : !torch.tensor)
  func.func @carried(%x: !torch.tensor, %n: !torch.int) {
    %true = torch.constant.bool true
    torch.prim.Loop %n, %true, init() {
    ^bb0(%i: !torch.int):
      %0 = torch.global_slot.get @cache : !torch.tensor
      %1 = torch.aten.mul.Tensor %0, %x : !torch.tensor, !torch.tensor -> !torch.tensor
      torch.global_slot.set @cache = %1 : !torch.tensor
      torch.prim.Loop.condition %true, iter()
    } : (!torch.int, !torch.bool) -> ()
    func.return
  }

  // CHECK-LABEL: func.func @number
  // CHECK: torch.global_slot.get @steps
  func.func @number() -> !torch.int {
    %0 = torch.global_slot.get @steps : !torch.int
    func.return %0 : !torch.int
  }
}
