// stream_rows.mlir - a product of 1024 by 6400 numbers, of which others are made row by row, is made of 512 rows at a time: rows count on
// from turn to turn, what has rows is cut, sums over all rows are carried from 0 on, and rows of results are stacked. One that is
// returned stays whole, and so does one that is smaller. Where heads are added up, rows are those of each head.
// RUN: --split-input-file --pass stream-rows
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["q", "k", "v", "t", "shift"], name = "streamed", outputs = ["out0", "out1", "out2"]}> ({
  ^bb0(%arg0: tensor<1024x4xf32>, %arg1: tensor<6400x4xf32>, %arg2: tensor<6400x3xf32>, %arg3: tensor<1024x3xf32>, %arg4: tensor<1024xf32>):
    %0 = "tessera.dot"(%arg0, %arg1) <{order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<1024x4xf32>, tensor<6400x4xf32>) -> tensor<1024x6400xf32>
    %1 = "tessera.iota"() <{axis = 0 : i64, shape = [1024, 6400]}> : () -> tensor<1024x6400xi32>
    %2 = "tessera.iota"() <{axis = 1 : i64, shape = [1024, 6400]}> : () -> tensor<1024x6400xi32>
    %3 = "tessera.compare"(%1, %2) <{predicate = "ge"}> : (tensor<1024x6400xi32>, tensor<1024x6400xi32>) -> tensor<1024x6400xi1>
    %4 = "tessera.broadcast"(%arg4) <{axes = [0], shape = [1024, 6400]}> : (tensor<1024xf32>) -> tensor<1024x6400xf32>
    %5 = "tessera.sub"(%0, %4) : (tensor<1024x6400xf32>, tensor<1024x6400xf32>) -> tensor<1024x6400xf32>
    %6 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
    %7 = "tessera.broadcast"(%6) <{axes = [], shape = [1024, 6400]}> : (tensor<f32>) -> tensor<1024x6400xf32>
    %8 = "tessera.select"(%3, %5, %7) : (tensor<1024x6400xi1>, tensor<1024x6400xf32>, tensor<1024x6400xf32>) -> tensor<1024x6400xf32>
    %9 = "tessera.reduce"(%8) <{axes = [1], kind = "max"}> : (tensor<1024x6400xf32>) -> tensor<1024xf32>
    %10 = "tessera.broadcast"(%9) <{axes = [0], shape = [1024, 6400]}> : (tensor<1024xf32>) -> tensor<1024x6400xf32>
    %11 = "tessera.sub"(%8, %10) : (tensor<1024x6400xf32>, tensor<1024x6400xf32>) -> tensor<1024x6400xf32>
    %12 = "tessera.exp"(%11) : (tensor<1024x6400xf32>) -> tensor<1024x6400xf32>
    %13 = "tessera.dot"(%12, %arg2) <{order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [0]}> : (tensor<1024x6400xf32>, tensor<6400x3xf32>) -> tensor<1024x3xf32>
    %14 = "tessera.dot"(%12, %arg3) <{order = "chunk512", x_batch = [], x_contract = [0], y_batch = [], y_contract = [0]}> : (tensor<1024x6400xf32>, tensor<1024x3xf32>) -> tensor<6400x3xf32>
    %15 = "tessera.reduce"(%12) <{axes = [1], kind = "sum", order = "lanes64"}> : (tensor<1024x6400xf32>) -> tensor<1024xf32>
    "tessera.return"(%13, %14, %15) : (tensor<1024x3xf32>, tensor<6400x3xf32>, tensor<1024xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["q", "k", "t"], name = "returned", outputs = ["p", "out1"]}> ({
  ^bb0(%arg0: tensor<1024x4xf32>, %arg1: tensor<6400x4xf32>, %arg2: tensor<1024x3xf32>):
    %0 = "tessera.dot"(%arg0, %arg1) <{order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<1024x4xf32>, tensor<6400x4xf32>) -> tensor<1024x6400xf32>
    %1 = "tessera.exp"(%0) : (tensor<1024x6400xf32>) -> tensor<1024x6400xf32>
    %2 = "tessera.dot"(%1, %arg2) <{order = "chunk512", x_batch = [], x_contract = [0], y_batch = [], y_contract = [0]}> : (tensor<1024x6400xf32>, tensor<1024x3xf32>) -> tensor<6400x3xf32>
    "tessera.return"(%1, %2) : (tensor<1024x6400xf32>, tensor<6400x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["q", "k", "t"], name = "small", outputs = ["out"]}> ({
  ^bb0(%arg0: tensor<1024x4xf32>, %arg1: tensor<1024x4xf32>, %arg2: tensor<1024x3xf32>):
    %0 = "tessera.dot"(%arg0, %arg1) <{order = "chunk512", x_batch = [], x_contract = [1], y_batch = [], y_contract = [1]}> : (tensor<1024x4xf32>, tensor<1024x4xf32>) -> tensor<1024x1024xf32>
    %1 = "tessera.exp"(%0) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %2 = "tessera.dot"(%1, %arg2) <{order = "chunk512", x_batch = [], x_contract = [0], y_batch = [], y_contract = [0]}> : (tensor<1024x1024xf32>, tensor<1024x3xf32>) -> tensor<1024x3xf32>
    "tessera.return"(%2) : (tensor<1024x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["q", "k", "t"], name = "heads_added", outputs = ["out"]}> ({
  ^bb0(%arg0: tensor<2x1024x4xf32>, %arg1: tensor<2x6400x4xf32>, %arg2: tensor<1024x3xf32>):
    %0 = "tessera.dot"(%arg0, %arg1) <{order = "chunk512", x_batch = [0], x_contract = [2], y_batch = [0], y_contract = [2]}> : (tensor<2x1024x4xf32>, tensor<2x6400x4xf32>) -> tensor<2x1024x6400xf32>
    %1 = "tessera.exp"(%0) : (tensor<2x1024x6400xf32>) -> tensor<2x1024x6400xf32>
    %2 = "tessera.reduce"(%1) <{axes = [0], kind = "sum", order = "lanes64"}> : (tensor<2x1024x6400xf32>) -> tensor<1024x6400xf32>
    %3 = "tessera.dot"(%2, %arg2) <{order = "chunk512", x_batch = [], x_contract = [0], y_batch = [], y_contract = [0]}> : (tensor<1024x6400xf32>, tensor<1024x3xf32>) -> tensor<6400x3xf32>
    "tessera.return"(%3) : (tensor<6400x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
