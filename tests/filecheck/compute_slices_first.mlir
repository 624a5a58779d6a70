// RUN: torch2mlir-opt %s -compute-slices-first | filecheck %s

// CHECK-LABEL: func.func @a_column(
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK:         %[[COPY:.*]] = "iree_tensor_ext.compute_barrier.start"(%[[PART]]
// CHECK:         tensor.collapse_shape %[[COPY]]
func.func @a_column(%x: tensor<?x?xf32>, %n: index, %i: index) -> f32 {
  %0 = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1] : tensor<?x?xf32> to tensor<?x1xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %2 = tensor.extract %1[%i] : tensor<?xf32>
  return %2 : f32
}

// A slice of a slice is a part of the whole tensor.
// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-1: compute_barrier
func.func @twice(%x: tensor<?x?xf32>, %n: index, %i: index) -> f32 {
  %0 = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x?xf32> to tensor<?x2xf32>
  %1 = tensor.extract_slice %0[0, 1] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %2 = tensor.extract %1[%i, %i] : tensor<?x1xf32>
  return %2 : f32
}

// CHECK-LABEL: func.func @reversed(
// CHECK:         compute_barrier
func.func @reversed(%x: tensor<?x?xf32>) -> tensor<?x2xf32> {
  %0 = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.const_shape {values = dense<[-1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.slice %x, %0, %1 : (tensor<?x?xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x2xf32>
  %3 = tosa.reverse %2 {axis = 0 : i32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}

// Rows follow each other at a known distance, and what is not read by position is read where it lies.
// CHECK-LABEL: func.func @as_it_is(
// CHECK-NOT:     compute_barrier
func.func @as_it_is(%x: tensor<?x4xf32>, %y: tensor<?x?xf32>, %n: index, %i: index) -> (f32, tensor<?x1xf32>) {
  %0 = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1] : tensor<?x4xf32> to tensor<?x1xf32>
  %1 = tensor.extract %0[%i, %i] : tensor<?x1xf32>
  %2 = tensor.extract_slice %y[0, 1] [%n, 1] [1, 1] : tensor<?x?xf32> to tensor<?x1xf32>
  return %1, %2 : f32, tensor<?x1xf32>
}

// CHECK-LABEL: func.func @every_second(
// CHECK:         compute_barrier
func.func @every_second(%x: tensor<4xf32>, %i: index) -> f32 {
  %0 = tensor.extract_slice %x[0] [2] [2] : tensor<4xf32> to tensor<2xf32>
  %1 = tensor.extract %0[%i] : tensor<2xf32>
  return %1 : f32
}

// CHECK-LABEL: func.func @one_element_of_more_dimensions(
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK-NEXT:    %[[HIDDEN:.*]] = "util.optimization_barrier"(%[[PART]])
// CHECK-NEXT:    tensor.expand_shape %[[HIDDEN]]
func.func @one_element_of_more_dimensions(%x: tensor<3xf32>) -> tensor<1x1xf32> {
  %0 = tensor.extract_slice %x[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

// Two elements of what parts are combined to: it is computed before. One element, or elements of what is given, are not.
// CHECK-LABEL: func.func @two_elements(
// CHECK:         %[[PRODUCT:.*]] = tosa.mul
// CHECK:         %[[KEPT:.*]] = "iree_tensor_ext.compute_barrier.start"(%[[PRODUCT]]
// CHECK-COUNT-2: tosa.slice %[[KEPT]]
// CHECK-LABEL: func.func @one_element(
// CHECK-NOT:     compute_barrier
func.func @two_elements(%x: tensor<4xi32>) -> tensor<1xi32> {
  %0 = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  %1 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %2 = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %3 = tosa.slice %x, %0, %2 : (tensor<4xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xi32>
  %4 = tosa.slice %x, %2, %2 : (tensor<4xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xi32>
  %5 = tosa.mul %3, %4, %s : (tensor<2xi32>, tensor<2xi32>, tensor<1xi8>) -> tensor<2xi32>
  %6 = tosa.slice %5, %0, %1 : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
  %7 = tosa.slice %5, %1, %1 : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
  %8 = tosa.mul %6, %7, %s : (tensor<1xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<1xi32>
  return %8 : tensor<1xi32>
}
func.func @one_element(%x: tensor<4xi32>, %y: tensor<2xi32>) -> tensor<1xi32> {
  %0 = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  %1 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %2 = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %3 = tosa.slice %x, %0, %2 : (tensor<4xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xi32>
  %4 = tosa.slice %x, %2, %2 : (tensor<4xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xi32>
  %5 = tosa.mul %3, %4, %s : (tensor<2xi32>, tensor<2xi32>, tensor<1xi8>) -> tensor<2xi32>
  %6 = tosa.slice %5, %0, %1 : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
  %7 = tosa.slice %y, %0, %1 : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
  %8 = tosa.slice %y, %1, %1 : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
  %9 = tosa.mul %6, %7, %s : (tensor<1xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<1xi32>
  %10 = tosa.mul %9, %8, %s : (tensor<1xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<1xi32>
  return %10 : tensor<1xi32>
}
