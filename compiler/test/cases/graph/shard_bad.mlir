// shard_bad.mlir - shards whose parts do not fit, a result that is whole and stacked, and collectives over dimensions that do not divide.
// RUN: --verify --split-input-file
"builtin.module"() ({
"tessera.kernel"() <{name = "k", inputs = ["x"], outputs = ["out"]}> ({
^bb0(%x: tensor<4x6xf32>):
  %0 = "tessera.shard"(%x) <{sliced = 1 : i64, count = 3 : i64, axis = "dp"}> ({
  ^bb0(%y: tensor<6xf32>):
    "tessera.next"(%y) : (tensor<6xf32>) -> ()
  }) : (tensor<4x6xf32>) -> tensor<3x6xf32>
  "tessera.return"(%0) : (tensor<3x6xf32>) -> ()
}) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
"tessera.kernel"() <{name = "k", inputs = ["x"], outputs = ["out"]}> ({
^bb0(%x: tensor<4x6xf32>):
  %0 = "tessera.shard"(%x) <{sliced = 1 : i64, count = 4 : i64, axis = "dp", whole = [0]}> ({
  ^bb0(%y: tensor<6xf32>):
    "tessera.next"(%y) : (tensor<6xf32>) -> ()
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  "tessera.return"(%0) : (tensor<4x6xf32>) -> ()
}) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
"tessera.kernel"() <{name = "k", inputs = ["x"], outputs = ["out"]}> ({
^bb0(%x: tensor<4x6xf32>):
  %0 = "tessera.reduce_scatter"(%x) <{axis = "dp", count = 4 : i64, dim = 1 : i64, fold = "tree"}> : (tensor<4x6xf32>) -> tensor<4x1xf32>
  "tessera.return"(%0) : (tensor<4x1xf32>) -> ()
}) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
"tessera.kernel"() <{name = "k", inputs = ["x"], outputs = ["out"]}> ({
^bb0(%x: tensor<4x6xf32>):
  %0 = "tessera.all_reduce"(%x) <{axis = "dp", count = 4 : i64, kind = "max", fold = "exact"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  "tessera.return"(%0) : (tensor<4x6xf32>) -> ()
}) : () -> ()
}) : () -> ()
