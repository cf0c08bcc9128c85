"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "softmax_rows", outputs = ["out"]}> ({
  ^bb0(%arg0: tensor<?x?xf32, #tessera.dims<"M", "N">>):
    %0 = "tessera.softmax"(%arg0) <{axis = 1 : i64}> : (tensor<?x?xf32, #tessera.dims<"M", "N">>) -> tensor<?x?xf32, #tessera.dims<"M", "N">>
    "tessera.return"(%0) : (tensor<?x?xf32, #tessera.dims<"M", "N">>) -> ()
  }) : () -> ()
}) : () -> ()

