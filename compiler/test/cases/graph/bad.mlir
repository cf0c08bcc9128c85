// bad.mlir - what the verifier of Graph IR refuses.
// RUN: --verify --split-input-file
// No return.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  }) : () -> ()
}) : () -> ()
// -----
// A return in the middle.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More outputs than names.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More inputs than names.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: f32):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An operand that is not a tensor.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "s"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: f32):
    %0 = "tessera.neg"(%arg1) : (f32) -> f32
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Shapes that differ.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "b"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>):
    %0 = "tessera.add"(%arg0, %arg1) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Element types that differ.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "b"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xbf16>):
    %0 = "tessera.add"(%arg0, %arg1) : (tensor<2x4xf32>, tensor<2x4xbf16>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A result that does not follow from the operands.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A permutation that is none.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.transpose"(%arg0) <{permutation = [0, 0]}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A reshape that loses elements.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reshape"(%arg0) <{shape = [7]}> : (tensor<2x4xf32>) -> tensor<7xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A slice past the end.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.slice"(%arg0) <{start = [0, 0], step = [1, 1], stop = [2, 5]}> : (tensor<2x4xf32>) -> tensor<2x5xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A conversion to what is no element.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.convert"(%arg0) <{to = index}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Too many axes.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [0, 1, 2, 3, 4, 5, 6, 7, 8], kind = "max"}> : (tensor<2x4xf32>) -> tensor<f32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sum of floats without an order.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [1], kind = "sum"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sum in an order that is not defined.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [1], kind = "sum", order = "seq"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A maximum with an order, which has none.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [1], kind = "max", order = "lanes64"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dot in an order that is not defined.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.dot"(%arg0, %arg0) <{order = "lanes64", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dot that contracts an axis twice.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.dot"(%arg0, %arg0) <{order = "seq", x_batch = [], x_contract = [1, 1], y_batch = [], y_contract = [1, 1]}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A count for each of three rows, and there are two.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<3xi32>):
    %0 = "tessera.dot"(%arg0, %arg0, %arg1) <{order = "seq", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3xi32>) -> tensor<2x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A conversion that saturates where nothing overflows.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.convert"(%arg0) <{saturate = true, to = f64}> : (tensor<2x4xf32>) -> tensor<2x4xf64>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sum of f32 in bf16.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{accumulate = bf16, axes = [1], kind = "sum", order = "lanes64"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A maximum accumulates nothing.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.reduce"(%arg0) <{accumulate = f64, axes = [1], kind = "max"}> : (tensor<2x4xf32>) -> tensor<2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dot of f32 in i32.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.dot"(%arg0, %arg0) <{accumulate = i32, order = "seq", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Random bits for indices that are floats.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["i", "s"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>):
    %0 = "tessera.random_bits"(%arg0, %arg1) <{seed = 1 : i64, site = 0 : i64}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... for steps of another shape.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["i", "s"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>):
    %0 = "tessera.random_bits"(%arg0, %arg1) <{seed = 1 : i64, site = 0 : i64}> : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    "tessera.return"(%0) : (tensor<2x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... of a negative site.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["i", "s"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xi32>, %arg1: tensor<2x4xi32>):
    %0 = "tessera.random_bits"(%arg0, %arg1) <{seed = 1 : i64, site = -1 : i64}> : (tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    "tessera.return"(%0) : (tensor<2x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A stochastic rounding to f32.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "i"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xi32>):
    %0 = "tessera.stochastic_round"(%arg0, %arg1) <{seed = 1 : i64, stream = 0 : i64, to = f32}> : (tensor<2x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An index for some elements.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "i"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<4xi32>):
    %0 = "tessera.stochastic_round"(%arg0, %arg1) <{seed = 1 : i64, stream = 0 : i64, to = bf16}> : (tensor<2x4xf32>, tensor<4xi32>) -> tensor<2x4xbf16>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A negative seed.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "i"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xi32>):
    %0 = "tessera.stochastic_round"(%arg0, %arg1) <{seed = -1 : i64, stream = 0 : i64, to = bf16}> : (tensor<2x4xf32>, tensor<2x4xi32>) -> tensor<2x4xbf16>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Scales that do not fit.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "a", "b", "s"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xi8>, %arg2: tensor<4x3xi4>, %arg3: tensor<3xf32>):
    %0 = "tessera.scaled_matmul"(%arg1, %arg2, %arg3, %arg3) : (tensor<2x4xi8>, tensor<4x3xi4>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A set of functions that is none.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], math = "fast", name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<4xf32>):
    "tessera.return"(%arg0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Two sums with one id, over other elements.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y", "z"]}> ({
  ^bb0(%arg0: tensor<4x5xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [0], id = 2 : i64, kind = "sum", order = "lanes64"}> : (tensor<4x5xf32>) -> tensor<5xf32>
    %1 = "tessera.reduce"(%arg0) <{axes = [1], id = 2 : i64, kind = "sum", order = "lanes64"}> : (tensor<4x5xf32>) -> tensor<4xf32>
    "tessera.return"(%0, %1) : (tensor<5xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Two sums with one id, in other orders.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "y"], name = "f", outputs = ["a", "b"]}> ({
  ^bb0(%arg0: tensor<4x5xf32>, %arg1: tensor<5x4xf32>):
    %0 = "tessera.dot"(%arg0, %arg1) <{id = 3 : i64, order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [0]}> : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    %1 = "tessera.dot"(%arg0, %arg1) <{id = 3 : i64, order = "seq", x_batch = [], x_contract = [1], y_batch = [], y_contract = [0]}> : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    "tessera.return"(%0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An id below 0.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<4x5xf32>):
    %0 = "tessera.reduce"(%arg0) <{axes = [0], id = -2 : i64, kind = "max"}> : (tensor<4x5xf32>) -> tensor<5xf32>
    "tessera.return"(%0) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An id of what is no sum.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<4x5xf32>):
    %0 = "tessera.neg"(%arg0) <{id = 0 : i64}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
    "tessera.return"(%0) : (tensor<4x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An id of a sum that stands for as many as its loop has turns.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "sums", outputs = ["total"]}> ({
  ^bb0(%arg0: tensor<40x64xf32>):
    %0 = "tessera.tiles"() <{counts = [3], indices = ["tile1"]}> ({
      %1 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
      %2 = "tessera.broadcast"(%1) <{axes = [], shape = [16]}> : (tensor<f32>) -> tensor<16xf32>
      %3 = "tessera.for"(%2) <{count = 4 : i64, index = "tile0"}> ({
      ^bb0(%arg1: tensor<16xf32>):
        %4 = "tessera.load"(%arg0) <{kept = [0, 1], size = [16, 16], start = [#tessera.dim<"16*tile1">, #tessera.dim<"16*tile0">]}> : (tensor<40x64xf32>) -> tensor<16x16xf32>
        %5 = "tessera.reduce"(%4) <{axes = [1], id = 0 : i64, kind = "sum", order = "lanes64"}> : (tensor<16x16xf32>) -> tensor<16xf32>
        %6 = "tessera.add"(%arg1, %5) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
        "tessera.next"(%6) : (tensor<16xf32>) -> ()
      }) : (tensor<16xf32>) -> tensor<16xf32>
      "tessera.give"(%3) <{kept = [[0]], start = [[#tessera.dim<"16*tile1">]]}> : (tensor<16xf32>) -> ()
    }) : () -> tensor<40xf32>
    "tessera.return"(%0) : (tensor<40xf32>) -> ()
  }) : () -> ()
}) : () -> ()
