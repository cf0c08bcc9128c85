// Integers of two and of four bits, whose sums, products and differences wrap; their bits beside those of bytes and truth values; and operations whose
// sizes are operands that are constants.
module @small_integers {
  func.func public @arithmetic(%arg0: tensor<3x5xui4>, %arg1: tensor<3x5xui4>, %arg2: tensor<4xi2>, %arg3: tensor<4xui2>) -> (tensor<3x5xui4>, tensor<3x5xui4>, tensor<3x5xui4>, tensor<3x5xi1>, tensor<3xui4>, tensor<4xi2>, tensor<4xi2>, tensor<4xui2>, tensor<4xi32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3x5xui4>
    %1 = stablehlo.multiply %0, %arg1 : tensor<3x5xui4>
    %2 = stablehlo.not %arg0 : tensor<3x5xui4>
    %3 = stablehlo.subtract %2, %1 : tensor<3x5xui4>
    %4 = stablehlo.divide %3, %arg1 : tensor<3x5xui4>
    %5 = stablehlo.compare GT, %3, %arg1, UNSIGNED : (tensor<3x5xui4>, tensor<3x5xui4>) -> tensor<3x5xi1>
    %zero = stablehlo.constant dense<0> : tensor<ui4>
    %6 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x5xui4>, tensor<ui4>) -> tensor<3xui4>
    %7 = stablehlo.negate %arg2 : tensor<4xi2>
    %8 = stablehlo.abs %7 : tensor<4xi2>
    %c = stablehlo.constant dense<[1, 2, 3, 1]> : tensor<4xui2>
    %9 = stablehlo.add %arg3, %c : tensor<4xui2>
    %10 = stablehlo.convert %8 : (tensor<4xi2>) -> tensor<4xi32>
    return %1, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<3x5xui4>, tensor<3x5xui4>, tensor<3x5xui4>, tensor<3x5xi1>, tensor<3xui4>, tensor<4xi2>, tensor<4xi2>, tensor<4xui2>, tensor<4xi32>
  }
  func.func public @bits_of_small(%arg0: tensor<3x2xui4>, %arg1: tensor<3xi16>, %arg2: tensor<8xi1>, %arg3: tensor<2x4xi2>, %arg4: tensor<2xf32>) -> (tensor<3xui8>, tensor<3x4xui4>, tensor<3x4xi4>, tensor<i8>, tensor<2xi8>, tensor<3x8xi2>, tensor<2x16xui2>, tensor<3x16xi1>) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x2xui4>) -> tensor<3xui8>
    %1 = stablehlo.bitcast_convert %arg1 : (tensor<3xi16>) -> tensor<3x4xui4>
    %2 = stablehlo.bitcast_convert %1 : (tensor<3x4xui4>) -> tensor<3x4xi4>
    %3 = stablehlo.bitcast_convert %arg2 : (tensor<8xi1>) -> tensor<i8>
    %4 = stablehlo.bitcast_convert %arg3 : (tensor<2x4xi2>) -> tensor<2xi8>
    %5 = stablehlo.bitcast_convert %arg1 : (tensor<3xi16>) -> tensor<3x8xi2>
    %6 = stablehlo.bitcast_convert %arg4 : (tensor<2xf32>) -> tensor<2x16xui2>
    %7 = stablehlo.bitcast_convert %arg1 : (tensor<3xi16>) -> tensor<3x16xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3xui8>, tensor<3x4xui4>, tensor<3x4xi4>, tensor<i8>, tensor<2xi8>, tensor<3x8xi2>, tensor<2x16xui2>, tensor<3x16xi1>
  }
  func.func public @sizes_as_operands(%arg0: tensor<5x4xf32>, %arg1: tensor<3x4x2xf32>, %arg2: tensor<2x2xi64>, %arg3: tensor<1x4x4x1xf32>, %arg4: tensor<3x3x1x1xf32>) -> (tensor<7x5xf32>, tensor<2x2x2xf32>, tensor<1x2x2x1xf32>, tensor<2x2xf32>, tensor<ui4>) {
    %low = stablehlo.constant dense<[1, -1]> : tensor<2xi64>
    %interior = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
    %one = stablehlo.constant dense<-1.0> : tensor<f32>
    %0 = stablehlo.dynamic_pad %arg0, %one, %low, %low, %interior : (tensor<5x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<7x5xf32>
    %sizes = stablehlo.constant dense<[1, 2, 2]> : tensor<3xi64>
    %1 = "stablehlo.dynamic_gather"(%arg1, %arg2, %sizes) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<3x4x2xf32>, tensor<2x2xi64>, tensor<3xi64>) -> tensor<2x2x2xf32>
    %padding = stablehlo.constant dense<1> : tensor<2x2xi64>
    %2 = "stablehlo.dynamic_conv"(%arg3, %arg4, %padding) {window_strides = array<i64: 4, 4>, lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>, tensor<2x2xi64>) -> tensor<1x2x2x1xf32>
    %limit = stablehlo.constant dense<[4, 3]> : tensor<2xi64>
    %begin = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
    %step = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
    %8 = stablehlo.real_dynamic_slice %arg0, %begin, %limit, %step : (tensor<5x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>
    %3 = stablehlo.constant dense<15> : tensor<ui4>
    %4 = stablehlo.tuple %3 : tuple<tensor<ui4>>
    %5 = stablehlo.tuple %arg0, %4 : tuple<tensor<5x4xf32>, tuple<tensor<ui4>>>
    %6 = stablehlo.get_tuple_element %5[1] : (tuple<tensor<5x4xf32>, tuple<tensor<ui4>>>) -> tuple<tensor<ui4>>
    %7 = stablehlo.get_tuple_element %6[0] : (tuple<tensor<ui4>>) -> tensor<ui4>
    return %0, %1, %2, %8, %7 : tensor<7x5xf32>, tensor<2x2x2xf32>, tensor<1x2x2x1xf32>, tensor<2x2xf32>, tensor<ui4>
  }
}
