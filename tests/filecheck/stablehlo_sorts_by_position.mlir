// RUN: torch2mlir-opt -p stablehlo-sorts-by-position %s | filecheck %s

// Positions that are sorted along decide between equal elements.
// CHECK-LABEL: func.func @with_positions
// CHECK: "stablehlo.sort"(%x, %{{.*}})
// CHECK: ^{{.*}}([[X:%.*]]: tensor<f64>, [[Y:%.*]]: tensor<f64>, [[I:%.*]]: tensor<i64>, [[J:%.*]]: tensor<i64>):
// CHECK: [[FIRST:%.*]] = stablehlo.compare LT, [[X]], [[Y]]
// CHECK: [[SECOND:%.*]] = stablehlo.compare LT, [[Y]], [[X]]
// CHECK: [[EARLIER:%.*]] = stablehlo.compare LT, [[I]], [[J]]
// CHECK: [[TIE:%.*]] = stablehlo.not [[SECOND]]
// CHECK: [[BOTH:%.*]] = stablehlo.and [[TIE]], [[EARLIER]]
// CHECK: stablehlo.or [[FIRST]], [[BOTH]]
func.func @with_positions(%x: tensor<5xf64>) -> tensor<5xi64> {
  %0 = stablehlo.iota dim = 0 : tensor<5xi64>
  %1:2 = "stablehlo.sort"(%x, %0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %i: tensor<i64>, %j: tensor<i64>):
    %2 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<5xf64>, tensor<5xi64>) -> (tensor<5xf64>, tensor<5xi64>)
  func.return %1#1 : tensor<5xi64>
}

// Zeros are equal and have two signs.
// CHECK-LABEL: func.func @alone
// CHECK: stablehlo.iota
// CHECK: "stablehlo.sort"(%x, %{{.*}})
func.func @alone(%x: tensor<5xf64>) -> tensor<5xf64> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xf64>) -> tensor<5xf64>
  func.return %0 : tensor<5xf64>
}

// Of equal integers nobody sees which is which.
// CHECK-LABEL: func.func @integers
// CHECK: "stablehlo.sort"(%x)
func.func @integers(%x: tensor<5xi64>) -> tensor<5xi64> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xi64>) -> tensor<5xi64>
  func.return %0 : tensor<5xi64>
}
