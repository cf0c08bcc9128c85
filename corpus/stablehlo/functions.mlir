// Functions that are made of others: of complex numbers, near and far from where they end, and by series; of f64 and of f32.
module @functions {
  func.func public @functions_complex(%a: tensor<37xf32>, %b: tensor<37xf32>) -> (tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f64>>, tensor<37xf32>) {
    %0 = stablehlo.complex %a, %b : tensor<37xcomplex<f32>>
    %1 = chlo.asin %0 : tensor<37xcomplex<f32>> -> tensor<37xcomplex<f32>>
    %2 = stablehlo.log_plus_one %0 : tensor<37xcomplex<f32>>
    %3 = stablehlo.tanh %0 : tensor<37xcomplex<f32>>
    %4 = stablehlo.convert %0 : (tensor<37xcomplex<f32>>) -> tensor<37xcomplex<f64>>
    %5 = chlo.acosh %4 : tensor<37xcomplex<f64>> -> tensor<37xcomplex<f64>>
    %6 = chlo.atan %5 : tensor<37xcomplex<f64>> -> tensor<37xcomplex<f64>>
    %7 = stablehlo.power %4, %6 : tensor<37xcomplex<f64>>
    %8 = stablehlo.sqrt %0 : tensor<37xcomplex<f32>>
    %9 = stablehlo.cosine %8 : tensor<37xcomplex<f32>>
    %10 = stablehlo.abs %9 : (tensor<37xcomplex<f32>>) -> tensor<37xf32>
    return %1, %2, %3, %7, %10 : tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f32>>, tensor<37xcomplex<f64>>, tensor<37xf32>
  }
  func.func public @functions_series(%x: tensor<41xf32>, %y: tensor<41xf64>) -> (tensor<41xf32>, tensor<41xf64>, tensor<41xf64>, tensor<41xf64>, tensor<41xf64>) {
    %scale = stablehlo.constant dense<7.0> : tensor<41xf64>
    %0 = chlo.lgamma %x : tensor<41xf32> -> tensor<41xf32>
    %1 = stablehlo.multiply %y, %scale : tensor<41xf64>
    %2 = chlo.lgamma %1 : tensor<41xf64> -> tensor<41xf64>
    %3 = chlo.digamma %1 : tensor<41xf64> -> tensor<41xf64>
    %4 = chlo.bessel_i1e %1 : tensor<41xf64> -> tensor<41xf64>
    %5 = chlo.erfc %y : tensor<41xf64> -> tensor<41xf64>
    %6 = stablehlo.tanh %y : tensor<41xf64>
    %7 = chlo.erf_inv %6 : tensor<41xf64> -> tensor<41xf64>
    %8 = stablehlo.add %5, %7 : tensor<41xf64>
    return %0, %2, %3, %4, %8 : tensor<41xf32>, tensor<41xf64>, tensor<41xf64>, tensor<41xf64>, tensor<41xf64>
  }
  // Complex numbers are ordered by their parts, and are these two in memory.
  func.func public @complex_in_order(%low: tensor<complex<f32>>, %x: tensor<11xcomplex<f32>>, %high: tensor<11xcomplex<f32>>) -> tensor<11xcomplex<f32>> {
    %0 = stablehlo.clamp %low, %x, %high : (tensor<complex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>) -> tensor<11xcomplex<f32>>
    return %0 : tensor<11xcomplex<f32>>
  }
  func.func public @complex_bits(%x: tensor<3x4xcomplex<f32>>, %y: tensor<5xcomplex<f64>>) -> (tensor<3x4xui64>, tensor<3x4x8xui8>, tensor<5x4xf32>, tensor<5x2xcomplex<f32>>, tensor<3x4xcomplex<f32>>) {
    %0 = stablehlo.bitcast_convert %x : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xui64>
    %1 = stablehlo.bitcast_convert %x : (tensor<3x4xcomplex<f32>>) -> tensor<3x4x8xui8>
    %2 = stablehlo.bitcast_convert %y : (tensor<5xcomplex<f64>>) -> tensor<5x4xf32>
    %3 = stablehlo.bitcast_convert %y : (tensor<5xcomplex<f64>>) -> tensor<5x2xcomplex<f32>>
    %4 = stablehlo.bitcast_convert %0 : (tensor<3x4xui64>) -> tensor<3x4xcomplex<f32>>
    return %0, %1, %2, %3, %4 : tensor<3x4xui64>, tensor<3x4x8xui8>, tensor<5x4xf32>, tensor<5x2xcomplex<f32>>, tensor<3x4xcomplex<f32>>
  }
}
