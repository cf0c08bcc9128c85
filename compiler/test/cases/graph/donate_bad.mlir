// donate_bad.mlir - an input is donated to one output of its type.
// RUN: --verify --split-input-file
// a number for each input
"builtin.module"() ({
  "tessera.kernel"() <{donated = [0], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// there is no such output
"builtin.module"() ({
  "tessera.kernel"() <{donated = [3, -1], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// numbers below -1 mean nothing
"builtin.module"() ({
  "tessera.kernel"() <{donated = [-2, -1], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// an output has one donor
"builtin.module"() ({
  "tessera.kernel"() <{donated = [1, 1], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// of another type
"builtin.module"() ({
  "tessera.kernel"() <{donated = [-1, 2], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// numbers alone
"builtin.module"() ({
  "tessera.kernel"() <{donated = ["x", -1], inputs = ["a", "b"], name = "f", outputs = ["x", "y", "z"]}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    "tessera.return"(%b, %a, %0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : () -> ()
}) : () -> ()
