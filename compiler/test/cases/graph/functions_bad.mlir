// functions_bad.mlir - functions and calls that the verifier refuses.
// RUN: --verify --split-input-file
// No function of that name.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "tessera.call"(%arg0) <{callee = "g"}> : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// The kernel is no function.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "tessera.call"(%arg0) <{callee = "f"}> : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Inputs of another type; then too few.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "tessera.call"(%arg0) <{callee = "g"}> : (tensor<2xf32>) -> tensor<3xf32>
    "tessera.return"(%0) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<3xf32>):
    "tessera.return"(%arg1) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "tessera.call"() <{callee = "g"}> : () -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Results of another number.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0:2 = "tessera.call"(%arg0) <{callee = "g"}> : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    "tessera.return"(%0#0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A circle of two.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    %0 = "tessera.call"(%arg1) <{callee = "h"}> : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "h", outputs = ["y"]}> ({
  ^bb0(%arg2: tensor<2xf32>):
    %1 = "tessera.call"(%arg2) <{callee = "g"}> : (tensor<2xf32>) -> tensor<2xf32>
    "tessera.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Two of one name.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg2: tensor<2xf32>):
    "tessera.return"(%arg2) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A function inside of a kernel, and a second kernel.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
    ^bb0(%arg1: tensor<2xf32>):
      "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
    }) : () -> ()
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.kernel"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A value of the kernel in a function.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A module that has functions alone.
"builtin.module"() ({
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%arg1: tensor<2xf32>):
    "tessera.return"(%arg1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
