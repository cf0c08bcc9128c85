// outline_calls.mlir - a call is no part of a dispatch: functions are inlined first.
// RUN: --pass outline
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y"], name = "f", outputs = ["a", "b"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>):
    %0:2 = "tessera.call"(%arg0, %arg1) <{callee = "both"}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    %1 = "tessera.neg"(%0#1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2:2 = "tessera.call"(%1, %0#0) <{callee = "both"}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    "tessera.return"(%2#0, %2#1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["u", "v"], name = "both", outputs = ["sum", "first"]}> ({
  ^bb0(%arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>):
    %3 = "tessera.call"(%arg3) <{callee = "twice"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %4 = "tessera.add"(%arg2, %3) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%4, %arg2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["w"], name = "twice", outputs = ["out"]}> ({
  ^bb0(%arg4: tensor<2x4xf32>):
    %5 = "tessera.add"(%arg4, %arg4) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%5) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
