// dot_ahead.mlir - steps that are fetched ahead into the first cache (x @ w.T, asked for by prefetch(w, into="l1")) go on, behind a tile's last one,
// with the tile of the next columns: not past the end of its rows, where the next ones have been read.
// RUN: --pass tile
"builtin.module"() ({
  "sched.kernel"() <{inputs = ["x", "w"], name = "few", outputs = ["out"], parameters = {P0.BM = 1 : i64, P0.BN = 16 : i64, P0.MR = 1 : i64, P0.NR = 16 : i64, P0.PACK_A = 0 : i64, P0.PACK_B = 0 : i64, P0.PREFETCH = 2 : i64, P0.UNROLL = 4 : i64}, profile = "strict", reductions = [{extent = 16 : i64, id = 0 : i64, kind = "dot", order = "chunk512", results = 32 : i64}]}> ({
  ^bb0(%arg0: !sched.buf<1x16xf32>, %arg1: !sched.buf<32x16xf32>, %arg2: !sched.buf<1x32xf32>):
    "sched.phase"() <{index = 0 : i64, what = "dot"}> ({
      "sched.parallel"() <{axes = ["m", "n"], extents = [1, 32], steps = ["P0.BM", "P0.BN"]}> ({
      ^bb0(%arg3: index, %arg4: index):
        "sched.for"(%arg4) <{axis = "n", extent = 32 : i64, span = "P0.BN", step = "P0.NR"}> ({
        ^bb0(%arg5: index):
          "sched.for"(%arg3) <{axis = "m", extent = 1 : i64, span = "P0.BM", step = "P0.MR"}> ({
          ^bb0(%arg6: index):
            "sched.for"() <{axis = "k", extent = 16 : i64, near = true, order = "chunk512", prefetch = "P0.PREFETCH", reduction = 0 : i64, step = 4 : i64}> ({
            ^bb0(%arg7: index):
              "sched.dot"(%arg6, %arg5, %arg7, %arg0, %arg1, %arg2) <{access = [[0, 0, 0, 1], [0, 0, 16, 1], [0, 0, 1, 0]], axes = 3 : i64, buffers = ["lhs", "rhs"], indices = ["m", "n", "k"], inputs = 2 : i64, turned = true}> ({
              ^bb0(%arg8: f32):
                "sched.yield"(%arg8) : (f32) -> ()
              }) : (index, index, index, !sched.buf<1x16xf32>, !sched.buf<32x16xf32>, !sched.buf<1x32xf32>) -> ()
            }) : () -> ()
          }) : (index) -> ()
        }) : (index) -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

