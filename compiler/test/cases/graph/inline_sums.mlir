// inline_sums.mlir - a function whose sum is called twice: the sums of the copies are two.
// RUN: --pass inline --pass normalize
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y"], name = "f", outputs = ["a"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>):
    %0 = "tessera.call"(%arg0) <{callee = "total"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    %1 = "tessera.call"(%arg1) <{callee = "total"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    %2 = "tessera.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%2) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["u"], name = "total", outputs = ["sum"]}> ({
  ^bb0(%arg2: tensor<2x4xf32>):
    %3 = "tessera.reduce"(%arg2) <{axes = [1], kind = "sum", order = "lanes64"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%3) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
