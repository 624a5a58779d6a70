// RUN: torch2mlir-opt %s -canonicalize | filecheck %s

// One pass, called as mlir-opt calls it, for torch's ops and for those of other dialects.

// CHECK-LABEL: func.func @both(
// CHECK-NEXT: %[[C:.*]] = torch.constant.int 5
// CHECK-NEXT: return %{{.*}}, %[[C]]
func.func @both(%x: i32) -> (i32, !torch.int) {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %x, %zero : i32
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %1 = torch.aten.add.int %2, %3 : !torch.int, !torch.int -> !torch.int
  return %0, %1 : i32, !torch.int
}
