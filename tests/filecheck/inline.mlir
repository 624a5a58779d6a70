// RUN: torch2mlir-opt --inline %s | filecheck %s

// Calls of calls; a private function that nobody calls any more goes, a recursive one stays a call.
// CHECK-NOT: func.func private @inner
// CHECK-LABEL: func.func @outer(%x: !torch.int) -> !torch.int {
// CHECK-NEXT: %y = torch.aten.neg.int %x
// CHECK-NEXT: %y_1 = torch.aten.neg.int %y
// CHECK-NEXT: %[[Z:.*]] = func.call @forever(%y_1)
// CHECK-NEXT: func.return %[[Z]]
func.func private @inner(%x: !torch.int) -> !torch.int {
  %y = torch.aten.neg.int %x : !torch.int -> !torch.int
  return %y : !torch.int
}
func.func private @twice(%x: !torch.int) -> !torch.int {
  %y = call @inner(%x) : (!torch.int) -> !torch.int
  %z = call @inner(%y) : (!torch.int) -> !torch.int
  return %z : !torch.int
}
func.func @outer(%x: !torch.int) -> !torch.int {
  %y = call @twice(%x) : (!torch.int) -> !torch.int
  %z = call @forever(%y) : (!torch.int) -> !torch.int
  return %z : !torch.int
}
// CHECK: func.func private @forever
func.func private @forever(%x: !torch.int) -> !torch.int {
  %y = call @forever(%x) : (!torch.int) -> !torch.int
  return %y : !torch.int
}
