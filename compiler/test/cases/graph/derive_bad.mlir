// derive_bad.mlir - transforms whose numbers, types or rules do not fit; lists of arguments and results ascend, and name floats.
// RUN: --split-input-file
// TAMPER: s/wrt = \[0, 1\]/wrt = [1, 0]/
// TAMPER: s/wrt = \[0, 1\]/wrt = [0, 2]/
// TAMPER: s/wrt = \[0, 1\]/wrt = [0, 3]/
// TAMPER: s/wrt = \[0, 1\]/wrt = [0]/
// TAMPER: s/of = \[0\], wrt = \[0, 1\]/of = [1], wrt = [0, 1]/
// TAMPER: s/keep = "dots"/keep = "some"/
// TAMPER: s/"tessera.next"\((%arg[0-9]+)\) : \(/"tessera.next"(\1, \1) : (tensor<4xf32>, /
// TAMPER: s/: tensor<4xf32>, (%arg[0-9]+): tensor<4xf32>, (%arg[0-9]+): tensor<4xf32>\):/: tensor<4xf32>, \1: tensor<4xf16>, \2: tensor<4xf32>):/
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y", "i"], name = "f", outputs = ["a", "b", "c", "d", "e"]}> ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>):
    %0:3 = "tessera.vjp"(%x, %x, %y, %i) <{wrt = [0, 1], of = [0]}> ({
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: tensor<4xi32>):
      %1 = "tessera.mul"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    %2 = "tessera.checkpoint"(%x) <{keep = "dots"}> ({
    ^bb0(%c: tensor<4xf32>):
      %3 = "tessera.sin"(%c) : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%3) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "tessera.custom_vjp"(%x) <{wrt = [0], of = [0]}> ({
    ^bb0(%u: tensor<4xf32>):
      %5 = "tessera.round"(%u) : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%5) : (tensor<4xf32>) -> ()
    }, {
    ^bb0(%v: tensor<4xf32>, %r: tensor<4xf32>, %ct: tensor<4xf32>):
      "tessera.next"(%ct) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    "tessera.return"(%0#0, %0#1, %0#2, %2, %4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
