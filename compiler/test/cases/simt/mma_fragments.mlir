// mma_fragments.mlir - the operands of a matrix unit's product are laid out as its instruction has them, cut alike for subgroups.
// RUN: --split-input-file
// TAMPER: s/mma<a, 2x2/mma<b, 2x2/g
// TAMPER: s/mma<a, 2x2/mma<a, 4x1/g
// TAMPER: s/mma<c, 2x2, 8x4, 1x2, lanes 32>/threads<8x16, 1x2>/g
// TAMPER: s/4x8 turned/4x8/g
// TAMPER: s/8x4, 1x2, lanes 32/8x8, 1x2, lanes 32/
// TAMPER: s/mma<a, 2x2/mma<d, 2x2/
// TAMPER: s/lanes 32/lanes 33/
// TAMPER: s/2x2, /8x1, /g
"builtin.module"() ({
  "tile.kernel"() <{inputs = [], name = "k", outputs = ["y"], parameters = {}, profile = "strict", reductions = [], scratch_bytes = 2048 : i64, shapes = [[64, 32]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "dot"}> ({
    ^bb0(%arg1: index):
      %0 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<bf16>
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.load"(%0, %1) <{column_stride = 1 : i64, row_stride = 16 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<64x16xbf16, mma<a, 2x2, 8x4, 1x2, lanes 32>>
      %3 = "tile.load"(%0, %1) <{column_stride = 16 : i64, row_stride = 1 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x32xbf16, mma<b, 2x2, 4x8 turned, 2x1, lanes 32>>
      %4 = "tile.load"(%arg0, %1) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<f32>, index) -> !tile.t<64x32xf32, mma<c, 2x2, 8x4, 1x2, lanes 32>>
      %5 = "tile.mma"(%2, %3, %4) <{unit = "mma.sm80.bf16"}> : (!tile.t<64x16xbf16, mma<a, 2x2, 8x4, 1x2, lanes 32>>, !tile.t<16x32xbf16, mma<b, 2x2, 4x8 turned, 2x1, lanes 32>>, !tile.t<64x32xf32, mma<c, 2x2, 8x4, 1x2, lanes 32>>) -> !tile.t<64x32xf32, mma<c, 2x2, 8x4, 1x2, lanes 32>>
      "tile.store"(%arg0, %1, %5) <{column_stride = 1 : i64, row_stride = 32 : i64}> : (!tile.mem<f32>, index, !tile.t<64x32xf32, mma<c, 2x2, 8x4, 1x2, lanes 32>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
