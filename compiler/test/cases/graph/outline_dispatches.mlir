// outline_dispatches.mlir - passes behind outline take each dispatch of a program, equal ones once, as a kernel of its own.
// RUN: --pass specialize=N=3 --pass outline --pass schedule
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y", "z", "w"]}> ({
  ^bb0(%arg0: tensor<?x4xf32, #tessera.dims<"N", "4">>):
    %0 = "tessera.dense"() <{value = dense_resource<sha256_f8788ce138a2b6e54302c09bd3d5274cb2fc3ceca6425b02c788181d332edc6d> : tensor<4xf32>}> : () -> tensor<4xf32>
    %1 = "tessera.loop"(%0, %arg0) <{carried = 1 : i64, count = #tessera.dim<"N">, sliced = 1 : i64}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<4xf32>, %arg3: tensor<4xf32>):
      %4 = "tessera.dense"() <{value = dense_resource<sha256_f8788ce138a2b6e54302c09bd3d5274cb2fc3ceca6425b02c788181d332edc6d> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
      %5 = "tessera.reshape"(%4) <{shape = [4]}> : (tensor<2x2xf32>) -> tensor<4xf32>
      %6 = "tessera.fma"(%arg3, %5, %arg2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "tessera.next"(%6) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>, tensor<?x4xf32, #tessera.dims<"N", "4">>) -> tensor<4xf32>
    %2 = "tessera.add"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "tessera.dense"() <{value = dense_resource<sha256_b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2> : tensor<2xi1>}> : () -> tensor<2xi1>
    "tessera.return"(%2, %0, %3) : (tensor<4xf32>, tensor<4xf32>, tensor<2xi1>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      sha256_f8788ce138a2b6e54302c09bd3d5274cb2fc3ceca6425b02c788181d332edc6d: "0x400000000000803F000000C00000003F00004040",
      sha256_b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2: "0x400000000001"
    }
  }
#-}
