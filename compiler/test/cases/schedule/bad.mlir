// bad.mlir - what the verifier of Schedule IR refuses (the first piece is right); orders are in orders.tsr.
// RUN: --verify --split-input-file
// Right.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A step that is no parameter.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.WIDTH"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A step of 0.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = 0 : i64}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A phase without a grid.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.for"() <{axis = "a0", extent = 8 : i64, step = 8 : i64}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A grid with more extents than axes.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8, 8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A computation outside of a phase.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    %7 = "sched.index"() <{access = [0, 1]}> : () -> i32
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Memory of an unknown space.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    %7 = "sched.buffer"() <{space = "shared"}> : () -> !sched.buf<8xf32>
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An access too few.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A coefficient too many.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A buffer where an index is due.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg0, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (!sched.buf<8xf32>, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More axes than operands.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 7 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body without its input.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
            %0 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body that takes another type.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: i32):
            %0 = "tessera.neg"(%arg4) : (i32) -> i32
            "sched.yield"(%0) : (i32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body without an end.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body that yields nothing.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"() : () -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body that yields another type.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            %1 = "tessera.convert"(%0) <{to = i32}> : (f32) -> i32
            "sched.yield"(%1) : (i32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body that reduces by itself.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.relu"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A body with an operand of another type.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %1 = "sched.index"() <{access = [0, 1]}> : () -> i32
            %0 = "tessera.add"(%arg4, %1) : (f32, i32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A gather of an input that is not there.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %1 = "sched.index"() <{access = [0, 1]}> : () -> i32
            %0 = "sched.gather"(%1) <{access = [0, 0], input = 1 : i64, limit = 8 : i64, stride = 1 : i64}> : (i32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A yield outside of a body.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.map"(%arg3, %arg0, %arg1) <{access = [[0, 1], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            %0 = "tessera.neg"(%arg4) : (f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<8xf32>, !sched.buf<8xf32>) -> ()
          "sched.yield"() : () -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A buffer filled with bits of another type.
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {P0.VECTOR = 4 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<8xf32>, %arg1: !sched.buf<8xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [8], steps = [8]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "column", extent = 8 : i64, span = 8 : i64, step = "P0.VECTOR"}> ({
        ^bb0(%arg3: index):
          "sched.fill"(%arg1) <{value = #tessera.bits<i32, 0x0>}> : (!sched.buf<8xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
