// control.mlir - branches and loops: passes enter their blocks, whose dimensions are bound as the kernel's.
// RUN: --pass inline --pass specialize=N=3 --pass decompose --pass normalize --pass simplify
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "w", "n"], name = "f", outputs = ["last", "all", "doubled", "picked"]}> ({
  ^bb0(%arg0: tensor<?x4xf32, #tessera.dims<"N", "4">>, %arg1: tensor<4xf32>, %arg2: tensor<i32>):
    %0 = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
    %1 = "tessera.broadcast"(%0) <{axes = [], shape = [4]}> : (tensor<f32>) -> tensor<4xf32>
    %2:2 = "tessera.loop"(%1, %arg0, %arg1) <{carried = 1 : i64, count = #tessera.dim<"N">, sliced = 1 : i64}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<4xf32>, %arg5: tensor<4xf32>, %arg6: tensor<4xf32>):
      %10 = "tessera.softmax"(%arg5) <{axis = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
      %11 = "tessera.fma"(%10, %arg6, %arg4) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %12 = "tessera.call"(%11) <{callee = "negative"}> : (tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%11, %12) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<?x4xf32, #tessera.dims<"N", "4">>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, #tessera.dims<"N", "4">>)
    %3 = "tessera.while"(%arg2) ({
    ^bb0(%arg7: tensor<i32>):
      %13 = "tessera.constant"() <{value = #tessera.bits<i32, 0x64>}> : () -> tensor<i32>
      %14 = "tessera.compare"(%arg7, %13) <{predicate = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tessera.next"(%14) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg8: tensor<i32>):
      %15 = "tessera.add"(%arg8, %arg8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tessera.next"(%15) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %4 = "tessera.constant"() <{value = #tessera.bits<i32, 0xc8>}> : () -> tensor<i32>
    %5 = "tessera.compare"(%3, %4) <{predicate = "gt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = "tessera.if"(%5, %2#0, %arg1) ({
    ^bb0(%arg9: tensor<4xf32>, %arg10: tensor<4xf32>):
      "tessera.next"(%arg9) : (tensor<4xf32>) -> ()
    }, {
    ^bb0(%arg11: tensor<4xf32>, %arg12: tensor<4xf32>):
      %16 = "tessera.sub"(%arg11, %arg12) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %17 = "tessera.sub"(%arg11, %arg12) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %18 = "tessera.mul"(%16, %17) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%18) : (tensor<4xf32>) -> ()
    }) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "tessera.return"(%2#0, %2#1, %3, %6) : (tensor<4xf32>, tensor<?x4xf32, #tessera.dims<"N", "4">>, tensor<i32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "tessera.function"() <{inputs = ["u"], name = "negative", outputs = ["v"]}> ({
  ^bb0(%arg13: tensor<4xf32>):
    %20 = "tessera.neg"(%arg13) : (tensor<4xf32>) -> tensor<4xf32>
    "tessera.return"(%20) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
