// RUN: torch2mlir-opt --split-input-file -p torch-fuse-quantized-ops %s | filecheck %s
// RUN: torch2mlir-opt --split-input-file -p torch-match-quantized-custom-ops %s | filecheck %s --check-prefix=MATCH

// CHECK-LABEL: func.func @product
// CHECK:         %[[S:.*]] = torch.constant.float 1.250000e-01
// CHECK:         torch.aten.mm %{{.*}} : !torch.vtensor<[2,3],!torch.qint8>, !torch.vtensor<[3,4],!torch.qint8> -> !torch.vtensor<[2,4],!torch.qint32>
// CHECK-NEXT:    %[[I:.*]] = torch.aten.int_repr %{{.*}} -> !torch.vtensor<[2,4],si32>
// CHECK:         %[[Q:.*]] = torch.aten._make_per_tensor_quantized_tensor %[[I]], %[[S]]
// CHECK-NEXT:    %[[R:.*]] = torch.aten.dequantize.tensor %[[Q]]
// CHECK-NEXT:    func.return %[[R]]
func.func @product(%lhs: !torch.vtensor<[2,3],si8>, %rhs: !torch.vtensor<[4,3],si8>) -> !torch.vtensor<[2,4],f32> {
  %half = torch.constant.float 5.000000e-01
  %quarter = torch.constant.float 2.500000e-01
  %3 = torch.constant.int 3
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %a = torch.aten._make_per_tensor_quantized_tensor %lhs, %half, %3 : !torch.vtensor<[2,3],si8>, !torch.float, !torch.int -> !torch.vtensor<[2,3],!torch.qint8>
  %x = torch.aten.dequantize.tensor %a : !torch.vtensor<[2,3],!torch.qint8> -> !torch.vtensor<[2,3],f32>
  %b = torch.aten._make_per_tensor_quantized_tensor %rhs, %quarter, %0 : !torch.vtensor<[4,3],si8>, !torch.float, !torch.int -> !torch.vtensor<[4,3],!torch.qint8>
  %y = torch.aten.dequantize.tensor %b : !torch.vtensor<[4,3],!torch.qint8> -> !torch.vtensor<[4,3],f32>
  %t = torch.aten.transpose.int %y, %0, %1 : !torch.vtensor<[4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  %r = torch.aten.mm %x, %t : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// One real operand: nothing is an integer.
// CHECK-LABEL: func.func @one_real_operand
// CHECK:         torch.aten.mm %{{.*}} : !torch.vtensor<[2,3],f32>
func.func @one_real_operand(%lhs: !torch.vtensor<[2,3],si8>, %y: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %half = torch.constant.float 5.000000e-01
  %3 = torch.constant.int 3
  %a = torch.aten._make_per_tensor_quantized_tensor %lhs, %half, %3 : !torch.vtensor<[2,3],si8>, !torch.float, !torch.int -> !torch.vtensor<[2,3],!torch.qint8>
  %x = torch.aten.dequantize.tensor %a : !torch.vtensor<[2,3],!torch.qint8> -> !torch.vtensor<[2,3],f32>
  %r = torch.aten.mm %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// MATCH-LABEL: func.func @exported
// MATCH:         torch.aten.quantize_per_tensor %x{{.*}} -> !torch.vtensor<[2,3],!torch.qint8>
// MATCH:         torch.aten.int_repr
// MATCH:         torch.aten.clamp
// MATCH:         torch.aten.clamp
// MATCH:         torch.aten._make_per_tensor_quantized_tensor
// MATCH:         torch.aten.dequantize.tensor
// MATCH-NOT:     quantized_decomposed
func.func @exported(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %s = torch.constant.float 0.5
  %z = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dt = torch.constant.int 1
  %q = torch.operator "torch.quantized_decomposed.quantize_per_tensor"(%x, %s, %z, %lo, %hi, %dt) : (!torch.vtensor<[2,3],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,3],si8>
  %d = torch.operator "torch.quantized_decomposed.dequantize_per_tensor"(%q, %s, %z, %lo, %hi, %dt) : (!torch.vtensor<[2,3],si8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,3],f32>
  return %d : !torch.vtensor<[2,3],f32>
}
