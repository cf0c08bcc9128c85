// forward_stores_loop.mlir - what a loop stores at a place is not known in its turns from before it: each turn reads what the turn before
// has left there.
// RUN: --pass forward-stores
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "doubled", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 512 : i64, shapes = [[128], [128]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<i32>, %arg1: !tile.mem<i32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<i32>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 3 : i64}> : () -> index
      %3 = "tile.load"(%arg0, %1) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index) -> !tile.t<128x1xi32>
      "tile.store"(%0, %1, %3) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index, !tile.t<128x1xi32>) -> ()
      "tile.for"(%1, %2) <{step = 1 : i64}> ({
      ^bb0(%arg3: index):
        %4 = "tile.load"(%0, %1) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index) -> !tile.t<128x1xi32>
        %5 = "tile.add"(%4, %4) : (!tile.t<128x1xi32>, !tile.t<128x1xi32>) -> !tile.t<128x1xi32>
        "tile.store"(%0, %1, %5) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index, !tile.t<128x1xi32>) -> ()
        "tile.yield"() : () -> ()
      }) : (index, index) -> ()
      %6 = "tile.load"(%0, %1) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index) -> !tile.t<128x1xi32>
      "tile.store"(%arg1, %1, %6) <{column_stride = 0 : i64, row_stride = 1 : i64}> : (!tile.mem<i32>, index, !tile.t<128x1xi32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
