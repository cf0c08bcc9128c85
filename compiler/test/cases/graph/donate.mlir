// donate.mlir - donated inputs stay the kernel's alone when it is cut into dispatches.
// RUN: --pass decompose --pass outline
"builtin.module"() ({
  "tessera.kernel"() <{donated = [0, 1, 2, 3, 4, -1], inputs = ["s", "a", "b", "c", "k", "w"], name = "f", outputs = ["s2", "a2", "b2", "c2", "k2", "z"]}> ({
  ^bb0(%s: tensor<4x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %k: tensor<4xf32>, %w: tensor<4x4xf32>):
    %0 = "tessera.matmul"(%s, %w) <{order = "chunk512"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = "tessera.loop"(%c, %k) <{carried = 1 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%turn: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
      %3 = "tessera.fma"(%x, %y, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%3) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "tessera.matmul"(%0, %s) <{order = "chunk512"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "tessera.return"(%0, %b, %a, %1, %k, %2) : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
