// Every tensor operation a PyTorch program needs, and cf.assert.

func.func @tensor(%t: tensor<2x3xf32>, %d: tensor<?x3xf32>, %u: tensor<?x?xf32>, %i: index, %j: index, %f: f32, %s1: tensor<1xindex>, %s2: tensor<2xindex>, %i8: tensor<2xi8>, %un: tensor<*xf32>, %flag: i1) {
  %0 = tensor.bitcast %i8 : tensor<2xi8> to tensor<2xui8>
  %1 = tensor.cast %t : tensor<2x3xf32> to tensor<?x3xf32>
  %2 = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %3 = tensor.collapse_shape %d [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  %4 = tensor.concat dim(1) %t, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %5 = tensor.dim %d, %i : tensor<?x3xf32>
  %6 = tensor.empty() : tensor<2x3xf32>
  %7 = tensor.empty(%i) : tensor<?x3xf32>
  %8 = tensor.empty(%i, %j) : tensor<?x?xf32>
  %9 = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 1, 3] : tensor<2x3xf32> into tensor<2x1x3xf32>
  %10 = tensor.expand_shape %d [[0, 1], [2]] output_shape [%i, 1, 3] : tensor<?x3xf32> into tensor<?x1x3xf32>
  %11 = tensor.extract %t[%i, %j] : tensor<2x3xf32>
  %12 = tensor.extract_slice %t[0, 1] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
  %13 = tensor.extract_slice %u[%i, 0] [%j, 1] [1, 2] : tensor<?x?xf32> to tensor<?x1xf32>
  %14 = tensor.extract_slice %t[0, 1] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2xf32>
  %15 = tensor.from_elements %f, %f : tensor<2xf32>
  %16 = tensor.from_elements %f : tensor<f32>
  %17 = tensor.from_elements %f, %f, %f, %f : tensor<2x2xf32>
  %18 = tensor.generate %i {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<?x3xf32>
  %19 = tensor.generate {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32>
  %20 = tensor.insert %f into %t[%i, %j] : tensor<2x3xf32>
  %21 = tensor.insert_slice %t into %u[0, %i] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<?x?xf32>
  %22 = tensor.pad %t low[0, 1] high[%i, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<?x5xf32>
  %23 = tensor.pad %t nofold low[0, 1] high[0, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<2x5xf32>
  %24 = tensor.rank %un : tensor<*xf32>
  %25 = tensor.reshape %t(%s1) : (tensor<2x3xf32>, tensor<1xindex>) -> tensor<6xf32>
  %26 = tensor.splat %f : tensor<2x3xf32>
  %27 = tensor.splat %f[%i] : tensor<?x3xf32>
  %28 = tensor.extract %16[] : tensor<f32>
  %cc = tensor.extract_slice %t[0, 0] [1, 1] [1, 1] : tensor<2x3xf32> to tensor<1x1xf32>
  %30 = tensor.collapse_shape %cc [] : tensor<1x1xf32> into tensor<f32>
  %31 = tensor.expand_shape %16 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  cf.assert %flag, "sizes differ"
  return
}
