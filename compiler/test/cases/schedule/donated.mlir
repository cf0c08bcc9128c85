// donated.mlir - of two donated inputs one stays so: the other is read again behind the maximum of its row.
// RUN: --pass decompose --pass normalize --pass simplify --pass schedule=lanes=16,threads=1
"builtin.module"() ({
  "tessera.kernel"() <{donated = [0, 1], inputs = ["x", "r"], name = "f", outputs = ["y", "s"]}> ({
  ^bb0(%x: tensor<40xf32>, %r: tensor<4x40xf32>):
    %0 = "tessera.mul"(%x, %x) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %1 = "tessera.softmax"(%r) <{axis = 1 : i64}> : (tensor<4x40xf32>) -> tensor<4x40xf32>
    "tessera.return"(%0, %1) : (tensor<40xf32>, tensor<4x40xf32>) -> ()
  }) : () -> ()
}) : () -> ()
