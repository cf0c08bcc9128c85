// hardware_exp2.mlir - on a chip that has it, its own instruction stands for exp and exp2 beyond strict, and not for what is made of
// them; strict and correctly rounded functions are written out.
// RUN: --pass expand-math=sm_90a --split-input-file
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "deterministic", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.exp"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      %2 = "tile.exp2"(%1) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      %3 = "tile.rsqrt"(%2) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %arg2, %3) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.exp2"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %arg2, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x"], math = "correct", name = "f", outputs = ["y"], parameters = {}, profile = "fast", reductions = [], scratch_bytes = 0 : i64, shapes = [[8], [8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>, %arg1: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg2: index):
      %0 = "tile.load"(%arg0, %arg2) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index) -> !tile.t<1x8xf32>
      %1 = "tile.exp2"(%0) : (!tile.t<1x8xf32>) -> !tile.t<1x8xf32>
      "tile.store"(%arg1, %arg2, %1) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x8xf32>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
