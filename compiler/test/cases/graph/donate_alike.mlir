// donate_alike.mlir - two operands of a dispatch lie in one place, a donated input and what a loop hands on of it.
// RUN: --pass decompose --pass outline
"builtin.module"() ({
  "tessera.kernel"() <{donated = [0, -1], inputs = ["k", "n"], name = "f", outputs = ["y", "m"]}> ({
  ^bb0(%k: tensor<4xf32>, %n: tensor<4xf32>):
    %0:2 = "tessera.loop"(%k, %n) <{carried = 2 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%turn: tensor<i32>, %x: tensor<4xf32>, %z: tensor<4xf32>):
      %2 = "tessera.add"(%z, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%x, %2) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1 = "tessera.sub"(%0#0, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "tessera.fma"(%1, %k, %0#0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "tessera.return"(%3, %0#1) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
