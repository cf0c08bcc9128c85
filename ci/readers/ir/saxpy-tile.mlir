"builtin.module"() ({
  "tile.kernel"() <{inputs = ["a", "x", "y"], name = "saxpy", outputs = ["out"], parameters = {P0.BLOCK = 64 : i64, P0.VECTOR = 64 : i64}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[], [1], [1], [1]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>, %arg2: !tile.mem<f32>, %arg3: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg4: index):
      %0 = "tile.index"() <{value = 0 : i64}> : () -> index
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 0 : i64}> : () -> index
      %3 = "tile.index"() <{value = 0 : i64}> : () -> index
      %4 = "tile.load"(%arg0, %3) <{column_stride = 0 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x1xf32>
      %5 = "tile.index"() <{value = 0 : i64}> : () -> index
      %6 = "tile.load"(%arg1, %5) <{column_stride = 0 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x1xf32>
      %7 = "tile.index"() <{value = 0 : i64}> : () -> index
      %8 = "tile.load"(%arg2, %7) <{column_stride = 0 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x1xf32>
      %9 = "tile.fma"(%4, %6, %8) : (!tile.t<1x1xf32>, !tile.t<1x1xf32>, !tile.t<1x1xf32>) -> !tile.t<1x1xf32>
      %10 = "tile.index"() <{value = 0 : i64}> : () -> index
      "tile.store"(%arg3, %10, %9) <{canonical = true, column_stride = 0 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x1xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

