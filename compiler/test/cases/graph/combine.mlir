// combine.mlir - reductions, sorts and scatters with a block: sorts by constants, by numbers that are often equal, by numbers
// of which some are none, and along axis 0; sums that depend on their order, of rows, of one row, of halves; the greatest
// element with its place; updates that depend on their order.
// RUN: --pass inline
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "o", "v", "u"], name = "combine", outputs = ["never", "always", "rounded", "roots", "down", "row", "sum", "most", "place", "updated", "counts", "chain", "half"]}> ({
  ^bb0(%x: tensor<?x?xf32, #tessera.dims<"C", "N">>, %o: tensor<?x?xf32, #tessera.dims<"D", "C">>, %v: tensor<?xf32, #tessera.dims<"U">>, %u: tensor<?x?xf32, #tessera.dims<"U", "C">>):
    %places = "tessera.iota"() <{axis = 1 : i64, shape = [#tessera.dim<"C">, #tessera.dim<"N">]}> : () -> tensor<?x?xi32, #tessera.dims<"C", "N">>
    %rows = "tessera.iota"() <{axis = 0 : i64, shape = [#tessera.dim<"C">, #tessera.dim<"N">]}> : () -> tensor<?x?xi32, #tessera.dims<"C", "N">>
    %never:2 = "tessera.sort"(%x, %places) <{axis = 1 : i64}> ({
    ^bb0(%nevera: tensor<f32>, %neverp: tensor<i32>, %neverb: tensor<f32>, %neverq: tensor<i32>):
      %neverc = "tessera.constant"() <{value = #tessera.bits<i1, 0x0>}> : () -> tensor<i1>
      "tessera.next"(%neverc) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>) -> (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>)
    %always:2 = "tessera.sort"(%x, %places) <{axis = 1 : i64}> ({
    ^bb0(%alwaysa: tensor<f32>, %alwaysp: tensor<i32>, %alwaysb: tensor<f32>, %alwaysq: tensor<i32>):
      %alwaysc = "tessera.constant"() <{value = #tessera.bits<i1, 0x1>}> : () -> tensor<i1>
      "tessera.next"(%alwaysc) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>) -> (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>)
    %rounded:2 = "tessera.sort"(%x, %places) <{axis = 1 : i64}> ({
    ^bb0(%roundeda: tensor<f32>, %roundedp: tensor<i32>, %roundedb: tensor<f32>, %roundedq: tensor<i32>):
      %ri = "tessera.convert"(%roundeda) <{to = i32}> : (tensor<f32>) -> tensor<i32>
      %rj = "tessera.convert"(%roundedb) <{to = i32}> : (tensor<f32>) -> tensor<i32>
      %roundedc = "tessera.compare"(%ri, %rj) <{predicate = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tessera.next"(%roundedc) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>) -> (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>)
    %roots:2 = "tessera.sort"(%x, %places) <{axis = 1 : i64}> ({
    ^bb0(%rootsa: tensor<f32>, %rootsp: tensor<i32>, %rootsb: tensor<f32>, %rootsq: tensor<i32>):
      %si = "tessera.sqrt"(%rootsa) : (tensor<f32>) -> tensor<f32>
      %sj = "tessera.sqrt"(%rootsb) : (tensor<f32>) -> tensor<f32>
      %rootsc = "tessera.compare"(%si, %sj) <{predicate = "lt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%rootsc) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>) -> (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>)
    %down:2 = "tessera.sort"(%x, %rows) <{axis = 0 : i64}> ({
    ^bb0(%downa: tensor<f32>, %downp: tensor<i32>, %downb: tensor<f32>, %downq: tensor<i32>):
      %da = "tessera.silu"(%downa) : (tensor<f32>) -> tensor<f32>
      %db = "tessera.silu"(%downb) : (tensor<f32>) -> tensor<f32>
      %downc = "tessera.compare"(%da, %db) <{predicate = "gt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "tessera.next"(%downc) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>) -> (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>)
    %zero = "tessera.constant"() <{value = #tessera.bits<f32, 0x0>}> : () -> tensor<f32>
    %sum = "tessera.reduce_with"(%x, %zero) <{axis = 1 : i64}> ({
    ^bb0(%ta: tensor<f32>, %tb: tensor<f32>):
      %th = "tessera.constant"() <{value = #tessera.bits<f32, 0x3f000000>}> : () -> tensor<f32>
      %tc = "tessera.fma"(%ta, %th, %tb) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%tc) : (tensor<f32>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<f32>) -> tensor<?xf32, #tessera.dims<"C">>
    %none = "tessera.constant"() <{value = #tessera.bits<i32, 0xffffffff>}> : () -> tensor<i32>
    %low = "tessera.constant"() <{value = #tessera.bits<f32, 0xff800000>}> : () -> tensor<f32>
    %most:2 = "tessera.reduce_with"(%x, %rows, %low, %none) <{axis = 0 : i64}> ({
    ^bb0(%ma: tensor<f32>, %mi: tensor<i32>, %mb: tensor<f32>, %mj: tensor<i32>):
      %mc = "tessera.compare"(%mb, %ma) <{predicate = "gt"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %md = "tessera.select"(%mc, %mb, %ma) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %me = "tessera.select"(%mc, %mj, %mi) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "tessera.next"(%md, %me) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<f32>, tensor<i32>) -> (tensor<?xf32, #tessera.dims<"N">>, tensor<?xi32, #tessera.dims<"N">>)
    %three = "tessera.constant"() <{value = #tessera.bits<f32, 0x40400000>}> : () -> tensor<f32>
    %threes = "tessera.broadcast"(%three) <{axes = [], shape = [#tessera.dim<"U">]}> : (tensor<f32>) -> tensor<?xf32, #tessera.dims<"U">>
    %far = "tessera.mul"(%v, %threes) : (tensor<?xf32, #tessera.dims<"U">>, tensor<?xf32, #tessera.dims<"U">>) -> tensor<?xf32, #tessera.dims<"U">>
    %at = "tessera.convert"(%far) <{to = i32}> : (tensor<?xf32, #tessera.dims<"U">>) -> tensor<?xi32, #tessera.dims<"U">>
    %counts = "tessera.iota"() <{axis = 0 : i64, shape = [#tessera.dim<"D">, #tessera.dim<"C">]}> : () -> tensor<?x?xi32, #tessera.dims<"D", "C">>
    %numbers = "tessera.iota"() <{axis = 0 : i64, shape = [#tessera.dim<"U">, #tessera.dim<"C">]}> : () -> tensor<?x?xi32, #tessera.dims<"U", "C">>
    %done:2 = "tessera.scatter"(%o, %counts, %at, %u, %numbers) <{axis = 0 : i64}> ({
    ^bb0(%ua: tensor<f32>, %ui: tensor<i32>, %ub: tensor<f32>, %uj: tensor<i32>):
      %uh = "tessera.constant"() <{value = #tessera.bits<f32, 0x3f000000>}> : () -> tensor<f32>
      %uc = "tessera.fma"(%ua, %uh, %ub) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %ud = "tessera.sub"(%uj, %ui) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tessera.next"(%uc, %ud) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<?x?xf32, #tessera.dims<"D", "C">>, tensor<?x?xi32, #tessera.dims<"D", "C">>, tensor<?xi32, #tessera.dims<"U">>, tensor<?x?xf32, #tessera.dims<"U", "C">>, tensor<?x?xi32, #tessera.dims<"U", "C">>) -> (tensor<?x?xf32, #tessera.dims<"D", "C">>, tensor<?x?xi32, #tessera.dims<"D", "C">>)
    %chain = "tessera.reduce_with"(%v, %three) <{axis = 0 : i64}> ({
    ^bb0(%ca: tensor<f32>, %cb: tensor<f32>):
      %cc = "tessera.sub"(%cb, %ca) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tessera.next"(%cc) : (tensor<f32>) -> ()
    }) : (tensor<?xf32, #tessera.dims<"U">>, tensor<f32>) -> tensor<f32>
    %narrow = "tessera.convert"(%v) <{to = f16}> : (tensor<?xf32, #tessera.dims<"U">>) -> tensor<?xf16, #tessera.dims<"U">>
    %one = "tessera.constant"() <{value = #tessera.bits<f16, 0x3c00>}> : () -> tensor<f16>
    %half = "tessera.reduce_with"(%narrow, %one) <{axis = 0 : i64}> ({
    ^bb0(%ha: tensor<f16>, %hb: tensor<f16>):
      %hc = "tessera.sub"(%hb, %ha) : (tensor<f16>, tensor<f16>) -> tensor<f16>
      "tessera.next"(%hc) : (tensor<f16>) -> ()
    }) : (tensor<?xf16, #tessera.dims<"U">>, tensor<f16>) -> tensor<f16>
    "tessera.return"(%never#1, %always#1, %rounded#1, %roots#1, %down#0, %down#1, %sum, %most#0, %most#1, %done#0, %done#1, %chain, %half) : (tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<?x?xf32, #tessera.dims<"C", "N">>, tensor<?x?xi32, #tessera.dims<"C", "N">>, tensor<?xf32, #tessera.dims<"C">>, tensor<?xf32, #tessera.dims<"N">>, tensor<?xi32, #tessera.dims<"N">>, tensor<?x?xf32, #tessera.dims<"D", "C">>, tensor<?x?xi32, #tessera.dims<"D", "C">>, tensor<f32>, tensor<f16>) -> ()
  }) : () -> ()
}) : () -> ()
