// mma.mlir - which thread holds what of a matrix unit's products, and where threads wait: once for each stage, whose slot is
// another one than that of the copies under way.
// RUN: --pass assign-layout=threads:128 --pass insert-barriers
"builtin.module"() ({
  "tile.kernel"() <{inputs = ["x", "y"], name = "product", outputs = ["out"], parameters = {P0.BM = 16 : i64, P0.BN = 16 : i64, P0.DEPTH = 4 : i64, P0.MR = 16 : i64, P0.NR = 16 : i64, P0.STAGE = 32 : i64}, profile = "strict", reductions = [{extent = 72 : i64, id = 0 : i64, kind = "dot", order = "mma.sm80.bf16", results = 256 : i64}], scratch_bytes = 11520 : i64, shapes = [[16, 72], [72, 16], [16, 16]], workspace_bytes = 0 : i64}> ({
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
      %7 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x1xf32>
      %8 = "tile.broadcast"(%7) : (!tile.t<1x1xf32>) -> !tile.t<16x16xf32>
      %9 = "tile.index"() <{value = 16 : i64}> : () -> index
      %10 = "tile.index"() <{value = 32 : i64}> : () -> index
      %11 = "tile.index"() <{value = 32 : i64}> : () -> index
      %12 = "tile.index"() <{value = 32 : i64}> : () -> index
      %13 = "tile.index"() <{value = 512 : i64}> : () -> index
      %14 = "tile.scratch"() <{offset = 0 : i64}> : () -> !tile.mem<bf16>
      %15 = "tile.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> !tile.t<1x1xf32>
      %16 = "tile.broadcast"(%15) : (!tile.t<1x1xf32>) -> !tile.t<16x32xf32>
      %17 = "tile.index"() <{value = 640 : i64}> : () -> index
      %18 = "tile.index"() <{value = 656 : i64}> : () -> index
      %19 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16>
      %20 = "tile.broadcast"(%19) : (!tile.t<1x1xbf16>) -> !tile.t<32x16xbf16>
      "tile.store"(%14, %18, %20) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<32x16xbf16>) -> ()
      %21 = "tile.index"() <{value = 2560 : i64}> : () -> index
      %22 = "tile.index"() <{value = 2576 : i64}> : () -> index
      %23 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16>
      %24 = "tile.broadcast"(%23) : (!tile.t<1x1xbf16>) -> !tile.t<32x16xbf16>
      "tile.store"(%14, %22, %24) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<32x16xbf16>) -> ()
      %25 = "tile.index"() <{value = 4480 : i64}> : () -> index
      %26 = "tile.index"() <{value = 4496 : i64}> : () -> index
      %27 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16>
      %28 = "tile.broadcast"(%27) : (!tile.t<1x1xbf16>) -> !tile.t<32x16xbf16>
      "tile.store"(%14, %26, %28) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<32x16xbf16>) -> ()
      %29 = "tile.index"() <{value = 3840 : i64}> : () -> index
      %30 = "tile.index"() <{value = 64 : i64}> : () -> index
      %31 = "tile.index"() <{value = 64 : i64}> : () -> index
      %32 = "tile.load"(%arg0, %31) <{column_stride = 1 : i64, row_stride = 72 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x8xbf16>
      %33 = "tile.index"() <{value = 3840 : i64}> : () -> index
      "tile.store"(%14, %33, %32) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<16x8xbf16>) -> ()
      %34 = "tile.index"() <{value = 3848 : i64}> : () -> index
      %35 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16>
      %36 = "tile.broadcast"(%35) : (!tile.t<1x1xbf16>) -> !tile.t<16x8xbf16>
      "tile.store"(%14, %34, %36) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<16x8xbf16>) -> ()
      %37 = "tile.index"() <{value = 1024 : i64}> : () -> index
      %38 = "tile.load"(%arg1, %37) <{column_stride = 1 : i64, row_stride = 16 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<8x16xbf16>
      %39 = "tile.index"() <{value = 4480 : i64}> : () -> index
      "tile.store"(%14, %39, %38) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<8x16xbf16>) -> ()
      %40 = "tile.index"() <{value = 4800 : i64}> : () -> index
      %41 = "tile.constant"() <{value = #tessera.bits<bf16, 0x0>}> : () -> !tile.t<1x1xbf16>
      %42 = "tile.broadcast"(%41) : (!tile.t<1x1xbf16>) -> !tile.t<8x16xbf16>
      "tile.store"(%14, %40, %42) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.t<8x16xbf16>) -> ()
      %43 = "tile.index"() <{value = 0 : i64}> : () -> index
      %44 = "tile.index"() <{value = 0 : i64}> : () -> index
      %45 = "tile.index"() <{value = 0 : i64}> : () -> index
      %46 = "tile.index"() <{value = 0 : i64}> : () -> index
      "tile.copy"(%14, %45, %arg0, %46) <{columns = 32 : i64, from_stride = 72 : i64, piece = 8 : i64, rows = 16 : i64, to_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index) -> ()
      %47 = "tile.index"() <{value = 640 : i64}> : () -> index
      %48 = "tile.index"() <{value = 0 : i64}> : () -> index
      "tile.copy"(%14, %47, %arg1, %48) <{columns = 16 : i64, from_stride = 16 : i64, piece = 8 : i64, rows = 32 : i64, to_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index) -> ()
      "tile.copy_commit"() : () -> ()
      %49 = "tile.index"() <{value = 0 : i64}> : () -> index
      %50 = "tile.index"() <{value = 64 : i64}> : () -> index
      %51 = "tile.for"(%49, %50, %16) <{order = "mma.sm80.bf16", reduction = 0 : i64, step = 32 : i64}> ({
      ^bb0(%arg6: index, %arg7: !tile.t<16x32xf32>):
        %62 = "tile.index_div"(%arg6) <{by = 32 : i64}> : (index) -> index
        "tile.copy_wait"() <{left = 0 : i64}> : () -> ()
        "tile.barrier"() : () -> ()
        %63 = "tile.affine"(%arg6) <{coefficients = [1], constant = 32 : i64}> : (index) -> index
        %64 = "tile.index"() <{value = 64 : i64}> : () -> index
        "tile.for"(%63, %64) <{step = 64 : i64}> ({
        ^bb0(%arg8: index):
          %76 = "tile.affine"(%62) <{coefficients = [1], constant = 1 : i64}> : (index) -> index
          %77 = "tile.index_rem"(%76) <{by = 2 : i64}> : (index) -> index
          %78 = "tile.affine"(%77) <{coefficients = [1920], constant = 0 : i64}> : (index) -> index
          "tile.copy"(%14, %78, %arg0, %arg8) <{columns = 32 : i64, from_stride = 72 : i64, piece = 8 : i64, rows = 16 : i64, to_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index) -> ()
          %79 = "tile.affine"(%78) <{coefficients = [1], constant = 640 : i64}> : (index) -> index
          %80 = "tile.affine"(%arg8) <{coefficients = [16], constant = 0 : i64}> : (index) -> index
          "tile.copy"(%14, %79, %arg1, %80) <{columns = 16 : i64, from_stride = 16 : i64, piece = 8 : i64, rows = 32 : i64, to_stride = 40 : i64}> : (!tile.mem<bf16>, index, !tile.mem<bf16>, index) -> ()
          "tile.yield"() : () -> ()
        }) : (index, index) -> ()
        "tile.copy_commit"() : () -> ()
        %65 = "tile.index_rem"(%62) <{by = 2 : i64}> : (index) -> index
        %66 = "tile.affine"(%65) <{coefficients = [1920], constant = 0 : i64}> : (index) -> index
        %67 = "tile.load"(%14, %66) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x16xbf16>
        %68 = "tile.affine"(%66) <{coefficients = [1], constant = 640 : i64}> : (index) -> index
        %69 = "tile.load"(%14, %68) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x32xbf16>
        %70 = "tile.mma"(%67, %69, %arg7) <{unit = "mma.sm80.bf16"}> : (!tile.t<16x16xbf16>, !tile.t<16x32xbf16>, !tile.t<16x32xf32>) -> !tile.t<16x32xf32>
        %71 = "tile.affine"(%66) <{coefficients = [1], constant = 16 : i64}> : (index) -> index
        %72 = "tile.load"(%14, %71) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x16xbf16>
        %73 = "tile.affine"(%66) <{coefficients = [1], constant = 1280 : i64}> : (index) -> index
        %74 = "tile.load"(%14, %73) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x32xbf16>
        %75 = "tile.mma"(%72, %74, %70) <{unit = "mma.sm80.bf16"}> : (!tile.t<16x16xbf16>, !tile.t<16x32xbf16>, !tile.t<16x32xf32>) -> !tile.t<16x32xf32>
        "tile.yield"(%75) : (!tile.t<16x32xf32>) -> ()
      }) : (index, index, !tile.t<16x32xf32>) -> !tile.t<16x32xf32>
      %52 = "tile.index"() <{value = 72 : i64}> : () -> index
      %53 = "tile.for"(%50, %52, %51) <{order = "mma.sm80.bf16", reduction = 0 : i64, step = 8 : i64}> ({
      ^bb0(%arg4: index, %arg5: !tile.t<16x32xf32>):
        %56 = "tile.index"() <{value = 3840 : i64}> : () -> index
        %57 = "tile.index"() <{value = 3840 : i64}> : () -> index
        %58 = "tile.load"(%14, %57) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x16xbf16>
        %59 = "tile.index"() <{value = 4480 : i64}> : () -> index
        %60 = "tile.load"(%14, %59) <{column_stride = 1 : i64, row_stride = 40 : i64}> : (!tile.mem<bf16>, index) -> !tile.t<16x32xbf16>
        %61 = "tile.mma"(%58, %60, %arg5) <{unit = "mma.sm80.bf16"}> : (!tile.t<16x16xbf16>, !tile.t<16x32xbf16>, !tile.t<16x32xf32>) -> !tile.t<16x32xf32>
        "tile.yield"(%61) : (!tile.t<16x32xf32>) -> ()
      }) : (index, index, !tile.t<16x32xf32>) -> !tile.t<16x32xf32>
      %54 = "tile.index"() <{value = 0 : i64}> : () -> index
      %55 = "tile.index"() <{value = 0 : i64}> : () -> index
      "tile.store"(%arg2, %55, %53, %9) <{canonical = true, column_stride = 1 : i64, more = ["valid_columns"], row_stride = 16 : i64}> : (!tile.mem<f32>, index, !tile.t<16x32xf32>, index) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

