// specialize_unbound.mlir - every dimension needs a value.
// RUN: --pass specialize=M=4
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<?xf32, #tessera.dims<"N">>):
    %0 = "tessera.slice"(%arg0) <{start = [0], step = [1], stop = [5]}> : (tensor<?xf32, #tessera.dims<"N">>) -> tensor<5xf32>
    "tessera.return"(%0) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
