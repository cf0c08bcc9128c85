// reduce_trips.mlir - 64 lanes of a row get four elements each in a trip, then one, then those of a ragged end.
// RUN: --pass tile
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x"], name = "rows", outputs = ["out"], parameters = {P0.ROWS = 1 : i64, P0.SUB = 8 : i64, P0.VECTOR = 32 : i64}, profile = "strict", reductions = [{extent = 330 : i64, id = 0 : i64, kind = "sum", order = "lanes64", results = 3 : i64}]}> ({
  ^bb0(%arg0: !sched.buf<3x330xf32>, %arg1: !sched.buf<3xf32>):
    "sched.phase"() <{index = 0 : i64, what = "rows"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [3], steps = ["P0.ROWS"]}> ({
      ^bb0(%arg2: index):
        "sched.for"(%arg2) <{axis = "row", extent = 3 : i64, span = "P0.ROWS", step = 1 : i64}> ({
        ^bb0(%arg3: index):
          %0 = "sched.buffer"() <{space = "workgroup"}> : () -> !sched.buf<1xf32>
          "sched.reduce"(%arg3, %arg0, %0) <{access = [[0, 330, 1], [0, 0, 0]], axes = 1 : i64, extent = 330 : i64, inputs = 1 : i64, kind = "sum", order = "lanes64", reduction = 0 : i64, sub = "P0.SUB", trip = 4 : i64}> ({
          ^bb0(%arg5: f32):
            "sched.yield"(%arg5) : (f32) -> ()
          }) : (index, !sched.buf<3x330xf32>, !sched.buf<1xf32>) -> ()
          "sched.map"(%arg3, %0, %arg1) <{access = [[0, 0], [0, 1]], axes = 1 : i64, inputs = 1 : i64}> ({
          ^bb0(%arg4: f32):
            "sched.yield"(%arg4) : (f32) -> ()
          }) : (index, !sched.buf<1xf32>, !sched.buf<3xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

