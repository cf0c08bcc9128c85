// vmap_draws.mlir - draws of a batch: a step that all parts have is folded for each, in loops too; one of their own stays, and parts that are alike draw alike.
// RUN: --pass vmap
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["n", "s"], name = "draws", outputs = ["a", "b", "c", "d"]}> ({
  ^bb0(%n: tensor<4xi32>, %s: tensor<3xi32>):
    %0:3 = "tessera.vmap"(%s, %n) <{count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%t: tensor<i32>, %m: tensor<4xi32>):
      %1 = "tessera.constant"() <{value = #tessera.bits<i32, 0x5>}> : () -> tensor<i32>
      %2 = "tessera.broadcast"(%1) <{axes = [], shape = [4]}> : (tensor<i32>) -> tensor<4xi32>
      %3 = "tessera.random_bits"(%m, %2) <{seed = 1 : i64, site = 0 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %4 = "tessera.broadcast"(%t) <{axes = [], shape = [4]}> : (tensor<i32>) -> tensor<4xi32>
      %5 = "tessera.random_bits"(%m, %4) <{seed = 1 : i64, site = 1 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %6 = "tessera.loop"(%m) <{carried = 1 : i64, count = 2 : i64, sliced = 0 : i64}> ({
      ^bb0(%i: tensor<i32>, %c: tensor<4xi32>):
        %7 = "tessera.broadcast"(%i) <{axes = [], shape = [4]}> : (tensor<i32>) -> tensor<4xi32>
        %8 = "tessera.random_bits"(%c, %7) <{seed = 1 : i64, site = 2 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
        "tessera.next"(%8) : (tensor<4xi32>) -> ()
      }) : (tensor<4xi32>) -> tensor<4xi32>
      "tessera.next"(%3, %5, %6) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> ()
    }) : (tensor<3xi32>, tensor<4xi32>) -> (tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>)
    %9 = "tessera.vmap"(%s, %n) <{alike = true, count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%u: tensor<i32>, %k: tensor<4xi32>):
      %10 = "tessera.random_bits"(%k, %k) <{seed = 1 : i64, site = 3 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      "tessera.next"(%10) : (tensor<4xi32>) -> ()
    }) : (tensor<3xi32>, tensor<4xi32>) -> tensor<3x4xi32>
    "tessera.return"(%0#0, %0#1, %0#2, %9) : (tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
