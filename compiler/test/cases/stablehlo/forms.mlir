// Each short form that stablehlo.def describes, once. jaxlib reads them its own way: forms.mlirbc.
module @forms {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %i: tensor<i32>, %p: tensor<2x3xi1>, %z: tensor<4xcomplex<f32>>) -> tensor<2x3xf32> {
    %r0 = stablehlo.constant dense<0> : tensor<ui16>
    %r1 = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %r2 = stablehlo.constant dense<1.0> : tensor<2x2xf32>
    %r3 = stablehlo.add %a, %b : tensor<2x3xf32>
    %r4 = stablehlo.convert %r3 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %r5 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %r6 = stablehlo.compare EQ, %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %r7 = stablehlo.select %p, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
    %r8 = stablehlo.constant dense<[[1.5, -0.0, 2.0], [1.0e-45, 3.0, 4.25]]> : tensor<2x3xf32>
    %r9 = stablehlo.constant dense<-7> : tensor<4xi8>
    %r10 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %r11 = stablehlo.constant dense<(1.0, -2.5)> : tensor<4xcomplex<f32>>
    %r12 = stablehlo.iota dim = 1 : tensor<2x3xui16>
    %r13 = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %r14 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %r15 = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    %r16 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %r17 = stablehlo.dynamic_update_slice %a, %r16, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %r18 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %r19 = stablehlo.pad %a, %c, low = [0, -1], high = [2, 0], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x2xf32>
    %r20 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>
    %r21 = stablehlo.dot_general %a, %r14, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %r22 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %r23 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %r24:2 = stablehlo.reduce(%a init: %c), (%r12 init: %r0) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xui16>, tensor<f32>, tensor<ui16>) -> (tensor<2xf32>, tensor<2xui16>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%u: tensor<ui16>, %v: tensor<ui16>)  {
      %s = stablehlo.add %x, %y : tensor<f32>
      %t = stablehlo.or %u, %v : tensor<ui16>
      stablehlo.return %s, %t : tensor<f32>, tensor<ui16>
    }
    %r25:2 = stablehlo.while(%n = %i, %w = %a) : tensor<i32>, tensor<2x3xf32>
     cond {
      %t = stablehlo.compare LT, %n, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %s = stablehlo.add %w, %w : tensor<2x3xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<2x3xf32>
    }
    %r26 = stablehlo.reduce_precision %a, format = e5m10 : tensor<2x3xf32>
    %r27 = stablehlo.fft %z, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %r28 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    %r29:2 = stablehlo.optimization_barrier %a, %i : tensor<2x3xf32>, tensor<i32>
    %r30 = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %r31 = stablehlo.complex %r30, %r30 : tensor<4xcomplex<f32>>
    %r32 = stablehlo.clamp %c, %a, %c : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %r33 = stablehlo.custom_call @"a.target"(%a) {backend_config = "x", api_version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %r34 = call @other(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %r35 = stablehlo.composite "my.thing" %a {composite_attributes = {n = 3 : i64, s = "w"}, decomposition = @other, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %r36 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<1x2x3x1xf32>
    %r37 = stablehlo.constant dense<1.0> : tensor<1x1x1x2xf32>
    %r38 = stablehlo.convolution(%r36, %r37) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 1], [0, 0]], rhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x3x2xf32>
    %r39:2 = stablehlo.rng_bit_generator %r1, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %r40 = stablehlo.cholesky %r2, lower = true : tensor<2x2xf32>
    return %r3 : tensor<2x3xf32>
  }
  func.func private @other(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %a : tensor<2x3xf32>
  }
}
