// simplify.mlir - equal operations once, unused ones never, movement that moves nothing goes; arithmetic stays.
// RUN: --pass simplify
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    // The same sum twice is one; with another order it is another operation.
    %0 = "tessera.reduce"(%arg0) <{axes = [1], kind = "sum", order = "lanes64"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    %1 = "tessera.reduce"(%arg0) <{axes = [1], kind = "sum", order = "lanes64"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    %2 = "tessera.reduce"(%arg0) <{axes = [1], kind = "max"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    %3 = "tessera.mul"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // Only %6 uses these, and nobody uses %6.
    %4 = "tessera.exp"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = "tessera.log"(%4) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %6 = "tessera.add"(%4, %5) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    // Nothing moves.
    %7 = "tessera.transpose"(%3) <{permutation = [0]}> : (tensor<2xf32>) -> tensor<2xf32>
    %8 = "tessera.reshape"(%7) <{shape = [2]}> : (tensor<2xf32>) -> tensor<2xf32>
    %9 = "tessera.convert"(%8) <{to = f32}> : (tensor<2xf32>) -> tensor<2xf32>
    // x + 0 is not x where x is -0.
    %10 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
    %11 = "tessera.broadcast"(%10) <{axes = [], shape = [2]}> : (tensor<f32>) -> tensor<2xf32>
    %12 = "tessera.add"(%9, %11) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %13 = "tessera.add"(%12, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%13) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
