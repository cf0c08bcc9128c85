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
  // Complex matrices: a factor of both triangles, and its adjoint; reflectors and their product; values and vectors of a Hermitian matrix.
  func.func public @factors_complex_cholesky(%a: tensor<2x5x5xcomplex<f32>>) -> (tensor<2x5x5xcomplex<f32>>, tensor<2x5x5xcomplex<f32>>) {
    %0 = stablehlo.real %a : (tensor<2x5x5xcomplex<f32>>) -> tensor<2x5x5xf32>
    %1 = stablehlo.imag %a : (tensor<2x5x5xcomplex<f32>>) -> tensor<2x5x5xf32>
    %2 = stablehlo.negate %1 : tensor<2x5x5xf32>
    %3 = stablehlo.complex %0, %2 : tensor<2x5x5xcomplex<f32>>
    %4 = stablehlo.dot_general %a, %3, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x5x5xcomplex<f32>>, tensor<2x5x5xcomplex<f32>>) -> tensor<2x5x5xcomplex<f32>>
    %5 = stablehlo.iota dim = 1 : tensor<2x5x5xi32>
    %6 = stablehlo.iota dim = 2 : tensor<2x5x5xi32>
    %7 = stablehlo.compare EQ, %5, %6, SIGNED : (tensor<2x5x5xi32>, tensor<2x5x5xi32>) -> tensor<2x5x5xi1>
    %8 = stablehlo.convert %7 : (tensor<2x5x5xi1>) -> tensor<2x5x5xcomplex<f32>>
    %9 = stablehlo.add %4, %8 : tensor<2x5x5xcomplex<f32>>
    %10 = stablehlo.cholesky %9, lower = true : tensor<2x5x5xcomplex<f32>>
    %11 = stablehlo.cholesky %9, lower = false : tensor<2x5x5xcomplex<f32>>
    return %10, %11 : tensor<2x5x5xcomplex<f32>>, tensor<2x5x5xcomplex<f32>>
  }
  func.func public @factors_complex_qr(%a: tensor<7x4xcomplex<f32>>) -> (tensor<7x4xcomplex<f32>>, tensor<7x4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
    %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<7x4xcomplex<f32>>) -> (tensor<7x4xcomplex<f32>>, tensor<4xcomplex<f32>>)
    %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<7x4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<7x4xcomplex<f32>>
    return %1, %0#0, %0#1 : tensor<7x4xcomplex<f32>>, tensor<7x4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
  func.func public @factors_complex_eigen(%a: tensor<2x5x5xcomplex<f32>>) -> (tensor<2x5x5xcomplex<f32>>, tensor<2x5xf32>) {
    %0:2 = stablehlo.custom_call @Eigh(%a) {backend_config = "1"} : (tensor<2x5x5xcomplex<f32>>) -> (tensor<2x5x5xcomplex<f32>>, tensor<2x5xf32>)
    return %0#0, %0#1 : tensor<2x5x5xcomplex<f32>>, tensor<2x5xf32>
  }
  // 1 + v v^T has one value four times; its vectors are at right angles all the same.
  func.func public @factors_equal_values(%v: tensor<5xf64>) -> tensor<i1> {
    %0 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %1 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %unit = stablehlo.convert %2 : (tensor<5x5xi1>) -> tensor<5x5xf64>
    %3 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<5xf64>) -> tensor<5x5xf64>
    %4 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<5xf64>) -> tensor<5x5xf64>
    %5 = stablehlo.multiply %3, %4 : tensor<5x5xf64>
    %6 = stablehlo.add %5, %unit : tensor<5x5xf64>
    %7:2 = stablehlo.custom_call @Eigh(%6) {backend_config = "1"} : (tensor<5x5xf64>) -> (tensor<5x5xf64>, tensor<5xf64>)
    %8 = stablehlo.dot_general %7#0, %7#0, contracting_dims = [0] x [0] : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
    %9 = stablehlo.subtract %8, %unit : tensor<5x5xf64>
    %10 = stablehlo.abs %9 : tensor<5x5xf64>
    %few = stablehlo.constant dense<1.0e-14> : tensor<5x5xf64>
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.compare LT, %10, %few : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xi1>
    %12 = stablehlo.reduce(%11 init: %yes) applies stablehlo.and across dimensions = [0, 1] : (tensor<5x5xi1>, tensor<i1>) -> tensor<i1>
    return %12 : tensor<i1>
  }
}
