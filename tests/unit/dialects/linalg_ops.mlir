// One instance of every named linalg operation, then the other forms and mixed element types.

func.func @abs(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.abs ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @add(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.add ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @batch_matmul(%a0: tensor<5x2x3xf32>, %a1: tensor<5x3x4xf32>, %o: tensor<5x2x4xf32>) -> tensor<5x2x4xf32> {
  %0 = linalg.batch_matmul ins(%a0, %a1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>) outs(%o : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

func.func @batch_matvec(%a0: tensor<5x2x3xf32>, %a1: tensor<5x3xf32>, %o: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %0 = linalg.batch_matvec ins(%a0, %a1 : tensor<5x2x3xf32>, tensor<5x3xf32>) outs(%o : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

func.func @batch_mmt4d(%a0: tensor<9x2x3x4x5xf32>, %a1: tensor<9x6x3x7x5xf32>, %o: tensor<9x2x6x4x7xf32>) -> tensor<9x2x6x4x7xf32> {
  %0 = linalg.batch_mmt4d ins(%a0, %a1 : tensor<9x2x3x4x5xf32>, tensor<9x6x3x7x5xf32>) outs(%o : tensor<9x2x6x4x7xf32>) -> tensor<9x2x6x4x7xf32>
  return %0 : tensor<9x2x6x4x7xf32>
}

func.func @batch_reduce_matmul(%a0: tensor<5x2x3xf32>, %a1: tensor<5x3x4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.batch_reduce_matmul ins(%a0, %a1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @batch_vecmat(%a0: tensor<5x3xf32>, %a1: tensor<5x3x4xf32>, %o: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = linalg.batch_vecmat ins(%a0, %a1 : tensor<5x3xf32>, tensor<5x3x4xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

func.func @ceil(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.ceil ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @conv_1d_ncw_fcw(%a0: tensor<2x4x9xf32>, %a1: tensor<8x4x3xf32>, %o: tensor<2x8x7xf32>) -> tensor<2x8x7xf32> {
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x4x9xf32>, tensor<8x4x3xf32>) outs(%o : tensor<2x8x7xf32>) -> tensor<2x8x7xf32>
  return %0 : tensor<2x8x7xf32>
}

func.func @conv_1d_nwc_wcf(%a0: tensor<2x9x4xf32>, %a1: tensor<3x4x8xf32>, %o: tensor<2x7x8xf32>) -> tensor<2x7x8xf32> {
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3x4x8xf32>) outs(%o : tensor<2x7x8xf32>) -> tensor<2x7x8xf32>
  return %0 : tensor<2x7x8xf32>
}

func.func @conv_1d(%a0: tensor<8xf32>, %a1: tensor<3xf32>, %o: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.conv_1d ins(%a0, %a1 : tensor<8xf32>, tensor<3xf32>) outs(%o : tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

func.func @conv_2d_nchw_fchw(%a0: tensor<2x4x8x9xf32>, %a1: tensor<8x4x3x3xf32>, %o: tensor<2x8x6x7xf32>) -> tensor<2x8x6x7xf32> {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x4x8x9xf32>, tensor<8x4x3x3xf32>) outs(%o : tensor<2x8x6x7xf32>) -> tensor<2x8x6x7xf32>
  return %0 : tensor<2x8x6x7xf32>
}

func.func @conv_2d_nchw_fchw_q(%a0: tensor<2x4x8x9xi8>, %a1: tensor<8x4x3x3xi8>, %a2: i32, %a3: i32, %o: tensor<2x8x6x7xi32>) -> tensor<2x8x6x7xi32> {
  %0 = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x4x8x9xi8>, tensor<8x4x3x3xi8>, i32, i32) outs(%o : tensor<2x8x6x7xi32>) -> tensor<2x8x6x7xi32>
  return %0 : tensor<2x8x6x7xi32>
}

func.func @conv_2d_ngchw_fgchw(%a0: tensor<2x2x4x8x9xf32>, %a1: tensor<8x2x4x3x3xf32>, %o: tensor<2x2x8x6x7xf32>) -> tensor<2x2x8x6x7xf32> {
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x2x4x8x9xf32>, tensor<8x2x4x3x3xf32>) outs(%o : tensor<2x2x8x6x7xf32>) -> tensor<2x2x8x6x7xf32>
  return %0 : tensor<2x2x8x6x7xf32>
}

func.func @conv_2d_ngchw_gfchw(%a0: tensor<2x2x4x8x9xf32>, %a1: tensor<2x8x4x3x3xf32>, %o: tensor<2x2x8x6x7xf32>) -> tensor<2x2x8x6x7xf32> {
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x2x4x8x9xf32>, tensor<2x8x4x3x3xf32>) outs(%o : tensor<2x2x8x6x7xf32>) -> tensor<2x2x8x6x7xf32>
  return %0 : tensor<2x2x8x6x7xf32>
}

func.func @conv_2d_ngchw_gfchw_q(%a0: tensor<2x2x4x8x9xi8>, %a1: tensor<2x8x4x3x3xi8>, %a2: i32, %a3: i32, %o: tensor<2x2x8x6x7xi32>) -> tensor<2x2x8x6x7xi32> {
  %0 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x2x4x8x9xi8>, tensor<2x8x4x3x3xi8>, i32, i32) outs(%o : tensor<2x2x8x6x7xi32>) -> tensor<2x2x8x6x7xi32>
  return %0 : tensor<2x2x8x6x7xi32>
}

func.func @conv_2d_nhwc_fhwc(%a0: tensor<2x8x9x4xf32>, %a1: tensor<8x3x3x4xf32>, %o: tensor<2x6x7x8xf32>) -> tensor<2x6x7x8xf32> {
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<8x3x3x4xf32>) outs(%o : tensor<2x6x7x8xf32>) -> tensor<2x6x7x8xf32>
  return %0 : tensor<2x6x7x8xf32>
}

func.func @conv_2d_nhwc_fhwc_q(%a0: tensor<2x8x9x4xi8>, %a1: tensor<8x3x3x4xi8>, %a2: i32, %a3: i32, %o: tensor<2x6x7x8xi32>) -> tensor<2x6x7x8xi32> {
  %0 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x8x9x4xi8>, tensor<8x3x3x4xi8>, i32, i32) outs(%o : tensor<2x6x7x8xi32>) -> tensor<2x6x7x8xi32>
  return %0 : tensor<2x6x7x8xi32>
}

func.func @conv_2d_nhwc_hwcf(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3x4x8xf32>, %o: tensor<2x6x7x8xf32>) -> tensor<2x6x7x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3x4x8xf32>) outs(%o : tensor<2x6x7x8xf32>) -> tensor<2x6x7x8xf32>
  return %0 : tensor<2x6x7x8xf32>
}

func.func @conv_2d_nhwc_hwcf_q(%a0: tensor<2x8x9x4xi8>, %a1: tensor<3x3x4x8xi8>, %a2: i32, %a3: i32, %o: tensor<2x6x7x8xi32>) -> tensor<2x6x7x8xi32> {
  %0 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x8x9x4xi8>, tensor<3x3x4x8xi8>, i32, i32) outs(%o : tensor<2x6x7x8xi32>) -> tensor<2x6x7x8xi32>
  return %0 : tensor<2x6x7x8xi32>
}

func.func @conv_2d_nhwgc_gfhwc(%a0: tensor<2x8x9x2x4xf32>, %a1: tensor<2x8x3x3x4xf32>, %o: tensor<2x6x7x2x8xf32>) -> tensor<2x6x7x2x8xf32> {
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x2x4xf32>, tensor<2x8x3x3x4xf32>) outs(%o : tensor<2x6x7x2x8xf32>) -> tensor<2x6x7x2x8xf32>
  return %0 : tensor<2x6x7x2x8xf32>
}

func.func @conv_2d_nhwgc_gfhwc_q(%a0: tensor<2x8x9x2x4xi8>, %a1: tensor<2x8x3x3x4xi8>, %a2: i32, %a3: i32, %o: tensor<2x6x7x2x8xi32>) -> tensor<2x6x7x2x8xi32> {
  %0 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x8x9x2x4xi8>, tensor<2x8x3x3x4xi8>, i32, i32) outs(%o : tensor<2x6x7x2x8xi32>) -> tensor<2x6x7x2x8xi32>
  return %0 : tensor<2x6x7x2x8xi32>
}

func.func @conv_2d(%a0: tensor<8x8xf32>, %a1: tensor<3x3xf32>, %o: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = linalg.conv_2d ins(%a0, %a1 : tensor<8x8xf32>, tensor<3x3xf32>) outs(%o : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

func.func @conv_3d_ncdhw_fcdhw(%a0: tensor<2x4x7x8x9xf32>, %a1: tensor<8x4x3x3x3xf32>, %o: tensor<2x8x5x6x7xf32>) -> tensor<2x8x5x6x7xf32> {
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x4x7x8x9xf32>, tensor<8x4x3x3x3xf32>) outs(%o : tensor<2x8x5x6x7xf32>) -> tensor<2x8x5x6x7xf32>
  return %0 : tensor<2x8x5x6x7xf32>
}

func.func @conv_3d_ndhwc_dhwcf(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3x4x8xf32>, %o: tensor<2x5x6x7x8xf32>) -> tensor<2x5x6x7x8xf32> {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3x4x8xf32>) outs(%o : tensor<2x5x6x7x8xf32>) -> tensor<2x5x6x7x8xf32>
  return %0 : tensor<2x5x6x7x8xf32>
}

func.func @conv_3d_ndhwc_dhwcf_q(%a0: tensor<2x7x8x9x4xi8>, %a1: tensor<3x3x3x4x8xi8>, %a2: i32, %a3: i32, %o: tensor<2x5x6x7x8xi32>) -> tensor<2x5x6x7x8xi32> {
  %0 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x7x8x9x4xi8>, tensor<3x3x3x4x8xi8>, i32, i32) outs(%o : tensor<2x5x6x7x8xi32>) -> tensor<2x5x6x7x8xi32>
  return %0 : tensor<2x5x6x7x8xi32>
}

func.func @conv_3d(%a0: tensor<8x8x8xf32>, %a1: tensor<3x3x3xf32>, %o: tensor<6x6x6xf32>) -> tensor<6x6x6xf32> {
  %0 = linalg.conv_3d ins(%a0, %a1 : tensor<8x8x8xf32>, tensor<3x3x3xf32>) outs(%o : tensor<6x6x6xf32>) -> tensor<6x6x6xf32>
  return %0 : tensor<6x6x6xf32>
}

func.func @copy(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.copy ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @depthwise_conv_1d_ncw_cw(%a0: tensor<2x4x9xf32>, %a1: tensor<4x3xf32>, %o: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x4x9xf32>, tensor<4x3xf32>) outs(%o : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

func.func @depthwise_conv_1d_nwc_wc(%a0: tensor<2x9x4xf32>, %a1: tensor<3x4xf32>, %o: tensor<2x7x4xf32>) -> tensor<2x7x4xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3x4xf32>) outs(%o : tensor<2x7x4xf32>) -> tensor<2x7x4xf32>
  return %0 : tensor<2x7x4xf32>
}

func.func @depthwise_conv_1d_nwc_wcm(%a0: tensor<2x9x4xf32>, %a1: tensor<3x4x3xf32>, %o: tensor<2x7x4x3xf32>) -> tensor<2x7x4x3xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3x4x3xf32>) outs(%o : tensor<2x7x4x3xf32>) -> tensor<2x7x4x3xf32>
  return %0 : tensor<2x7x4x3xf32>
}

func.func @depthwise_conv_2d_nchw_chw(%a0: tensor<2x4x8x9xf32>, %a1: tensor<4x3x3xf32>, %o: tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32> {
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x4x8x9xf32>, tensor<4x3x3xf32>) outs(%o : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}

func.func @depthwise_conv_2d_nhwc_hwc(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3x4xf32>, %o: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3x4xf32>) outs(%o : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @depthwise_conv_2d_nhwc_hwc_q(%a0: tensor<2x8x9x4xi8>, %a1: tensor<3x3x4xi8>, %a2: i32, %a3: i32, %o: tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x8x9x4xi8>, tensor<3x3x4xi8>, i32, i32) outs(%o : tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32>
  return %0 : tensor<2x6x7x4xi32>
}

func.func @depthwise_conv_2d_nhwc_hwcm(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3x4x3xf32>, %o: tensor<2x6x7x4x3xf32>) -> tensor<2x6x7x4x3xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3x4x3xf32>) outs(%o : tensor<2x6x7x4x3xf32>) -> tensor<2x6x7x4x3xf32>
  return %0 : tensor<2x6x7x4x3xf32>
}

func.func @depthwise_conv_2d_nhwc_hwcm_q(%a0: tensor<2x8x9x4xi8>, %a1: tensor<3x3x4x3xi8>, %a2: i32, %a3: i32, %o: tensor<2x6x7x4x3xi32>) -> tensor<2x6x7x4x3xi32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1, %a2, %a3 : tensor<2x8x9x4xi8>, tensor<3x3x4x3xi8>, i32, i32) outs(%o : tensor<2x6x7x4x3xi32>) -> tensor<2x6x7x4x3xi32>
  return %0 : tensor<2x6x7x4x3xi32>
}

func.func @depthwise_conv_3d_ncdhw_cdhw(%a0: tensor<2x4x7x8x9xf32>, %a1: tensor<4x3x3x3xf32>, %o: tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x6x7xf32> {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x4x7x8x9xf32>, tensor<4x3x3x3xf32>) outs(%o : tensor<2x4x5x6x7xf32>) -> tensor<2x4x5x6x7xf32>
  return %0 : tensor<2x4x5x6x7xf32>
}

func.func @depthwise_conv_3d_ndhwc_dhwc(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3x4xf32>, %o: tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3x4xf32>) outs(%o : tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32>
  return %0 : tensor<2x5x6x7x4xf32>
}

func.func @depthwise_conv_3d_ndhwc_dhwcm(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3x4x3xf32>, %o: tensor<2x5x6x7x4x3xf32>) -> tensor<2x5x6x7x4x3xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3x4x3xf32>) outs(%o : tensor<2x5x6x7x4x3xf32>) -> tensor<2x5x6x7x4x3xf32>
  return %0 : tensor<2x5x6x7x4x3xf32>
}

func.func @div(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.div ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @div_unsigned(%a0: tensor<2x3xi32>, %a1: tensor<2x3xi32>, %o: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = linalg.div_unsigned ins(%a0, %a1 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%o : tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

func.func @dot(%a0: tensor<3xf32>, %a1: tensor<3xf32>, %o: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%a0, %a1 : tensor<3xf32>, tensor<3xf32>) outs(%o : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @erf(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.erf ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @exp(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.exp ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @fill(%a0: f32, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%a0 : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}


func.func @floor(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.floor ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @log(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.log ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @matmul(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a0, %a1 : tensor<2x3xf32>, tensor<3x4xf32>) outs(%o : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @matvec(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %o: tensor<2xf32>) -> tensor<2xf32> {
  %0 = linalg.matvec ins(%a0, %a1 : tensor<2x3xf32>, tensor<3xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @max(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.max ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @min(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.min ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @mmt4d(%a0: tensor<2x3x4x5xf32>, %a1: tensor<6x3x7x5xf32>, %o: tensor<2x6x4x7xf32>) -> tensor<2x6x4x7xf32> {
  %0 = linalg.mmt4d ins(%a0, %a1 : tensor<2x3x4x5xf32>, tensor<6x3x7x5xf32>) outs(%o : tensor<2x6x4x7xf32>) -> tensor<2x6x4x7xf32>
  return %0 : tensor<2x6x4x7xf32>
}

func.func @mul(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.mul ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @negf(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.negf ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @pooling_nchw_max(%a0: tensor<2x4x8x9xf32>, %a1: tensor<3x3xf32>, %o: tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32> {
  %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x4x8x9xf32>, tensor<3x3xf32>) outs(%o : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}

func.func @pooling_nchw_sum(%a0: tensor<2x4x8x9xf32>, %a1: tensor<3x3xf32>, %o: tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32> {
  %0 = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x4x8x9xf32>, tensor<3x3xf32>) outs(%o : tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  return %0 : tensor<2x4x6x7xf32>
}

func.func @pooling_ncw_max(%a0: tensor<2x4x9xf32>, %a1: tensor<3xf32>, %o: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  %0 = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x4x9xf32>, tensor<3xf32>) outs(%o : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

func.func @pooling_ncw_sum(%a0: tensor<2x4x9xf32>, %a1: tensor<3xf32>, %o: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  %0 = linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x4x9xf32>, tensor<3xf32>) outs(%o : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

func.func @pooling_ndhwc_max(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3xf32>, %o: tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32> {
  %0 = linalg.pooling_ndhwc_max {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3xf32>) outs(%o : tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32>
  return %0 : tensor<2x5x6x7x4xf32>
}

func.func @pooling_ndhwc_min(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3xf32>, %o: tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32> {
  %0 = linalg.pooling_ndhwc_min {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3xf32>) outs(%o : tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32>
  return %0 : tensor<2x5x6x7x4xf32>
}

func.func @pooling_ndhwc_sum(%a0: tensor<2x7x8x9x4xf32>, %a1: tensor<3x3x3xf32>, %o: tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32> {
  %0 = linalg.pooling_ndhwc_sum {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%a0, %a1 : tensor<2x7x8x9x4xf32>, tensor<3x3x3xf32>) outs(%o : tensor<2x5x6x7x4xf32>) -> tensor<2x5x6x7x4xf32>
  return %0 : tensor<2x5x6x7x4xf32>
}

func.func @pooling_nhwc_max(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3xf32>, %o: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3xf32>) outs(%o : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @pooling_nhwc_max_unsigned(%a0: tensor<2x8x9x4xi32>, %a1: tensor<3x3xi32>, %o: tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32> {
  %0 = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xi32>, tensor<3x3xi32>) outs(%o : tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32>
  return %0 : tensor<2x6x7x4xi32>
}

func.func @pooling_nhwc_min(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3xf32>, %o: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3xf32>) outs(%o : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @pooling_nhwc_min_unsigned(%a0: tensor<2x8x9x4xi32>, %a1: tensor<3x3xi32>, %o: tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32> {
  %0 = linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xi32>, tensor<3x3xi32>) outs(%o : tensor<2x6x7x4xi32>) -> tensor<2x6x7x4xi32>
  return %0 : tensor<2x6x7x4xi32>
}

func.func @pooling_nhwc_sum(%a0: tensor<2x8x9x4xf32>, %a1: tensor<3x3xf32>, %o: tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x8x9x4xf32>, tensor<3x3xf32>) outs(%o : tensor<2x6x7x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

func.func @pooling_nwc_max(%a0: tensor<2x9x4xf32>, %a1: tensor<3xf32>, %o: tensor<2x7x4xf32>) -> tensor<2x7x4xf32> {
  %0 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3xf32>) outs(%o : tensor<2x7x4xf32>) -> tensor<2x7x4xf32>
  return %0 : tensor<2x7x4xf32>
}

func.func @pooling_nwc_max_unsigned(%a0: tensor<2x9x4xi32>, %a1: tensor<3xi32>, %o: tensor<2x7x4xi32>) -> tensor<2x7x4xi32> {
  %0 = linalg.pooling_nwc_max_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xi32>, tensor<3xi32>) outs(%o : tensor<2x7x4xi32>) -> tensor<2x7x4xi32>
  return %0 : tensor<2x7x4xi32>
}

func.func @pooling_nwc_min(%a0: tensor<2x9x4xf32>, %a1: tensor<3xf32>, %o: tensor<2x7x4xf32>) -> tensor<2x7x4xf32> {
  %0 = linalg.pooling_nwc_min {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3xf32>) outs(%o : tensor<2x7x4xf32>) -> tensor<2x7x4xf32>
  return %0 : tensor<2x7x4xf32>
}

func.func @pooling_nwc_min_unsigned(%a0: tensor<2x9x4xi32>, %a1: tensor<3xi32>, %o: tensor<2x7x4xi32>) -> tensor<2x7x4xi32> {
  %0 = linalg.pooling_nwc_min_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xi32>, tensor<3xi32>) outs(%o : tensor<2x7x4xi32>) -> tensor<2x7x4xi32>
  return %0 : tensor<2x7x4xi32>
}

func.func @pooling_nwc_sum(%a0: tensor<2x9x4xf32>, %a1: tensor<3xf32>, %o: tensor<2x7x4xf32>) -> tensor<2x7x4xf32> {
  %0 = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%a0, %a1 : tensor<2x9x4xf32>, tensor<3xf32>) outs(%o : tensor<2x7x4xf32>) -> tensor<2x7x4xf32>
  return %0 : tensor<2x7x4xf32>
}

func.func @powf(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.powf ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @quantized_batch_matmul(%a0: tensor<5x2x3xi8>, %a1: tensor<5x3x4xi8>, %a2: i32, %a3: i32, %o: tensor<5x2x4xi32>) -> tensor<5x2x4xi32> {
  %0 = linalg.quantized_batch_matmul ins(%a0, %a1, %a2, %a3 : tensor<5x2x3xi8>, tensor<5x3x4xi8>, i32, i32) outs(%o : tensor<5x2x4xi32>) -> tensor<5x2x4xi32>
  return %0 : tensor<5x2x4xi32>
}

func.func @quantized_matmul(%a0: tensor<2x3xi8>, %a1: tensor<3x4xi8>, %a2: i32, %a3: i32, %o: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %0 = linalg.quantized_matmul ins(%a0, %a1, %a2, %a3 : tensor<2x3xi8>, tensor<3x4xi8>, i32, i32) outs(%o : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

func.func @reciprocal(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.reciprocal ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @round(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.round ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @rsqrt(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.rsqrt ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @select(%a0: tensor<2x3xi1>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.select ins(%a0, %a1, %a2 : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @sqrt(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.sqrt ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @square(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.square ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @sub(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.sub ins(%a0, %a1 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @tanh(%a0: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.tanh ins(%a0 : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @vecmat(%a0: tensor<3xf32>, %a1: tensor<3x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.vecmat ins(%a0, %a1 : tensor<3xf32>, tensor<3x4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @forms(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>, %ai: tensor<2x3xi8>, %bi: tensor<3x4xi8>, %ci: tensor<2x4xi32>, %s: f32, %h: tensor<2x3xf16>, %hb: tensor<3x4xf16>, %at : tensor<3x2xf32>, %v: tensor<2xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = linalg.matmul ins(%ai, %bi : tensor<2x3xi8>, tensor<3x4xi8>) outs(%ci : tensor<2x4xi32>) -> tensor<2x4xi32>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%ai, %bi : tensor<2x3xi8>, tensor<3x4xi8>) outs(%ci : tensor<2x4xi32>) -> tensor<2x4xi32>
  %3 = linalg.matmul ins(%h, %hb : tensor<2x3xf16>, tensor<3x4xf16>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = linalg.matmul indexing_maps = [affine_map<(d0,d1,d2) -> (d2,d0)>, affine_map<(d0,d1,d2) -> (d2,d1)>, affine_map<(d0,d1,d2) -> (d0,d1)>] ins(%at, %b : tensor<3x2xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = linalg.fill ins(%s : f32) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%at : tensor<3x2xf32>) permutation = [1, 0]
  %7 = linalg.broadcast ins(%v : tensor<2xf32>) outs(%c : tensor<2x4xf32>) dimensions = [1] {foo = 1 : i32}
  %8 = linalg.reduce ins(%c : tensor<2x4xf32>) outs(%v : tensor<2xf32>) dimensions = [1] (%x: f32, %y: f32) { %q = arith.addf %x, %y : f32 linalg.yield %q : f32 }
  %9 = linalg.reduce {arith.addf {fastmath = #arith.fastmath<fast>}} ins(%c : tensor<2x4xf32>) outs(%v : tensor<2xf32>) dimensions = [1]
  %10 = linalg.map {math.exp} ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>)
  %11 = linalg.map ins(%a, %a : tensor<2x3xf32>,  tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) (%x: f32, %y: f32, %o: f32) { %q = arith.addf %x, %y : f32 %w = arith.addf %q, %y : f32 linalg.yield %w : f32 }
  %13 = linalg.contract indexing_maps = [affine_map<(d0,d1,d2) -> (d2,d0)>, affine_map<(d0,d1,d2) -> (d2,d1)>, affine_map<(d0,d1,d2) -> (d0,d1)>] ins(%at, %b : tensor<3x2xf32>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = linalg.generic {doc = "a", library_call = "b", indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>,affine_map<(d0,d1) -> (d0,d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) attrs = {foo = 1: i32} { ^bb0(%x: f32, %y: f32): linalg.yield %x : f32 } -> tensor<2x3xf32>
  %15:2 = linalg.generic {indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>,affine_map<(d0,d1) -> (d0,d1)>], iterator_types = ["parallel", "parallel"]} outs(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) { ^bb0(%x: f32, %y: f32): linalg.yield %x, %y : f32, f32 } -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0 : tensor<2x4xf32>
}

func.func @mixed_types(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>, %s:f64, %t:f32, %z: complex<f32>, %cz: tensor<2x4xcomplex<f32>>,%ab: tensor<2x3xi1>, %bb: tensor<3x4xi1>, %cb: tensor<2x4xi1>, %bf: tensor<3x4xbf16>) -> tensor<2x4xf32> {
  %6 = linalg.fill ins(%z : complex<f32>) outs(%cz : tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  %7 = linalg.matmul ins(%ab, %bb : tensor<2x3xi1>, tensor<3x4xi1>) outs(%cb : tensor<2x4xi1>) -> tensor<2x4xi1>
  %8 = linalg.matmul ins(%ab, %bb : tensor<2x3xi1>, tensor<3x4xi1>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = linalg.matmul ins(%a, %bf : tensor<2x3xf32>, tensor<3x4xbf16>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = linalg.matmul {foo = 1 : i32} ins(%a, %bf : tensor<2x3xf32>, tensor<3x4xbf16>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = linalg.select ins(%bb, %b, %b: tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) outs(%b : tensor<3x4xf32>) -> tensor<3x4xf32>
  %14 = linalg.add ins(%cz, %cz: tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) outs(%cz : tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  %15 = linalg.reciprocal ins(%c: tensor<2x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

func.func @strided(%x: tensor<2x4x9x11xf32>, %w: tensor<8x4x3x3xf32>, %o: tensor<2x8x4x3xf32>) -> tensor<2x8x4x3xf32> {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>} ins(%x, %w : tensor<2x4x9x11xf32>, tensor<8x4x3x3xf32>) outs(%o : tensor<2x8x4x3xf32>) -> tensor<2x8x4x3xf32>
  return %0 : tensor<2x8x4x3xf32>
}

func.func @dynamic(%x: tensor<?x4xf32>, %w: tensor<4x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<?x?xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %c = arith.cmpf ogt, %f, %old : f32
    %m = arith.select %c, %f, %old : f32
    %n = arith.addf %m, %f fastmath<fast> : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
