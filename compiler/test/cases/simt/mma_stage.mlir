// mma_stage.mlir - a unit that reads memory by itself: both sides are whole rows of panels there, or the left one is a tile of its lines and
// steps, held as the instruction has it. Several warpgroups have 64 lines each.
// RUN: --split-input-file
// TAMPER: s/"mma.sm90.bf16"/"mma.sm80.bf16"/
// TAMPER: s/left = 128/left = 96/
// TAMPER: s/left = 128 : i64, //
// TAMPER: s/steps = 64/steps = 32/g
// TAMPER: s/steps = 64 : i64, unit/steps = 56 : i64, unit/g
// TAMPER: s/right_steps = 128/right_steps = 48/
// TAMPER: s/right_turned = true, //
// TAMPER: s/mma<a, 8x1/mma<a, 4x1/g
// TAMPER: s/c, 8x1/c, 4x1/g
// TAMPER: s/c, 8x1/c, 4x2/g
// TAMPER: s/"tile.mma_stage"\(%0, %1, %3, %0, %2/"tile.mma_stage"(%0, %1, %3, %2, %0/
// TAMPER: s/left = 0/left = 1/
// TAMPER: s/swizzle = 128/swizzle = 64/
// TAMPER: s/row_stride = 64 : i64, swizzle = 128/row_stride = 48 : i64, swizzle = 96/
"builtin.module"() ({
  "tile.kernel"() <{inputs = [], name = "k", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 65536 : i64, shapes = [[128, 32]], threads = 256 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "dot"}> ({
    ^bb0(%arg1: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<bf16>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 8192 : i64}> : () -> index
      %3 = "tile.load"(%arg0, %1) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<f32>, index) -> !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>
      %4 = "tile.mma_stage"(%0, %1, %3, %0, %2) <{left = 128 : i64, right = 128 : i64, steps = 64 : i64, unit = "mma.sm90.bf16"}> : (!tile.mem<bf16>, index, !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>, !tile.mem<bf16>, index) -> !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>
      %5 = "tile.load"(%0, %2) <{column_stride = 1 : i64, row_stride = 72 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<128x64xbf16, mma<a, 8x1, 8x4, 1x2, lanes 32>>
      %6 = "tile.mma_stage"(%0, %1, %4, %5) <{right = 64 : i64, right_steps = 128 : i64, right_turned = true, steps = 64 : i64, unit = "mma.sm90.bf16"}> : (!tile.mem<bf16>, index, !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>, !tile.t<128x64xbf16, mma<a, 8x1, 8x4, 1x2, lanes 32>>) -> !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>
      "tile.store"(%0, %1, %5) <{column_stride = 1 : i64, row_stride = 64 : i64, swizzle = 128 : i64}> : (!tile.mem<bf16>, index, !tile.t<128x64xbf16, mma<a, 8x1, 8x4, 1x2, lanes 32>>) -> ()
      %7 = "tile.mma_wait"(%6) <{left = 0 : i64}> : (!tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>) -> !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>
      "tile.store"(%arg0, %1, %7) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<f32>, index, !tile.t<128x32xf32, mma<c, 8x1, 8x4, 1x2, lanes 32>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
