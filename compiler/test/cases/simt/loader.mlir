// loader.mlir - a thread beside the workgroup's fetches stages into slots: what is waited for comes, and whoever waits is let go. What it
// fetches is boxes of arguments, and products alone read it.
// RUN: --split-input-file
// TAMPER: s/count = 3/count = 1/g
// TAMPER: s/"tile.loader"\(%18\) <\{count = 3/"tile.loader"(%18) <{count = 2/
// TAMPER: s/"tile.slot_free"\(%18, %30\) <\{behind = 1 : i64, /"tile.slot_wait"(%18, %30) <{/
// TAMPER: s/"tile.slot_wait"\(%18, %30\) <\{count = 3/"tile.slot_wait"(%18, %30) <{count = 2/
// TAMPER: s/behind = 1 : i64, bytes/behind = 0 : i64, bytes/
// TAMPER: s/behind = 1/behind = 3/g
// TAMPER: s/bytes = 18432/bytes = 18433/
// TAMPER: s/"tile.for"\(%24, %25, %23\)/"tile.for"(%24, %9, %23)/
// TAMPER: s/mem<i64>/mem<f64>/g
// TAMPER: s/from_stride = 320/from_stride = 319/g
// TAMPER: s/columns = 64 : i64, count = 3 : i64, from_stride = 320/columns = 48 : i64, count = 3 : i64, from_stride = 320/g; s/bytes = 18432/bytes = 14336/
// TAMPER: s/rows = 64/rows = 512/; s/bytes = 18432/bytes = 32768/
// TAMPER: s/block_stride = 10240/block_stride = 10241/
// TAMPER: s/"tile.fetch"\(%17, %39, %arg0/"tile.fetch"(%17, %39, %17/
// TAMPER: s/"tile.fetch"\(%17, %39, %arg0, %arg6, %18, %37\)/"tile.fetch"(%17, %39, %arg0, %arg6, %18, %38)/
// TAMPER: s/(      %28 = .*)/\1\n      %99 = "tile.load"(%17, %24) <{column_stride = 1 : i64, row_stride = 16 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<128x16xbf16, threads<8x16, 1x1>>/
// TAMPER: s/(        "tile.slot_wait"\(%18, %30\).*)/        %99 = "tile.mma_stage"(%17, %30, %arg5, %17, %30) <{left = 128 : i64, right = 32 : i64, right_turned = true, steps = 64 : i64, unit = "mma.sm90.bf16"}> : (!tile.mem<bf16>, index, !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>, !tile.mem<bf16>, index) -> !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>\n\1/
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x", "y"], name = "matmul_sm90_bf16", outputs = ["out"], parameters = {}, profile = "strict", reductions = [{extent = 320 : i64, id = 0 : i64, kind = "dot", order = "mma.sm90.bf16", results = 2048 : i64}], scratch_bytes = 55360 : i64, shapes = [[128, 320], [320, 16], [128, 16]], threads = 128 : i64, workspace_bytes = 0 : i64}> ({
  ^bb0(%arg0: !tile.mem<bf16>, %arg1: !tile.mem<bf16>, %arg2: !tile.mem<f32>):
    "tile.phase"() <{grid = 1 : i64, index = 0 : i64, what = "dot"}> ({
    ^bb0(%arg3: index):
      %0 = "tile.index"() <{value = 0 : i64}> : () -> index
      %1 = "tile.index"() <{value = 0 : i64}> : () -> index
      %2 = "tile.index"() <{value = 0 : i64}> : () -> index
      %3 = "tile.index"() <{value = 0 : i64}> : () -> index
      %4 = "tile.index"() <{value = 0 : i64}> : () -> index
      %5 = "tile.index"() <{value = 0 : i64}> : () -> index
      %6 = "tile.index"() <{value = 0 : i64}> : () -> index
      %7 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x1xf32, threads<1x128, 1x1>>
      %8 = "tile.broadcast"(%7) : (!tile.t<1x1xf32, threads<1x128, 1x1>>) -> !tile.t<128x16xf32, threads<8x16, 1x1>>
      %9 = "tile.index"() <{value = 64 : i64}> : () -> index
      %10 = "tile.index"() <{value = 64 : i64}> : () -> index
      %11 = "tile.index"() <{value = 64 : i64}> : () -> index
      %12 = "tile.index"() <{value = 1024 : i64}> : () -> index
      %13 = "tile.index"() <{value = 0 : i64}> : () -> index
      %14 = "tile.index"() <{value = 0 : i64}> : () -> index
      %15 = "tile.index"() <{value = 0 : i64}> : () -> index
      %16 = "tile.index"() <{value = 0 : i64}> : () -> index
      %17 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<bf16>
      %18 = "tile.scratch"() <{offset = 55296 : i64}> : () -> !tile.mem<i64>
      %19 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16, threads<1x128, 1x1>>
      %20 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16, threads<1x128, 1x1>>
      %21 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16, threads<1x128, 1x1>>
      %22 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x1xf32, threads<1x128, 1x1>>
      %23 = "tile.broadcast"(%22) : (!tile.t<1x1xf32, threads<1x128, 1x1>>) -> !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      "tile.loader"(%18) <{count = 3 : i64}> ({
        %35 = "tile.index"() <{value = 320 : i64}> : () -> index
        %36 = "tile.index"() <{value = 0 : i64}> : () -> index
        "tile.for"(%36, %35) <{step = 64 : i64}> ({
        ^bb0(%arg6: index):
          %37 = "tile.index_div"(%arg6) <{by = 64 : i64}> : (index) -> index
          "tile.slot_claim"(%18, %37) <{behind = 1 : i64, bytes = 18432 : i64, count = 3 : i64}> : (!tile.mem<i64>, index) -> ()
          %38 = "tile.index_rem"(%37) <{by = 3 : i64}> : (index) -> index
          %39 = "tile.affine"(%38) <{coefficients = [9216], constant = 0 : i64}> : (index) -> index
          "tile.fetch"(%17, %39, %arg0, %arg6, %18, %37) <{block_stride = 10240 : i64, blocks = 4 : i64, columns = 64 : i64, count = 3 : i64, from_stride = 320 : i64, rows = 16 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index, !tile.mem<i64>, index) -> ()
          %40 = "tile.affine"(%39) <{coefficients = [1], constant = 4096 : i64}> : (index) -> index
          %41 = "tile.affine"(%arg6) <{coefficients = [1], constant = 5120 : i64}> : (index) -> index
          "tile.fetch"(%17, %40, %arg0, %41, %18, %37) <{block_stride = 10240 : i64, blocks = 4 : i64, columns = 64 : i64, count = 3 : i64, from_stride = 320 : i64, rows = 16 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index, !tile.mem<i64>, index) -> ()
          %42 = "tile.affine"(%arg6) <{coefficients = [16], constant = 0 : i64}> : (index) -> index
          %43 = "tile.affine"(%39) <{coefficients = [1], constant = 8192 : i64}> : (index) -> index
          "tile.fetch"(%17, %43, %arg1, %42, %18, %37) <{columns = 16 : i64, count = 3 : i64, from_stride = 16 : i64, rows = 64 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index, !tile.mem<i64>, index) -> ()
          "tile.yield"() : () -> ()
        }) : (index, index) -> ()
      }) : (!tile.mem<i64>) -> ()
      %24 = "tile.index"() <{value = 0 : i64}> : () -> index
      %25 = "tile.index"() <{value = 320 : i64}> : () -> index
      %26 = "tile.for"(%24, %25, %23) <{order = "mma.sm90.bf16", reduction = 0 : i64, step = 64 : i64}> ({
      ^bb0(%arg4: index, %arg5: !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>):
        %30 = "tile.index_div"(%arg4) <{by = 64 : i64}> : (index) -> index
        "tile.slot_wait"(%18, %30) <{count = 3 : i64}> : (!tile.mem<i64>, index) -> ()
        %31 = "tile.index_rem"(%30) <{by = 3 : i64}> : (index) -> index
        %32 = "tile.affine"(%31) <{coefficients = [9216], constant = 0 : i64}> : (index) -> index
        %33 = "tile.affine"(%32) <{coefficients = [1], constant = 8192 : i64}> : (index) -> index
        %34 = "tile.mma_stage"(%17, %33, %arg5, %17, %32) <{left = 128 : i64, right = 32 : i64, right_turned = true, steps = 64 : i64, unit = "mma.sm90.bf16"}> : (!tile.mem<bf16>, index, !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>, !tile.mem<bf16>, index) -> !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
        "tile.mma_wait"() <{left = 1 : i64}> : () -> ()
        "tile.slot_free"(%18, %30) <{behind = 1 : i64, count = 3 : i64}> : (!tile.mem<i64>, index) -> ()
        "tile.yield"(%34) : (!tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> ()
      }) : (index, index, !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      %27 = "tile.mma_wait"(%26) <{left = 0 : i64}> : (!tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>
      %28 = "tile.index"() <{value = 0 : i64}> : () -> index
      %29 = "tile.index"() <{value = 0 : i64}> : () -> index
      "tile.store"(%arg2, %29, %27) <{canonical = true, column_stride = 1 : i64, row_stride = 16 : i64}> : (!tile.mem<f32>, index, !tile.t<128x16xf32, mma<c, 4x1, 8x4, 1x2, lanes 32>>) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
