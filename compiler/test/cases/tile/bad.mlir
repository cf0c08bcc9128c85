// bad.mlir - what the verifier of Tile IR refuses (the first piece is right); orders are in orders_*.tsr.
// RUN: --verify --split-input-file
// Right.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %arg2, %0) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xf32>) -> ()
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 1 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
        "tile.yield"(%arg4) : (!tile.t<1x8xf32>) -> ()
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Memory of another type.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.convert"(%0) <{to = i32}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xi32>
      "tile.store"(%arg1, %arg2, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xi32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A tile where an offset is due.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %0, %0) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, !tile.t<1x8xf32>, !tile.t<1x8xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An operand that does not repeat.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x4xf32>
      %2 = "tile.add"(%0, %1) : (!tile.t<1x8xf32>, !tile.t<1x4xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Operands of two types.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.constant"() <{value = #tessera.bits<i32, 0x0>}> : () -> !tile.t<1x1xi32>
      %2 = "tile.add"(%0, %1) : (!tile.t<1x8xf32>, !tile.t<1x1xi32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A result of another type.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.neg"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x8xi32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A conversion to another type than it says.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.convert"(%0) <{to = i32}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xf64>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A bitcast to another size.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.bitcast"(%0) <{to = i64}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xi64>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A predicate that is none.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.compare"(%0, %0) <{predicate = "less"}> : (!tile.t<1x8xf32>, !tile.t<1x8xf32>) -> !tile.t<1x8xi1>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A condition that is no i1.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.select"(%0, %0, %0) : (!tile.t<1x8xf32>, !tile.t<1x8xf32>, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Coefficients without an index.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.affine"(%arg2) <{coefficients = [1, 2], constant = 0 : i64}> : (index) -> index
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A division by 0.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index_rem"(%arg2) <{by = 0 : i64}> : (index) -> index
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A constant that is no single element.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A broadcast that shrinks.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.broadcast"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x4xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A fold of six columns.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x6xf32>
      %2 = "tile.fold"(%1) <{kind = "max", order = "any", reduction = 0 : i64}> : (!tile.t<1x6xf32>) -> !tile.t<1x1xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A loop that yields nothing.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 1 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
        "tile.yield"() : () -> ()
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A loop without an end.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 1 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A loop that stands still.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 0 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
        "tile.yield"(%arg4) : (!tile.t<1x8xf32>) -> ()
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A loop whose carried value changes its shape.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 1 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
        %3 = "tile.broadcast"(%arg4) : (!tile.t<1x8xf32>) -> !tile.t<2x8xf32>
        "tile.yield"(%3) : (!tile.t<2x8xf32>) -> ()
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A value used outside of its loop.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.index"() <{value = 8 : i64}> : () -> index
      %2 = "tile.for"(%arg2, %1, %0) <{step = 1 : i64}> ({
      ^bb0(%arg3: index, %arg4: !tile.t<1x8xf32>):
        "tile.yield"(%arg4) : (!tile.t<1x8xf32>) -> ()
      }) : (index, index, !tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      %3 = "tile.neg"(%arg4) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A phase in a phase.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      "tile.phase"() <{grid = 1 : i64, index = 1 : i64, what = "map"}> ({
      ^bb0(%arg3: index):
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A call of a function that is not there.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.function"() <{number = 0 : i64, of = "exp"}> ({
    ^bb0(%arg2: !tile.t<1x8xf32>):
      "tile.yield"(%arg2) : (!tile.t<1x8xf32>) -> ()
    }) : () -> ()
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg3: index):
      %0 = "tile.load"(%arg0, %arg3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.call"(%0) <{function = 1 : i64}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A function of more than one row.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.function"() <{number = 0 : i64, of = "exp"}> ({
    ^bb0(%arg2: !tile.t<2x8xf32>):
      "tile.yield"(%arg2) : (!tile.t<2x8xf32>) -> ()
    }) : () -> ()
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg3: index):
      %0 = "tile.load"(%arg0, %arg3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.call"(%0) <{function = 0 : i64}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A call whose result the function does not yield.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.function"() <{number = 0 : i64, of = "exp"}> ({
    ^bb0(%arg2: !tile.t<1x8xf32>):
      "tile.yield"(%arg2) : (!tile.t<1x8xf32>) -> ()
    }) : () -> ()
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg3: index):
      %0 = "tile.load"(%arg0, %arg3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.call"(%0) <{function = 0 : i64}> : (!tile.t<1x8xf32>) -> !tile.t<1x8xi32>
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An approximate function in strict.
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.hardware_exp2"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %arg2, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
