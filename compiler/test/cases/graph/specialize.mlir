// specialize.mlir - symbolic dimensions become numbers: in types, in attributes, in expressions.
// RUN: --pass specialize=M=3,N=4
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<?x?xf32, #tessera.dims<"M", "2*N + 1">>):
    %0 = "tessera.slice"(%arg0) <{start = [0, 0], step = [1, 1], stop = [#tessera.dim<"M">, #tessera.dim<"N">]}> : (tensor<?x?xf32, #tessera.dims<"M", "2*N + 1">>) -> tensor<?x?xf32, #tessera.dims<"M", "N">>
    %1 = "tessera.reshape"(%0) <{shape = [#tessera.dim<"M*N">]}> : (tensor<?x?xf32, #tessera.dims<"M", "N">>) -> tensor<?xf32, #tessera.dims<"M*N">>
    "tessera.return"(%1) : (tensor<?xf32, #tessera.dims<"M*N">>) -> ()
  }) : () -> ()
}) : () -> ()
