// derive_ruled.mlir - functions with rules of their own: in reverse the rule's cotangents, or a forward rule taken back; forward the rule's tangents,
// or the function itself.
// RUN: --pass jvp --pass vjp --pass checkpoint --split-input-file
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "t"], name = "reverse", outputs = ["y", "g", "z", "f"]}> ({
  ^bb0(%x: tensor<4xf32>, %t: tensor<4xf32>):
    %0:2 = "tessera.vjp"(%t, %x) <{wrt = [0], of = [0]}> ({
    ^bb0(%a: tensor<4xf32>):
      %1 = "tessera.custom_vjp"(%a) <{wrt = [0], of = [0]}> ({
      ^bb0(%u: tensor<4xf32>):
        %2 = "tessera.round"(%u) : (tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%2) : (tensor<4xf32>) -> ()
      }, {
      ^bb0(%v: tensor<4xf32>, %r: tensor<4xf32>, %ct: tensor<4xf32>):
        %3 = "tessera.mul"(%ct, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%3) : (tensor<4xf32>) -> ()
      }) : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %4:2 = "tessera.vjp"(%t, %x) <{wrt = [0], of = [0]}> ({
    ^bb0(%b: tensor<4xf32>):
      %5 = "tessera.custom_jvp"(%b) <{wrt = [0], of = [0]}> ({
      ^bb0(%w: tensor<4xf32>):
        %6 = "tessera.floor"(%w) : (tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%6) : (tensor<4xf32>) -> ()
      }, {
      ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>, %s: tensor<4xf32>):
        %7 = "tessera.mul"(%s, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%7) : (tensor<4xf32>) -> ()
      }) : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%5) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    "tessera.return"(%0#0, %0#1, %4#0, %4#1) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
