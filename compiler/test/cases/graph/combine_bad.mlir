// combine_bad.mlir - reductions, sorts and scatters that the verifier refuses.
// RUN: --verify --split-input-file
// An axis that the tensors do not have.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 2 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... of a negative number.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = -1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... of a scalar.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%z) <{axis = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<f32>) -> tensor<f32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sort of nothing.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"() <{axis = 0 : i64}> ({
      %c = "tessera.constant"() <{value = #tessera.bits<i1, 0x0>}> : () -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : () -> tensor<f32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sort without results: nothing would see it.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> ()
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Tensors of different shapes.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0:2 = "tessera.sort"(%x, %n) <{axis = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xi32>) -> (tensor<2x3xf32>, tensor<4xi32>)
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More positions than i32 counts.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %e = "tessera.iota"() <{axis = 0 : i64, shape = [2147483648]}> : () -> tensor<2147483648xi32>
    %0 = "tessera.sort"(%e) <{axis = 0 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2147483648xi32>) -> tensor<2147483648xi32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A comparator of one place.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>):
      %c = "tessera.compare"(%a, %a) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A comparator of another type.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A comparator that makes a number.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A result of another shape.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block that reads a value of the kernel.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %z) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block with data movement.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = "tessera.reshape"(%a) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32>
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block that calls a function.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = "tessera.call"(%a) <{callee = "g"}> : (tensor<f32>) -> tensor<f32>
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["x"], name = "g", outputs = ["y"]}> ({
  ^bb0(%gx: tensor<f32>):
    "tessera.return"(%gx) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A sort in a sort.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = "tessera.sort"(%a) <{axis = 0 : i64}> ({
      ^bb0(%d: tensor<f32>, %e: tensor<f32>):
      %c = "tessera.compare"(%d, %e) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
      }) : (tensor<f32>) -> tensor<f32>
      %g = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%g) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A block that returns.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.sort"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.return"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A reduction that begins with nothing.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... with a row.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x, %n) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... that keeps its axis.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x, %z) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... of another type than it begins with.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x, %z) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose block makes a bool.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x, %z) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose block makes nothing.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %0 = "tessera.reduce_with"(%x, %z) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      "tessera.next"() : () -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A scatter without updates.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %u = "tessera.broadcast"(%z) <{axes = [], shape = [2, 4]}> : (tensor<f32>) -> tensor<2x4xf32>
    %0 = "tessera.scatter"(%x, %n) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose indices are no integers.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %u = "tessera.broadcast"(%z) <{axes = [], shape = [2, 4]}> : (tensor<f32>) -> tensor<2x4xf32>
    %m = "tessera.convert"(%n) <{to = f32}> : (tensor<4xi32>) -> tensor<4xf32>
    %0 = "tessera.scatter"(%x, %m, %u) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose indices are one number.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %u = "tessera.broadcast"(%z) <{axes = [], shape = [2, 4]}> : (tensor<f32>) -> tensor<2x4xf32>
    %m = "tessera.convert"(%z) <{to = i32}> : (tensor<f32>) -> tensor<i32>
    %0 = "tessera.scatter"(%x, %m, %u) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<i32>, tensor<2x4xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose updates are along another axis.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %u = "tessera.broadcast"(%z) <{axes = [], shape = [2, 4]}> : (tensor<f32>) -> tensor<2x4xf32>
    %0 = "tessera.scatter"(%x, %n, %u) <{axis = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%c) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// ... whose block makes another type.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "n", "z"], name = "f", outputs = ["y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %z: tensor<f32>):
    %u = "tessera.broadcast"(%z) <{axes = [], shape = [2, 4]}> : (tensor<f32>) -> tensor<2x4xf32>
    %0 = "tessera.scatter"(%x, %n, %u) <{axis = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "tessera.compare"(%a, %b) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%c) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x3xf32>
    "tessera.return"(%x) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
