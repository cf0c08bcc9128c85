// Quantised tensors: a layer of i8 by i8 with a scale for each column of the weights, and elements that move as they are stored.
module @quantized {
  func.func public @quantized_layer(%x: tensor<6x16xf32>, %w: tensor<16x5xf32>) -> (tensor<6x5xf32>, tensor<5x6xf32>) {
    %0 = stablehlo.uniform_quantize %x : (tensor<6x16xf32>) -> tensor<6x16x!quant.uniform<i8:f32, 0.0078125:-3>>
    %1 = stablehlo.uniform_quantize %w : (tensor<16x5xf32>) -> tensor<16x5x!quant.uniform<i8<-127:127>:f32:1, {0.0078125, 0.01, 0.015625, 0.009, 0.02}>>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<6x16x!quant.uniform<i8:f32, 0.0078125:-3>>, tensor<16x5x!quant.uniform<i8<-127:127>:f32:1, {0.0078125, 0.01, 0.015625, 0.009, 0.02}>>) -> tensor<6x5x!quant.uniform<i32:f32, 1.0e-4>>
    %3 = stablehlo.uniform_quantize %2 : (tensor<6x5x!quant.uniform<i32:f32, 1.0e-4>>) -> tensor<6x5x!quant.uniform<u8:f32, 0.03:128>>
    %4 = stablehlo.tanh %3 : (tensor<6x5x!quant.uniform<u8:f32, 0.03:128>>) -> tensor<6x5x!quant.uniform<i8:f32, 0.0078125>>
    %5 = stablehlo.uniform_dequantize %4 : (tensor<6x5x!quant.uniform<i8:f32, 0.0078125>>) -> tensor<6x5xf32>
    %6 = stablehlo.transpose %3, dims = [1, 0] : (tensor<6x5x!quant.uniform<u8:f32, 0.03:128>>) -> tensor<5x6x!quant.uniform<u8:f32, 0.03:128>>
    %7 = stablehlo.uniform_dequantize %6 : (tensor<5x6x!quant.uniform<u8:f32, 0.03:128>>) -> tensor<5x6xf32>
    return %5, %7 : tensor<6x5xf32>, tensor<5x6xf32>
  }
}
