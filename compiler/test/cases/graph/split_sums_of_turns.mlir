// split_sums_of_turns.mlir - a sum in a loop's block has no id yet and stays whole: its dispatch is split when that is compiled.
// RUN: --pass split-chunks=workers=132,columns=128
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "turns", outputs = ["s"]}> ({
  ^bb0(%x: tensor<65536xf32>):
    %0 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
    %1 = "tessera.loop"(%0, %x) <{carried = 1 : i64, count = 500 : i64, sliced = 0 : i64}> ({
    ^bb0(%turn: tensor<i32>, %s: tensor<f32>, %y: tensor<65536xf32>):
      %2 = "tessera.reduce"(%y) <{axes = [0], kind = "sum", order = "lanes64"}> : (tensor<65536xf32>) -> tensor<f32>
      %3 = "tessera.add"(%s, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%3) : (tensor<f32>) -> ()
    }) : (tensor<f32>, tensor<65536xf32>) -> tensor<f32>
    "tessera.return"(%1) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
