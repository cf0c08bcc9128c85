// Factors of matrices, random bits by a state, convolutions of groups in three axes, and reductions of nothing.
module @factors {
  func.func public @factors_cholesky(%a: tensor<2x7x7xf32>) -> (tensor<2x7x7xf32>, tensor<2x7x7xf32>) {
    %0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x7x7xf32>, tensor<2x7x7xf32>) -> tensor<2x7x7xf32>
    %1 = stablehlo.iota dim = 1 : tensor<2x7x7xi32>
    %2 = stablehlo.iota dim = 2 : tensor<2x7x7xi32>
    %3 = stablehlo.compare EQ, %1, %2, SIGNED : (tensor<2x7x7xi32>, tensor<2x7x7xi32>) -> tensor<2x7x7xi1>
    %4 = stablehlo.convert %3 : (tensor<2x7x7xi1>) -> tensor<2x7x7xf32>
    %5 = stablehlo.add %0, %4 : tensor<2x7x7xf32>
    %6 = stablehlo.cholesky %5, lower = true : tensor<2x7x7xf32>
    %7 = stablehlo.cholesky %5, lower = false : tensor<2x7x7xf32>
    return %6, %7 : tensor<2x7x7xf32>, tensor<2x7x7xf32>
  }
  func.func public @factors_qr(%a: tensor<9x5xf32>) -> (tensor<9x5xf32>, tensor<9x5xf32>, tensor<5xf32>) {
    %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<9x5xf32>) -> (tensor<9x5xf32>, tensor<5xf32>)
    %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<9x5xf32>, tensor<5xf32>) -> tensor<9x5xf32>
    return %1, %0#0, %0#1 : tensor<9x5xf32>, tensor<9x5xf32>, tensor<5xf32>
  }
  func.func public @factors_eigen(%a: tensor<2x7x7xf32>) -> (tensor<2x7x7xf32>, tensor<2x7xf32>) {
    %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1"} : (tensor<2x7x7xf32>) -> (tensor<2x7x7xf32>, tensor<2x7xf32>)
    return %0#0, %0#1 : tensor<2x7x7xf32>, tensor<2x7xf32>
  }
  func.func public @factors_bits(%seed: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>, tensor<2xui64>, tensor<5x4xui32>, tensor<3xui64>) {
    %0:2 = stablehlo.rng_bit_generator %seed, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %1:2 = stablehlo.rng_bit_generator %0#0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x4xui32>)
    %2:2 = stablehlo.rng_bit_generator %1#0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    return %0#0, %0#1, %1#0, %1#1, %2#1 : tensor<2xui64>, tensor<3x5xui32>, tensor<2xui64>, tensor<5x4xui32>, tensor<3xui64>
  }
  func.func public @factors_volumes(%x: tensor<2x4x5x4x3xf32>, %w: tensor<6x2x3x2x2xf32>) -> tensor<2x6x3x3x2xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x5x4x3xf32>, tensor<6x2x3x2x2xf32>) -> tensor<2x6x3x3x2xf32>
    return %0 : tensor<2x6x3x3x2xf32>
  }
  func.func public @factors_of_none(%x: tensor<3x4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xf32>) {
    %no = stablehlo.constant dense<false> : tensor<i1>
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.slice %x [1:1, 0:4] : (tensor<3x4xf32>) -> tensor<0x4xf32>
    %1 = stablehlo.compare GT, %0, %0 : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x4xi1>
    %2 = stablehlo.reduce(%1 init: %no) applies stablehlo.or across dimensions = [0] : (tensor<0x4xi1>, tensor<i1>) -> tensor<4xi1>
    %3 = stablehlo.reduce(%1 init: %yes) applies stablehlo.and across dimensions = [0] : (tensor<0x4xi1>, tensor<i1>) -> tensor<4xi1>
    %4 = stablehlo.reduce(%0 init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %2, %3, %4 : tensor<4xi1>, tensor<4xi1>, tensor<4xf32>
  }
  // The triangle that counts, as JAX says it, and as the specification's configuration does.
  func.func public @factors_triangles(%a: tensor<2x5x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
    %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "", mhlo.backend_config = {lower = true}} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>)
    %1:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "", mhlo.backend_config = {lower = false}} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>)
    %2:2 = stablehlo.custom_call @Eigh(%a) {api_version = 4 : i32, backend_config = {lower = true}} : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>)
    return %0#1, %1#1, %2#1 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  }
}
