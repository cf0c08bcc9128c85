module @control {
  func.func public @main(%n: tensor<i32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // The condition sees %n, so that this loop is not isolated.
    %0:2 = stablehlo.while(%i = %one, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %z = func.call @step(%y) : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %j, %z : tensor<i32>, tensor<8xf32>
    }
    %1 = stablehlo.reduce(%0#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.sort"(%0#1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.compare EQ, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.if"(%3) ({
      stablehlo.return %2 : tensor<8xf32>
    }, {
      %5 = "stablehlo.case"(%n) ({
        stablehlo.return %x : tensor<8xf32>
      }, {
        %6 = stablehlo.multiply %x, %2 : tensor<8xf32>
        stablehlo.return %6 : tensor<8xf32>
      }) : (tensor<i32>) -> tensor<8xf32>
      %7 = stablehlo.subtract %5, %x : tensor<8xf32>
      stablehlo.return %7 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    return %0#1, %1, %4 : tensor<8xf32>, tensor<f32>, tensor<8xf32>
  }
  func.func private @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.tanh %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
