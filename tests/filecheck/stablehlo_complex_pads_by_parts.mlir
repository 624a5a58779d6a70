// RUN: torch2mlir-opt -p stablehlo-complex-pads-by-parts %s | filecheck %s

// CHECK-LABEL: func.func @complex
// CHECK: stablehlo.real
// CHECK: stablehlo.pad {{.*}} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK: stablehlo.imag
// CHECK: stablehlo.pad {{.*}} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK: stablehlo.complex
func.func @complex(%x: tensor<3xcomplex<f32>>, %n: tensor<complex<f32>>) -> tensor<5xcomplex<f32>> {
  %0 = stablehlo.pad %x, %n, low = [1], high = [1], interior = [0] : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
  func.return %0 : tensor<5xcomplex<f32>>
}

// CHECK-LABEL: func.func @real
// CHECK-NOT: stablehlo.real
// CHECK: return
func.func @real(%x: tensor<3xf32>, %n: tensor<f32>) -> tensor<5xf32> {
  %0 = stablehlo.pad %x, %n, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
