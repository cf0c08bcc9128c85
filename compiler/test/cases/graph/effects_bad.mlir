// effects_bad.mlir - outputs that are no results say what they are for.
// RUN: --verify --split-input-file
// a string for each output
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "check:3:x"], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a check is of bools
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["check:3:x", "", ""], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a line in front of the words
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "", "check:x"], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// no other kinds
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "", "tell:3:x"], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// strings
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "", 3 : i64], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// turns are of an i32 or a bool
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "turns:3.1:"], inputs = ["a"], name = "f", outputs = ["x", "y"]}> ({
  ^bb0(%a: tensor<4xf32>):
    "tessera.return"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// of a block
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "turns:3:"], inputs = ["a"], name = "f", outputs = ["x", "y"]}> ({
  ^bb0(%a: tensor<i32>):
    "tessera.return"(%a, %a) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// which is a number
"builtin.module"() ({
  "tessera.kernel"() <{effects = ["", "print:3.:x"], inputs = ["a"], name = "f", outputs = ["x", "y"]}> ({
  ^bb0(%a: tensor<i32>):
    "tessera.return"(%a, %a) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
