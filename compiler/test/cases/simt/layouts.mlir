// layouts.mlir - the numbers of a layout of threads are powers of two; what is wrong is told with its place.
// RUN: --split-input-file --verify
"builtin.module"() ({
  "tile.kernel"() <{inputs = [], name = "k", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 0 : i64, shapes = [[8]], workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "map"}> ({
    ^bb0(%arg1: index):
      %0 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x1xf32, threads<1x3, 1x1>>
      "tile.store"(%arg0, %arg1, %0) <{column_stride = 1 : i64, row_stride = 0 : i64}> : (!tile.mem<f32>, index, !tile.t<1x1xf32, threads<1x3, 1x1>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
