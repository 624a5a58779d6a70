// RUN: torch2mlir-opt %s -tosa-control-flow-to-scf | filecheck %s

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    %[[P:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK-NEXT:    scf.if %[[P]] -> (tensor<4xf32>) {
// CHECK-NEXT:      tosa.cond_if
// CHECK:           scf.yield
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %x
func.func @nested(%x: tensor<4xf32>, %c: tensor<i1>, %d: tensor<i1>) -> tensor<4xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    %1 = tosa.cond_if %d : tensor<i1> -> tensor<4xf32> {
      %2 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      tosa.yield %2 : tensor<4xf32>
    } else {
      tosa.yield %x : tensor<4xf32>
    }
    tosa.yield %1 : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop_with_a_branch(
// CHECK:         scf.while (%[[N:.*]] = %n, %[[X:.*]] = %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
// CHECK-NEXT:      %[[LESS:.*]] = tosa.greater
// CHECK-NEXT:      %[[GO:.*]] = tensor.extract %[[LESS]][] : tensor<i1>
// CHECK-NEXT:      scf.condition(%[[GO]]) %[[N]], %[[X]] : tensor<i64>, tensor<4xf32>
// CHECK-NEXT:    } do {
// CHECK:           tosa.cond_if
// CHECK:           scf.yield
func.func @loop_with_a_branch(%x: tensor<4xf32>, %n: tensor<i64>, %d: tensor<i1>) -> tensor<4xf32> {
  %one = "tosa.const"() {values = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0, %1 = tosa.while_loop (%i = %n, %a = %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
    %2 = tosa.greater %one, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    tosa.yield %2 : tensor<i1>
  } do {
  ^bb0(%j: tensor<i64>, %b: tensor<4xf32>):
    %3 = tosa.add %j, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %4 = tosa.cond_if %d : tensor<i1> -> tensor<4xf32> {
      %5 = tosa.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      tosa.yield %5 : tensor<4xf32>
    } else {
      tosa.yield %b : tensor<4xf32>
    }
    tosa.yield %3, %4 : tensor<i64>, tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @alone(
// CHECK:         tosa.cond_if
func.func @alone(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    %1 = tosa.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @without_elements(
// CHECK:         scf.if
func.func @without_elements(%x: tensor<0xf32>, %y: tensor<0xf32>, %c: tensor<i1>) -> tensor<0xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<0xf32> {
    tosa.yield %x : tensor<0xf32>
  } else {
    tosa.yield %y : tensor<0xf32>
  }
  return %0 : tensor<0xf32>
}
