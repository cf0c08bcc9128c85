// lent.mlir - room between commands in an output that is used last, also of a loop's turns.
// RUN: --pass decompose --pass outline
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "w", "b"], name = "f", outputs = ["all", "last"]}> ({
  ^bb0(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %b: tensor<64x16x16xf32>):
    %0 = "tessera.matmul"(%x, %w) <{order = "chunk512"}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %1:2 = "tessera.loop"(%0, %w) <{carried = 1 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%turn: tensor<i32>, %s: tensor<16x16xf32>, %v: tensor<16x16xf32>):
      %3 = "tessera.matmul"(%s, %v) <{order = "chunk512"}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %4 = "tessera.matmul"(%3, %s) <{order = "chunk512"}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      "tessera.next"(%4, %3) : (tensor<16x16xf32>, tensor<16x16xf32>) -> ()
    }) : (tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<3x16x16xf32>)
    %5 = "tessera.broadcast"(%1#0) <{axes = [1, 2], shape = [64, 16, 16]}> : (tensor<16x16xf32>) -> tensor<64x16x16xf32>
    %2 = "tessera.add"(%5, %b) : (tensor<64x16x16xf32>, tensor<64x16x16xf32>) -> tensor<64x16x16xf32>
    "tessera.return"(%1#1, %2) : (tensor<3x16x16xf32>, tensor<64x16x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
