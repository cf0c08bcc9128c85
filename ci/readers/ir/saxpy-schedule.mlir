"builtin.module"() ({
  "sched.kernel"() <{inputs = ["a", "x", "y"], name = "saxpy", outputs = ["out"], parameters = {P0.BLOCK = 64 : i64, P0.VECTOR = 64 : i64}, profile = "strict", reductions = []}> ({
  ^bb0(%arg0: !sched.buf<f32>, %arg1: !sched.buf<127xf32>, %arg2: !sched.buf<127xf32>, %arg3: !sched.buf<127xf32>):
    "sched.phase"() <{index = 0 : i64, what = "map"}> ({
      "sched.parallel"() <{axes = ["a0"], extents = [127], steps = ["P0.BLOCK"]}> ({
      ^bb0(%arg4: index):
        "sched.for"(%arg4) <{axis = "column", extent = 127 : i64, span = "P0.BLOCK", step = "P0.VECTOR"}> ({
        ^bb0(%arg5: index):
          "sched.map"(%arg5, %arg0, %arg1, %arg2, %arg3) <{access = [[0, 0], [0, 1], [0, 1], [0, 1]], axes = 1 : i64, inputs = 3 : i64}> ({
          ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
            %0 = "tessera.fma"(%arg6, %arg7, %arg8) : (f32, f32, f32) -> f32
            "sched.yield"(%0) : (f32) -> ()
          }) : (index, !sched.buf<f32>, !sched.buf<127xf32>, !sched.buf<127xf32>, !sched.buf<127xf32>) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

