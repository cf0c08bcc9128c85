// structure.mlir - what holds at every level: one kernel, of one level, whose operations have what their tables say.
// RUN: --verify --split-input-file
// No kernel.
"builtin.module"() ({
}) : () -> ()
// -----
// Two kernels.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2x4xf32>):
    "tessera.return"(%arg1) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An operation that stands outside of a kernel.
"builtin.module"() ({
  %0 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
}) : () -> ()
// -----
// A kernel in a kernel.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.kernel"() <{inputs = [], name = "g", outputs = []}> ({
      "tessera.return"() : () -> ()
    }) : () -> ()
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An operation of another level.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tile.index"() <{value = 0 : i64}> : () -> index
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Too few operands.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.add"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Too many operands.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.neg"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Too few results.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.neg"(%arg0) : (tensor<2x4xf32>) -> ()
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Too many results.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0:2 = "tessera.neg"(%arg0) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A region that the operation does not have.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.neg"(%arg0) ({
      "tessera.return"() : () -> ()
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A region too few.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = [], name = "f", outputs = []}> : () -> ()
}) : () -> ()
// -----
// A missing attribute.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.softmax"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An attribute of the wrong kind.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.softmax"(%arg0) <{axis = "1"}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A list with an element of the wrong kind.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.transpose"(%arg0) <{permutation = [1, "0"]}> : (tensor<2x4xf32>) -> tensor<4x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A negative dimension.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.iota"() <{axis = 0 : i64, shape = [-4]}> : () -> tensor<4xi32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An attribute that the operation does not have.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.neg"(%arg0) <{axis = 1 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
