// Tokens are values: taken, given, handed to a function and around a loop.
module @tokens {
  func.func public @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>, !stablehlo.token) {
    %a = stablehlo.create_token : !stablehlo.token
    %b = stablehlo.after_all %a, %t : !stablehlo.token
    %c:2 = func.call @inner(%b, %x) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %n = stablehlo.constant dense<0> : tensor<i32>
    %w:3 = stablehlo.while(%i = %n, %k = %c#0, %y = %c#1) : tensor<i32>, !stablehlo.token, tensor<4xf32>
      cond { %three = stablehlo.constant dense<3> : tensor<i32>
        %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1> }
      do { %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        %z = stablehlo.add %y, %y : tensor<4xf32>
        %l = stablehlo.after_all %k : !stablehlo.token
        stablehlo.return %j, %l, %z : tensor<i32>, !stablehlo.token, tensor<4xf32> }
    return %w#1, %w#2, %t : !stablehlo.token, tensor<4xf32>, !stablehlo.token
  }
  func.func private @inner(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
    %y = stablehlo.abs %x : tensor<4xf32>
    return %t, %y : !stablehlo.token, tensor<4xf32>
  }
}
