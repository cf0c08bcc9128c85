// vmap_ruled.mlir - a function with a rule of its own keeps it for all parts: the cotangent of what is the same for each is the sum of theirs.
// RUN: --pass vmap
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "w"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>, %w: tensor<4xf32>):
    %0 = "tessera.vmap"(%x, %w) <{count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %1 = "tessera.custom_vjp"(%a, %b) <{of = [0], wrt = [0, 1]}> ({
      ^bb0(%c: tensor<4xf32>, %d: tensor<4xf32>):
        %2 = "tessera.mul"(%c, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%2) : (tensor<4xf32>) -> ()
      }, {
      ^bb0(%e: tensor<4xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>):
        %3 = "tessera.mul"(%h, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %4 = "tessera.mul"(%h, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        "tessera.next"(%3, %4) : (tensor<4xf32>, tensor<4xf32>) -> ()
      }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    "tessera.return"(%0) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
