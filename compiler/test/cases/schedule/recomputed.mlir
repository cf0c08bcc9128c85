// recomputed.mlir - sums that are computed twice, and in another order than their ids, are those of the graph; a lost, a forged and
// a changed one are refused, and an equal sum does not stand for another.
// RUN: --pass schedule=MR=3,NR=16
// TAMPER: s/("sched.reduce".*)reduction = 2 :/\1reduction = 6 :/
// TAMPER: s/reduction = 4 : i64/reduction = 9 : i64/
// TAMPER: /sched.reduce.*reduction = 2 :/,$s/reduction = 6 : i64/reduction = 5 : i64/
// TAMPER: /sched.reduce.*reduction = 2 :/,$s/("sched.reduce".*extent = )1100(.*reduction = 6)/\1550\2/
// TAMPER: /sched.reduce.*reduction = 2 :/,$s/("sched.reduce".*)"lanes64"(.*reduction = 6)/\1"any"\2/
// TAMPER: /sched.reduce.*reduction = 2 :/,$s/("sched.reduce".*)"sum"(.*reduction = 6)/\1"max"\2/
// TAMPER: s/(reductions = .*)id = 2 : i64/\1id = 6 : i64/
// TAMPER: s/(reductions = .*), \{[^}]*id = 6[^}]*\}/\1/
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y"], name = "again", outputs = ["a", "b", "c", "d", "e"]}> ({
  ^bb0(%arg0: tensor<3x1100xf32>, %arg1: tensor<1100x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [1], id = 6 : i64, kind = "sum", order = "lanes64"}> : (tensor<3x1100xf32>) -> tensor<3xf32>
    %1 = "tessera.exp"(%arg0) : (tensor<3x1100xf32>) -> tensor<3x1100xf32>
    %2 = "tessera.dot"(%arg0, %arg1) <{id = 4 : i64, order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [0]}> : (tensor<3x1100xf32>, tensor<1100x4xf32>) -> tensor<3x4xf32>
    %3 = "tessera.reduce"(%1) <{axes = [1], id = 2 : i64, kind = "sum", order = "lanes64"}> : (tensor<3x1100xf32>) -> tensor<3xf32>
    %4 = "tessera.dot"(%arg0, %arg1) <{id = 4 : i64, order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [0]}> : (tensor<3x1100xf32>, tensor<1100x4xf32>) -> tensor<3x4xf32>
    %5 = "tessera.reduce"(%arg0) <{axes = [1], id = 6 : i64, kind = "sum", order = "lanes64"}> : (tensor<3x1100xf32>) -> tensor<3xf32>
    "tessera.return"(%0, %2, %3, %4, %5) : (tensor<3xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
