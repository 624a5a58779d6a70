// RUN: torch2mlir-opt %s -linalg-loops-to-iree | filecheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     scf.for
// CHECK:         "iree_linalg_ext.scatter"(%rows, %places, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      "iree_linalg_ext.yield"
func.func @rows(%x: tensor<8x3xf32>, %places: tensor<5x1xi64>, %rows: tensor<5x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %result = scf.for %i = %zero to %count step %one iter_args(%t = %x) -> (tensor<8x3xf32>) {
    %found = tensor.extract %places[%i, %zero] : tensor<5x1xi64>
    %place = arith.index_cast %found : i64 to index
    %old = tensor.extract_slice %t[%place, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<1x3xf32>
    %row = tensor.extract_slice %rows[%i, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<1x3xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<1x3xf32>) outs(%old : tensor<1x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %b, %a : f32
      linalg.yield %sum : f32
    } -> tensor<1x3xf32>
    %next = tensor.insert_slice %new into %t[%place, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x3xf32>
    scf.yield %next : tensor<8x3xf32>
  }
  return %result : tensor<8x3xf32>
}

// the old rows are of another tensor than what is written to
// CHECK-LABEL: func.func @of_another_tensor(
// CHECK:         scf.for
func.func @of_another_tensor(%x: tensor<8x3xf32>, %places: tensor<5x1xi64>, %rows: tensor<5x3xf32>) -> tensor<8x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %result = scf.for %i = %zero to %count step %one iter_args(%t = %x) -> (tensor<8x3xf32>) {
    %found = tensor.extract %places[%i, %zero] : tensor<5x1xi64>
    %place = arith.index_cast %found : i64 to index
    %old = tensor.extract_slice %x[%place, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<1x3xf32>
    %row = tensor.extract_slice %rows[%i, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<1x3xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<1x3xf32>) outs(%old : tensor<1x3xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %b, %a : f32
      linalg.yield %sum : f32
    } -> tensor<1x3xf32>
    %next = tensor.insert_slice %new into %t[%place, 0] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x3xf32>
    scf.yield %next : tensor<8x3xf32>
  }
  return %result : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @running_sums(
// CHECK-NOT:     scf.for
// CHECK:         "iree_linalg_ext.scan"(%x, %{{.*}}, %{{.*}}) <{dimension = 1 : i64, inclusive = true}> ({
// CHECK-NEXT:    ^bb0(%[[OLD:.*]]: f32, %[[NEW:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[OLD]], %[[NEW]] : f32
// CHECK-NEXT:      "iree_linalg_ext.yield"
func.func @running_sums(%x: tensor<3x?xf32>, %count: index) -> tensor<3x?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty(%count) : tensor<3x?xf32>
  %column = tensor.empty() : tensor<3xf32>
  %start = linalg.fill ins(%nothing : f32) outs(%column : tensor<3xf32>) -> tensor<3xf32>
  %sums, %last = scf.for %i = %zero to %count step %one iter_args(%t = %empty, %reached = %start) -> (tensor<3x?xf32>, tensor<3xf32>) {
    %here = tensor.extract_slice %x[0, %i] [3, 1] [1, 1] : tensor<3x?xf32> to tensor<3xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%here : tensor<3xf32>) outs(%reached : tensor<3xf32>) {
    ^bb0(%new: f32, %old: f32):
      %total = arith.addf %old, %new : f32
      linalg.yield %total : f32
    } -> tensor<3xf32>
    %next = tensor.insert_slice %sum into %t[0, %i] [3, 1] [1, 1] : tensor<3xf32> into tensor<3x?xf32>
    scf.yield %next, %sum : tensor<3x?xf32>, tensor<3xf32>
  }
  return %sums : tensor<3x?xf32>
}
