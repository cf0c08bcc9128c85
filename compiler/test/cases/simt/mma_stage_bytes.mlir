// mma_stage_bytes.mlir - a unit that reads single bytes: both sides lie by steps, whose rows are so many bytes, and sums are exact.
// RUN: --split-input-file
// TAMPER: s/steps = 128 : i64, unit/left_turned = true, steps = 128 : i64, unit/
// TAMPER: s/right = 32 : i64, /right = 32 : i64, right_turned = true, /
// TAMPER: s/right = 32/right = 256/
// TAMPER: s/steps = 128 : i64, unit/steps = 112 : i64, unit/g
// TAMPER: s/"mma.sm80.i8"/"mma.sm90.f16"/
// TAMPER: s/mma<a, 4x1, 8x4, 1x4/mma<a, 4x1, 8x4, 1x2/g
"builtin.module"() ({
  "tile.kernel"() <{inputs = [], name = "k", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 65536 : i64, shapes = [[64, 32]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<i32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "dot"}> ({
    ^bb0(%arg1: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<i8>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 8192 : i64}> : () -> index
      %3 = "tile.load"(%arg0, %1) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<i32>, index) -> !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      %4 = "tile.mma_stage"(%0, %1, %3, %0, %2) <{left = 64 : i64, right = 128 : i64, steps = 128 : i64, unit = "mma.sm80.i8"}> : (!tile.mem<i8>, index, !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>, !tile.mem<i8>, index) -> !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      %5 = "tile.load"(%0, %2) <{column_stride = 1 : i64, row_stride = 144 : i64}> : (!tile.mem<i8>, index) -> !tile.t<64x128xi8, mma<a, 4x1, 8x4, 1x4, lanes 32>>
      %6 = "tile.mma_stage"(%0, %1, %4, %5) <{right = 32 : i64, steps = 128 : i64, unit = "mma.sm80.i8"}> : (!tile.mem<i8>, index, !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>, !tile.t<64x128xi8, mma<a, 4x1, 8x4, 1x4, lanes 32>>) -> !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      %7 = "tile.mma_wait"(%6) <{left = 0 : i64}> : (!tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      "tile.store"(%arg0, %1, %7) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<i32>, index, !tile.t<64x32xi32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
