// stablehlo_bad.mlir - what StableHLO cannot say is refused by its name and line: a dimension without a number, an operation without a formula.
// RUN: --split-input-file --emit-stablehlo
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "symbolic", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<?xf32, #tessera.dims<"N">>):
    %0 = "tessera.neg"(%arg0) : (tensor<?xf32, #tessera.dims<"N">>) -> tensor<?xf32, #tessera.dims<"N">>
    "tessera.return"(%0) : (tensor<?xf32, #tessera.dims<"N">>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "unknown", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "tessera.unspecified"(%arg0) <{number = 0 : i64, shape = [4 : i64], to = f32}> : (tensor<4xf32>) -> tensor<4xf32>
    "tessera.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
