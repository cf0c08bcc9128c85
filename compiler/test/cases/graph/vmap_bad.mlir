// vmap_bad.mlir - batches that cannot be: an operation without a rule, a value whose axes are all that there can be.
// RUN: --pass vmap --split-input-file
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>):
    %0 = "tessera.vmap"(%x) <{count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%a: tensor<4xf32>):
      %1 = "tessera.unspecified"(%a) <{number = 0 : i64, shape = [4], to = f32}> : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    "tessera.return"(%0) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>):
    %0 = "tessera.vmap"(%x) <{count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%a: tensor<4xf32>):
      %1 = "tessera.reshape"(%a) <{shape = [1, 1, 1, 1, 1, 1, 1, 4]}> : (tensor<4xf32>) -> tensor<1x1x1x1x1x1x1x4xf32>
      %2 = "tessera.reshape"(%1) <{shape = [4]}> : (tensor<1x1x1x1x1x1x1x4xf32>) -> tensor<4xf32>
      "tessera.next"(%2) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    "tessera.return"(%0) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
