// One or more instances of every TOSA operation, in the generic form that all consumers read.

func.func @abs(%a0: tensor<2x3xf32>) {
  %0 = "tosa.abs"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @ceil(%a0: tensor<2x3xf32>) {
  %0 = "tosa.ceil"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @cos(%a0: tensor<2x3xf32>) {
  %0 = "tosa.cos"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @exp(%a0: tensor<2x3xf32>) {
  %0 = "tosa.exp"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @floor(%a0: tensor<2x3xf32>) {
  %0 = "tosa.floor"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @log(%a0: tensor<2x3xf32>) {
  %0 = "tosa.log"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @reciprocal(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reciprocal"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @rsqrt(%a0: tensor<2x3xf32>) {
  %0 = "tosa.rsqrt"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @sin(%a0: tensor<2x3xf32>) {
  %0 = "tosa.sin"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @identity(%a0: tensor<2x3xf32>) {
  %0 = "tosa.identity"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @sigmoid(%a0: tensor<2x3xf32>) {
  %0 = "tosa.sigmoid"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @tanh(%a0: tensor<2x3xf32>) {
  %0 = "tosa.tanh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @erf(%a0: tensor<2x3xf32>) {
  %0 = "tosa.erf"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @clz(%a0: tensor<2x3xi32>) {
  %0 = "tosa.clz"(%a0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @bitwise_not(%a0: tensor<2x3xi32>) {
  %0 = "tosa.bitwise_not"(%a0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @logical_not(%a0: tensor<2x3xi1>) {
  %0 = "tosa.logical_not"(%a0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

func.func @negate(%a0: tensor<2x3xf32>, %a1: tensor<1xf32>, %a2: tensor<1xf32>) {
  %0 = "tosa.negate"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

func.func @add(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) {
  %0 = "tosa.add"(%a0, %a1) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @sub(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) {
  %0 = "tosa.sub"(%a0, %a1) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @pow(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) {
  %0 = "tosa.pow"(%a0, %a1) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @maximum(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) {
  %0 = "tosa.maximum"(%a0, %a1) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @maximum_1(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.maximum"(%a0, %a1) <{nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @minimum(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) {
  %0 = "tosa.minimum"(%a0, %a1) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @minimum_1(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.minimum"(%a0, %a1) <{nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @bitwise_and(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.bitwise_and"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @bitwise_or(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.bitwise_or"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @bitwise_xor(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.bitwise_xor"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @intdiv(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.intdiv"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @logical_left_shift(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.logical_left_shift"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @logical_right_shift(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.logical_right_shift"(%a0, %a1) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @logical_and(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = "tosa.logical_and"(%a0, %a1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

func.func @logical_or(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = "tosa.logical_or"(%a0, %a1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

func.func @logical_xor(%a0: tensor<2x3xi1>, %a1: tensor<2x3xi1>) {
  %0 = "tosa.logical_xor"(%a0, %a1) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

func.func @arithmetic_right_shift(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>) {
  %0 = "tosa.arithmetic_right_shift"(%a0, %a1) <{round = true}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

func.func @mul(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %a2: tensor<1xi8>) {
  %0 = "tosa.mul"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  return
}

func.func @apply_scale(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>, %a2: tensor<2x3xi8>) {
  %0 = "tosa.apply_scale"(%a0, %a1, %a2) <{rounding_mode = #tosa.rounding_mode<DOUBLE_ROUND>}> : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi8>) -> tensor<2x3xi32>
  return
}

func.func @equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.equal"(%a0, %a1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

func.func @greater(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.greater"(%a0, %a1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

func.func @greater_equal(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.greater_equal"(%a0, %a1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

func.func @select(%a0: tensor<2x3xi1>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) {
  %0 = "tosa.select"(%a0, %a1, %a2) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @clamp(%a0: tensor<2x3xf32>) {
  %0 = "tosa.clamp"(%a0) <{min_val = 0.0 : f32, max_val = 6.0 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @clamp_1(%a0: tensor<2x3xf32>) {
  %0 = "tosa.clamp"(%a0) <{min_val = 0.0 : f32, max_val = 6.0 : f32, nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @reduce_max(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reduce_max"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

func.func @reduce_min(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reduce_min"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

func.func @reduce_product(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reduce_product"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

func.func @reduce_sum(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reduce_sum"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

func.func @reduce_max_1(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reduce_max"(%a0) <{axis = 1 : i32, nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

func.func @reduce_all(%a0: tensor<2x3xi1>) {
  %0 = "tosa.reduce_all"(%a0) <{axis = 1 : i32}> : (tensor<2x3xi1>) -> tensor<2x1xi1>
  return
}

func.func @reduce_any(%a0: tensor<2x3xi1>) {
  %0 = "tosa.reduce_any"(%a0) <{axis = 1 : i32}> : (tensor<2x3xi1>) -> tensor<2x1xi1>
  return
}

func.func @argmax(%a0: tensor<2x3xf32>) {
  %0 = "tosa.argmax"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

func.func @argmax_1(%a0: tensor<2x3xf32>) {
  %0 = "tosa.argmax"(%a0) <{axis = 1 : i32, nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

func.func @concat(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) {
  %0 = "tosa.concat"(%a0, %a1) <{axis = 0 : i32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

func.func @pad(%a0: tensor<2x3xf32>, %a2: tensor<1xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[0, 0, 0, 0]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %0 = "tosa.pad"(%a0, %a1, %a2) : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

func.func @reshape(%a0: tensor<2x3xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[6]> : tensor<1xindex>}> : () -> !tosa.shape<1>
  %0 = "tosa.reshape"(%a0, %a1) : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return
}

func.func @reverse(%a0: tensor<2x3xf32>) {
  %0 = "tosa.reverse"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @slice(%a0: tensor<2x3xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[0, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a2 = "tosa.const_shape"() <{values = dense<[1, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.slice"(%a0, %a1, %a2) : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  return
}

func.func @tile(%a0: tensor<2x3xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[2, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.tile"(%a0, %a1) : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<4x3xf32>
  return
}

func.func @transpose(%a0: tensor<2x3xf32>) {
  %0 = "tosa.transpose"(%a0) <{perms = array<i32: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

func.func @gather(%a0: tensor<1x4x3xf32>, %a1: tensor<1x2xi32>) {
  %0 = "tosa.gather"(%a0, %a1) : (tensor<1x4x3xf32>, tensor<1x2xi32>) -> tensor<1x2x3xf32>
  return
}

func.func @row_gather(%a0: tensor<1x4x3xf32>, %a1: tensor<1x2xi32>, %a2: tensor<1xi32>) {
  %0 = "tosa.row_gather"(%a0, %a1, %a2) : (tensor<1x4x3xf32>, tensor<1x2xi32>, tensor<1xi32>) -> tensor<1x4x3xf32>
  return
}

func.func @scatter(%a0: tensor<1x4x3xf32>, %a1: tensor<1x2xi32>, %a2: tensor<1x2x3xf32>) {
  %0 = "tosa.scatter"(%a0, %a1, %a2) : (tensor<1x4x3xf32>, tensor<1x2xi32>, tensor<1x2x3xf32>) -> tensor<1x4x3xf32>
  return
}

func.func @resize(%a0: tensor<1x4x4x3xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[2, 1, 2, 1]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %a2 = "tosa.const_shape"() <{values = dense<[0, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a3 = "tosa.const_shape"() <{values = dense<[0, 0]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.resize"(%a0, %a1, %a2, %a3) <{mode = #tosa.resize_mode<BILINEAR>}> : (tensor<1x4x4x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x7x3xf32>
  return
}

func.func @cast(%a0: tensor<2x3xf32>) {
  %0 = "tosa.cast"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

func.func @rescale(%a0: tensor<2x3xi8>, %a1: tensor<1xi32>, %a2: tensor<1xi8>, %a3: tensor<1xi8>, %a4: tensor<1xi8>) {
  %0 = "tosa.rescale"(%a0, %a1, %a2, %a3, %a4) <{scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, input_unsigned = false, output_unsigned = false}> : (tensor<2x3xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3xi8>
  return
}

func.func @const() {
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  return
}

func.func @const_shape() {
  %0 = "tosa.const_shape"() <{values = dense<[2, 3]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  return
}

func.func @add_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.add_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @sub_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.sub_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @mul_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.mul_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @div_ceil_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.div_ceil_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @div_floor_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.div_floor_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @max_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.max_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @min_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.min_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @mod_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.mod_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @exp2_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.exp2_shape"(%a0) : (!tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @log2_ceil_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.log2_ceil_shape"(%a0) : (!tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @log2_floor_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.log2_floor_shape"(%a0) : (!tosa.shape<2>) -> !tosa.shape<2>
  return
}

func.func @concat_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1]> : tensor<1xindex>}> : () -> !tosa.shape<1>
  %0 = "tosa.concat_shape"(%a0, %a1) : (!tosa.shape<2>, !tosa.shape<1>) -> !tosa.shape<3>
  return
}

func.func @slice_shape(%a1: tensor<1xi32>, %a2: tensor<1xi32>) {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.slice_shape"(%a0, %a1, %a2) : (!tosa.shape<2>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<1>
  return
}

func.func @assert_equal_shape() {
  %a0 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a1 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  "tosa.assert_equal_shape"(%a0, %a1) <{allow_broadcast = true}> : (!tosa.shape<2>, !tosa.shape<2>) -> ()
  return
}

func.func @dim(%a0: tensor<2x3xf32>) {
  %0 = "tosa.dim"(%a0) <{axis = 1 : i32}> : (tensor<2x3xf32>) -> !tosa.shape<1>
  return
}

func.func @avg_pool2d(%a0: tensor<1x8x8x4xf32>, %a1: tensor<1xf32>, %a2: tensor<1xf32>) {
  %0 = "tosa.avg_pool2d"(%a0, %a1, %a2) <{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  return
}

func.func @avg_pool2d_adaptive(%a0: tensor<1x8x8x4xf32>, %a1: tensor<1xf32>, %a2: tensor<1xf32>) {
  %a3 = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a4 = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a5 = "tosa.const_shape"() <{values = dense<[0, 0, 0, 0]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %0 = "tosa.avg_pool2d_adaptive"(%a0, %a1, %a2, %a3, %a4, %a5) <{acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<1xf32>, tensor<1xf32>, !tosa.shape<2>, !tosa.shape<2>, !tosa.shape<4>) -> tensor<1x4x4x4xf32>
  return
}

func.func @max_pool2d(%a0: tensor<1x8x8x4xf32>) {
  %0 = "tosa.max_pool2d"(%a0) <{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>}> : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

func.func @max_pool2d_1(%a0: tensor<1x8x8x4xf32>) {
  %0 = "tosa.max_pool2d"(%a0) <{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, nan_mode = #tosa.nan_mode<IGNORE>}> : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

func.func @max_pool2d_adaptive(%a0: tensor<1x8x8x4xf32>) {
  %a1 = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a2 = "tosa.const_shape"() <{values = dense<[2, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a3 = "tosa.const_shape"() <{values = dense<[0, 0, 0, 0]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %0 = "tosa.max_pool2d_adaptive"(%a0, %a1, %a2, %a3) : (tensor<1x8x8x4xf32>, !tosa.shape<2>, !tosa.shape<2>, !tosa.shape<4>) -> tensor<1x4x4x4xf32>
  return
}

func.func @conv2d(%a0: tensor<1x8x8x4xf32>, %a1: tensor<16x3x3x4xf32>, %a2: tensor<16xf32>, %a3: tensor<1xf32>, %a4: tensor<1xf32>) {
  %0 = "tosa.conv2d"(%a0, %a1, %a2, %a3, %a4) <{pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x16xf32>
  return
}

func.func @conv2d_1(%a0: tensor<1x8x8x4xf32>, %a1: tensor<16x3x3x4xf32>, %a2: tensor<16xf32>, %a3: tensor<1xf32>, %a4: tensor<1xf32>) {
  %0 = "tosa.conv2d"(%a0, %a1, %a2, %a3, %a4) <{pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, acc_type = f32, local_bound = true}> : (tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x16xf32>
  return
}

func.func @depthwise_conv2d(%a0: tensor<1x8x8x4xf32>, %a1: tensor<3x3x4x2xf32>, %a2: tensor<8xf32>, %a3: tensor<1xf32>, %a4: tensor<1xf32>) {
  %0 = "tosa.depthwise_conv2d"(%a0, %a1, %a2, %a3, %a4) <{pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  return
}

func.func @conv3d(%a0: tensor<1x8x8x8x4xf32>, %a1: tensor<16x3x3x3x4xf32>, %a2: tensor<16xf32>, %a3: tensor<1xf32>, %a4: tensor<1xf32>) {
  %0 = "tosa.conv3d"(%a0, %a1, %a2, %a3, %a4) <{pad = array<i64: 1, 1, 1, 1, 1, 1>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>, acc_type = f32}> : (tensor<1x8x8x8x4xf32>, tensor<16x3x3x3x4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8x16xf32>
  return
}

func.func @transpose_conv2d(%a0: tensor<1x8x8x4xf32>, %a1: tensor<16x2x2x4xf32>, %a2: tensor<16xf32>, %a3: tensor<1xf32>, %a4: tensor<1xf32>) {
  %0 = "tosa.transpose_conv2d"(%a0, %a1, %a2, %a3, %a4) <{out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>, acc_type = f32}> : (tensor<1x8x8x4xf32>, tensor<16x2x2x4xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x16xf32>
  return
}

func.func @matmul(%a0: tensor<1x2x3xf32>, %a1: tensor<1x3x4xf32>, %a2: tensor<1xf32>, %a3: tensor<1xf32>) {
  %0 = "tosa.matmul"(%a0, %a1, %a2, %a3) : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  return
}

func.func @matmul_t(%a0: tensor<1x2x3xf32>, %a1: tensor<1x4x3xf32>, %a2: tensor<1xf32>, %a3: tensor<1xf32>) {
  %0 = "tosa.matmul_t"(%a0, %a1, %a2, %a3) : (tensor<1x2x3xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  return
}

func.func @fft2d(%a0: tensor<1x4x8xf32>, %a1: tensor<1x4x8xf32>) {
  %0, %1 = "tosa.fft2d"(%a0, %a1) <{inverse = false}> : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  return
}

func.func @rfft2d(%a0: tensor<1x4x8xf32>) {
  %0, %1 = "tosa.rfft2d"(%a0) : (tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)
  return
}

func.func @table(%a0: tensor<2x3xi8>, %a1: tensor<256xi8>) {
  %0 = "tosa.table"(%a0, %a1) : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>
  return
}

func.func @custom(%a0: tensor<2x3xf32>) {
  %0 = "tosa.custom"(%a0) <{domain_name = "d", operator_name = "o", implementation_attrs = ""}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @cast_to_block_scaled(%a0: tensor<4x32xf32>) {
  %0, %1 = "tosa.cast_to_block_scaled"(%a0) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<4x32xf32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x1xf8E8M0FNU>)
  return
}

func.func @cast_from_block_scaled(%a0: tensor<4x32xf4E2M1FN>, %a1: tensor<4x1xf8E8M0FNU>) {
  %0 = "tosa.cast_from_block_scaled"(%a0, %a1) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<4x32xf4E2M1FN>, tensor<4x1xf8E8M0FNU>) -> tensor<4x32xf32>
  return
}

func.func @matmul_t_block_scaled(%a0: tensor<1x4x32xf4E2M1FN>, %a1: tensor<1x4x1xf8E8M0FNU>, %a2: tensor<1x8x32xf4E2M1FN>, %a3: tensor<1x8x1xf8E8M0FNU>) {
  %0 = "tosa.matmul_t_block_scaled"(%a0, %a1, %a2, %a3) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x32xf4E2M1FN>, tensor<1x4x1xf8E8M0FNU>, tensor<1x8x32xf4E2M1FN>, tensor<1x8x1xf8E8M0FNU>) -> tensor<1x4x8xf32>
  return
}

func.func @conv2d_block_scaled(%a0: tensor<1x4x4x32xf4E2M1FN>, %a1: tensor<1x4x4x1xf8E8M0FNU>, %a2: tensor<8x1x1x32xf4E2M1FN>, %a3: tensor<8x1x1x1xf8E8M0FNU>, %a4: tensor<8xf32>) {
  %a5 = "tosa.const_shape"() <{values = dense<[0, 0, 0, 0]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %a6 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %a7 = "tosa.const_shape"() <{values = dense<[1, 1]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %0 = "tosa.conv2d_block_scaled"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x4x32xf4E2M1FN>, tensor<1x4x4x1xf8E8M0FNU>, tensor<8x1x1x32xf4E2M1FN>, tensor<8x1x1x1xf8E8M0FNU>, tensor<8xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x4x8xf32>
  return
}

func.func @reshape_block_scaled(%a0: tensor<4x32xf4E2M1FN>, %a1: tensor<4x1xf8E8M0FNU>) {
  %a2 = "tosa.const_shape"() <{values = dense<[2, 2, 32]> : tensor<3xindex>}> : () -> !tosa.shape<3>
  %0, %1 = "tosa.reshape_block_scaled"(%a0, %a1, %a2) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<4x32xf4E2M1FN>, tensor<4x1xf8E8M0FNU>, !tosa.shape<3>) -> (tensor<2x2x32xf4E2M1FN>, tensor<2x2x1xf8E8M0FNU>)
  return
}

func.func @row_gather_block_scaled(%a0: tensor<1x4x32xf4E2M1FN>, %a1: tensor<1x4x1xf8E8M0FNU>, %a2: tensor<1x2xi32>, %a3: tensor<1xi32>) {
  %0, %1 = "tosa.row_gather_block_scaled"(%a0, %a1, %a2, %a3) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x32xf4E2M1FN>, tensor<1x4x1xf8E8M0FNU>, tensor<1x2xi32>, tensor<1xi32>) -> (tensor<1x4x32xf4E2M1FN>, tensor<1x4x1xf8E8M0FNU>)
  return
}

func.func @cond_if(%a0: tensor<i1>, %a1: tensor<f32>, %a2: tensor<f32>) {
  %0 = "tosa.cond_if"(%a0, %a1, %a2) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "tosa.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "tosa.yield"(%s) : (tensor<f32>) -> ()
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "tosa.yield"(%x) : (tensor<f32>) -> ()
  }) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

func.func @while_loop(%a0: tensor<i32>, %a1: tensor<i32>) {
  %0, %1 = "tosa.while_loop"(%a0, %a1) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = "tosa.greater_equal"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tosa.yield"(%s) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    "tosa.yield"(%x, %y) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return
}

"tosa.variable"() <{sym_name = "v", var_shape = dense<[2, 3]> : tensor<2xindex>, type = f32}> : () -> ()
"tosa.variable"() <{sym_name = "w", var_shape = dense<[2, 3]> : tensor<2xindex>, type = f32, initial_value = dense<1.0> : tensor<2x3xf32>}> : () -> ()
func.func @variable_read() {
  %0 = "tosa.variable_read"() <{name = "v"}> : () -> tensor<2x3xf32>
  return
}

func.func @variable_write(%a0: tensor<2x3xf32>) {
  "tosa.variable_write"(%a0) <{name = "v"}> : (tensor<2x3xf32>) -> ()
  return
}
