// vmap_wrong.mlir - batches that the verifier refuses: parts and results that do not fit what they are of.
// RUN: --verify --split-input-file
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>):
    %0 = "tessera.vmap"(%x) <{count = 2 : i64, sliced = 1 : i64}> ({
    ^bb0(%a: tensor<4xf32>):
      "tessera.next"(%a) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>):
    %0 = "tessera.vmap"(%x) <{count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%a: tensor<4xf32>):
      "tessera.next"(%a) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>) -> tensor<4xf32>
    "tessera.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<3x4xf32>):
    %0 = "tessera.vmap"(%x) <{count = 3 : i64, sliced = 2 : i64}> ({
    ^bb0(%a: tensor<4xf32>):
      "tessera.next"(%a) : (tensor<4xf32>) -> ()
    }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    "tessera.return"(%0) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
