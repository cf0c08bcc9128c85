module @types {
  func.func private @elements(tensor<i1>, tensor<i2>, tensor<i4>, tensor<i8>, tensor<i16>, tensor<i32>, tensor<i64>, tensor<ui2>, tensor<ui4>, tensor<ui8>, tensor<ui16>, tensor<ui32>, tensor<ui64>, tensor<f8E4M3FN>, tensor<f8E5M2>, tensor<bf16>, tensor<f16>, tensor<f32>, tensor<f64>, tensor<complex<f32>>, tensor<complex<f64>>) -> tensor<index>
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<?x4xi32>, %c: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %d: tuple<tensor<2xi8>, tuple<tensor<ui8>>>, %e: !stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token) {
    return %a, %e : tensor<2x3xf32>, !stablehlo.token
  }
}
