// barriers.mlir - where threads wait: for elements that another layout gives to other threads; in a loop, for what was stored two turns
// before; behind a loop that never has a turn, although its threads would wait; between two loops side by side, both of which may run.
// RUN: --split-input-file --pass insert-barriers
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "other_layout", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 512 : i64, shapes = [[128], [128]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<f32>
      %1 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x128xf32, threads<1x128, 1x1>>
      "tile.store"(%0, %arg2, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x128xf32, threads<1x128, 1x1>>) -> ()
      %2 = "tile.load"(%0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x128xf32, threads<1x128, 1x4>>
      "tile.store"(%arg1, %arg2, %2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x128xf32, threads<1x128, 1x4>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "two_turns_later", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 4096 : i64, shapes = [[512], [512]], threads = 64 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<f32>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 512 : i64}> : () -> index
      "tile.for"(%1, %2) <{step = 128 : i64}> ({
      ^bb0(%arg3: index):
        %3 = "tile.affine"(%arg3) <{coefficients = [1], constant = 1 : i64}> : (index) -> index
        %4 = "tile.load"(%0, %3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x64xf32, threads<1x64, 1x1>>
        "tile.store"(%arg1, %arg3, %4) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x64xf32, threads<1x64, 1x1>>) -> ()
        %5 = "tile.load"(%arg0, %arg3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x64xf32, threads<1x64, 1x1>>
        %6 = "tile.affine"(%arg3) <{coefficients = [1], constant = 256 : i64}> : (index) -> index
        "tile.store"(%0, %6, %5) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x64xf32, threads<1x64, 1x1>>) -> ()
        "tile.yield"() : () -> ()
      }) : (index, index) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "no_turn", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 1024 : i64, shapes = [[128], [128]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<f32>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 1 : i64}> : () -> index
      %3 = "tile.load"(%arg0, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x128xf32, threads<1x128, 1x1>>
      "tile.store"(%0, %1, %3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x128xf32, threads<1x128, 1x1>>) -> ()
      "tile.for"(%1, %1) <{step = 1 : i64}> ({
      ^bb0(%arg3: index):
        "tile.barrier"() : () -> ()
        "tile.yield"() : () -> ()
      }) : (index, index) -> ()
      %4 = "tile.load"(%0, %2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x64xf32, threads<1x128, 1x1>>
      "tile.store"(%arg1, %1, %4) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x64xf32, threads<1x128, 1x1>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "both_loops", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 4096 : i64, shapes = [[512], [512]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 2 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<f32>
      %1 = "tile.affine"(%arg2) <{coefficients = [128], constant = 0 : i64}> : (index) -> index
      %2 = "tile.affine"(%arg2) <{coefficients = [128], constant = 256 : i64}> : (index) -> index
      %3 = "tile.index"() <{value = 256 : i64}> : () -> index
      %4 = "tile.index"() <{value = 384 : i64}> : () -> index
      %5 = "tile.index_min"(%2, %3) : (index, index) -> index
      "tile.for"(%1, %5) <{step = 128 : i64}> ({
      ^bb0(%arg3: index):
        %6 = "tile.load"(%arg0, %arg3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x128xf32, threads<1x128, 1x1>>
        "tile.store"(%0, %arg3, %6) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x128xf32, threads<1x128, 1x1>>) -> ()
        "tile.yield"() : () -> ()
      }) : (index, index) -> ()
      %7 = "tile.index_max"(%1, %3) : (index, index) -> index
      "tile.for"(%7, %4) <{step = 128 : i64}> ({
      ^bb0(%arg4: index):
        %8 = "tile.affine"(%arg4) <{coefficients = [1], constant = -127 : i64}> : (index) -> index
        %9 = "tile.load"(%0, %8) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x64xf32, threads<1x128, 1x1>>
        "tile.store"(%arg1, %arg4, %9) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x64xf32, threads<1x128, 1x1>>) -> ()
        "tile.yield"() : () -> ()
      }) : (index, index) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
