// scatter_itself.mlir - a tensor is updated by itself: both operands are one memory, as a loop hands it on, in which the result may not lie.
// RUN: --pass outline=groups=1
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "i", "c"], name = "f", outputs = ["y", "z"]}> ({
  ^bb0(%x: tensor<3x17xf32>, %i: tensor<17xi32>, %c: tensor<4xf32>):
    %0 = "tessera.neg"(%x) : (tensor<3x17xf32>) -> tensor<3x17xf32>
    %1:2 = "tessera.loop"(%c, %0) <{carried = 2 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%turn: tensor<i32>, %s: tensor<4xf32>, %same: tensor<3x17xf32>):
      %2 = "tessera.add"(%s, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%2, %same) : (tensor<4xf32>, tensor<3x17xf32>) -> ()
    }) : (tensor<4xf32>, tensor<3x17xf32>) -> (tensor<4xf32>, tensor<3x17xf32>)
    %3 = "tessera.scatter"(%1#1, %i, %0) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      "tessera.next"(%b) : (tensor<f32>) -> ()
    }) : (tensor<3x17xf32>, tensor<17xi32>, tensor<3x17xf32>) -> tensor<3x17xf32>
    %4 = "tessera.neg"(%3) : (tensor<3x17xf32>) -> tensor<3x17xf32>
    "tessera.return"(%4, %1#0) : (tensor<3x17xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
