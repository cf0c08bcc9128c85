module @attributes attributes {mhlo.num_partitions = 1 : i32, test.flag} {
  func.func public @constants() -> tensor<f32> {
    %0 = stablehlo.constant dense<[[1.0, -2.5], [0.5, 3.0]]> : tensor<2x2xf32>
    %1 = stablehlo.constant dense<7.0> : tensor<3x5xf32>
    %2 = stablehlo.constant dense<[true, false, true, true, false, false, false, false, true, false]> : tensor<10xi1>
    %3 = stablehlo.constant dense<true> : tensor<20xi1>
    %4 = stablehlo.constant dense<false> : tensor<20xi1>
    %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %6 = stablehlo.constant dense<[-1, 7, -8]> : tensor<3xi4>
    %7 = stablehlo.constant dense<[(1.0, 2.0), (-3.0, 0.25)]> : tensor<2xcomplex<f32>>
    %8 = stablehlo.constant dense<[258, 65535]> : tensor<2xui16>
    %9 = stablehlo.constant dense<> : tensor<0xf64>
    %10 = stablehlo.constant dense<0x7F800001> : tensor<f32>
    return %10 : tensor<f32>
  }
  func.func public @main(%a: tensor<2x4x3xf32>, %b: tensor<2x3x5xf32>) -> tensor<2x4x5xf32> {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
    %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGHEST] : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
    %2 = stablehlo.compare LT, %0, %1, TOTALORDER : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xi1>
    %3 = stablehlo.custom_call @mine(%0) {api_version = 4 : i32, backend_config = {limit = -3 : i64, scale = 1.5 : f32}, called_computations = [@constants], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %4 = "stablehlo.exponential"(%3) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 2.5e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %5 = stablehlo.composite "mine.twice" %4 {composite_attributes = {k = 2 : i64}, decomposition = @twice, version = 3 : i32} : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %6 = stablehlo.constant dense<0.0> : tensor<f32>
    %7 = stablehlo.pad %5, %6, low = [0, -1, 2], high = [1, 1, -2], interior = [0, 0, 0] : (tensor<2x4x5xf32>, tensor<f32>) -> tensor<3x4x5xf32>
    %8 = stablehlo.slice %7 [0:2, 0:4, 0:5:1] : (tensor<3x4x5xf32>) -> tensor<2x4x5xf32>
    return %8 : tensor<2x4x5xf32>
  }
  func.func private @twice(%a: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
    %0 = stablehlo.add %a, %a : tensor<2x4x5xf32>
    return %0 : tensor<2x4x5xf32>
  }
}
