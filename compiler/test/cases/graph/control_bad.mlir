// control_bad.mlir - branches and loops that the verifier refuses.
// RUN: --verify --split-input-file
// The condition is no bool.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.if"(%arg0, %arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      "tessera.next"(%arg3) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// One block makes another type.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.if"(%arg1, %arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      %1 = "tessera.compare"(%arg3, %arg3) <{predicate = "eq"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
      "tessera.next"(%1) : (tensor<2xi1>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block reads a value of the kernel.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.if"(%arg1, %arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      "tessera.next"(%arg0) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block of a block reads a value of the kernel.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.if"(%arg1, %arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      %1 = "tessera.constant"() <{value = #tessera.bits<i1, 0x1>}> : () -> tensor<i1>
      %2 = "tessera.if"(%1, %arg3) ({
    ^bb0(%arg4: tensor<2xf32>):
      "tessera.next"(%arg4) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg5: tensor<2xf32>):
      "tessera.next"(%arg0) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
      "tessera.next"(%2) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A while whose values change their type.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.while"(%arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      %1 = "tessera.constant"() <{value = #tessera.bits<i1, 0x0>}> : () -> tensor<i1>
      "tessera.next"(%1) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      %2 = "tessera.convert"(%arg3) <{to = f64}> : (tensor<2xf32>) -> tensor<2xf64>
      "tessera.next"(%2) : (tensor<2xf64>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A while that asks nothing.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.while"(%arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      "tessera.next"(%arg3) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A slice of another number of turns.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.loop"(%arg0, %arg0) <{carried = 1 : i64, count = 3 : i64, sliced = 1 : i64}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<2xf32>, %arg4: tensor<f32>):
      "tessera.next"(%arg3) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A stacked result of other parts.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0:2 = "tessera.loop"(%arg0) <{carried = 1 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<2xf32>):
      "tessera.next"(%arg3, %arg3) : (tensor<2xf32>, tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
    "tessera.return"(%0#0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More carried values than there are.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.loop"(%arg0) <{carried = 2 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<2xf32>):
      "tessera.next"(%arg3) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Without the turn.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.loop"(%arg0) <{carried = 1 : i64, count = 3 : i64, sliced = 0 : i64}> ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Without results: nothing would see it.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    "tessera.while"() ({
      %1 = "tessera.constant"() <{value = #tessera.bits<i1, 0x0>}> : () -> tensor<i1>
      "tessera.next"(%1) : (tensor<i1>) -> ()
    }, {
      "tessera.next"() : () -> ()
    }) : () -> ()
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A return inside of a branch.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "c"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>, %arg1: tensor<i1>):
    %0 = "tessera.if"(%arg1, %arg0) ({
    ^bb0(%arg2: tensor<2xf32>):
      "tessera.next"(%arg2) : (tensor<2xf32>) -> ()
    }, {
    ^bb0(%arg3: tensor<2xf32>):
      "tessera.return"(%arg3) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
