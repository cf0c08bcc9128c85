// ids.mlir - passes keep the ids of sums, give the next ones to those of a composite, and leave the first of two equal sums.
// RUN: --pass decompose --pass widen --pass normalize --pass simplify
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y"], name = "sums", outputs = ["a", "b", "c", "d", "e"]}> ({
  ^bb0(%arg0: tensor<2x4x8xf32>, %arg1: tensor<8x4xbf16>):
    %0 = "tessera.softmax"(%arg0) <{axis = 2 : i64}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %1 = "tessera.reduce"(%arg0) <{axes = [1, 2], id = 7 : i64, kind = "sum", order = "lanes64"}> : (tensor<2x4x8xf32>) -> tensor<2xf32>
    %2 = "tessera.reduce"(%arg0) <{axes = [1, 2], id = 3 : i64, kind = "sum", order = "lanes64"}> : (tensor<2x4x8xf32>) -> tensor<2xf32>
    %3 = "tessera.reduce"(%arg1) <{axes = [1], id = 5 : i64, kind = "sum", order = "lanes64"}> : (tensor<8x4xbf16>) -> tensor<8xbf16>
    %4 = "tessera.reduce"(%arg1) <{axes = [0], id = 4 : i64, kind = "sum", order = "lanes64"}> : (tensor<8x4xbf16>) -> tensor<4xbf16>
    %5 = "tessera.cumsum"(%arg1) <{axis = 1 : i64, order = "seq"}> : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
    "tessera.return"(%0, %1, %2, %3, %5) : (tensor<2x4x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<8xbf16>, tensor<8x4xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
