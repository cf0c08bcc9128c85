// parser.mlir - texts that are not IR: a message with line and column, counted from the piece, and never a crash.
// RUN: --verify --split-input-file
// Nothing at all.

// -----
// Something else.
int main(void) { return 0; }
// -----
// A module that ends in the middle of an operation.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], na
// -----
// ... in the middle of a region.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = [], name = "f", outputs = []}> ({
  ^bb0():
// -----
// ... in the middle of a string.
"builtin.module"() ({
  "tessera.kernel"() <{name = "f
// -----
// More after the end.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
more
// -----
// An operation that no level has.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.ad"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A value that nothing defines.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A value that is defined only later.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.neg"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = "tessera.neg"(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A value defined twice.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %0 = "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A use with another type than the definition.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0) : (tensor<4x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More operands than types.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.return"(%arg0) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// More names than results.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0:2 = "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A result without a name.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    "tessera.add"(%arg0, %arg0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A type that does not exist.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf33>):
    "tessera.return"(%arg0) : (tensor<2x4xf33>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dimension that is negative.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<-2x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dimension that fits no integer.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<99999999999999999999x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A rank above 8.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<1x1x1x1x1x1x1x1x1xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A dimension that is no expression.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<?x4xf32, #tessera.dims<"2*", "4">>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Unknown dimensions without their expressions.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<?x4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An expression that is another number than its dimension.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x?xf32, #tessera.dims<"3", "N">>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A tile of one dimension.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: !tile.t<4xf32>):
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A number that fits no attribute.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.softmax"(%arg0) <{axis = 99999999999999999999 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// An attribute that is given twice.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.softmax"(%arg0) <{axis = 1 : i64, axis = 1 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// A key that is given twice.
"builtin.module"() ({
  "sched.kernel"() <{inputs = [], name = "f", outputs = [], parameters = {A = 1 : i64, A = 2 : i64}, profile = "strict", reductions = []}> ({
  }) : () -> ()
}) : () -> ()
// -----
// Bits that are no number.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.constant"() <{value = #tessera.bits<f32, zero>}> : () -> tensor<f32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Bits that the element does not have.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.constant"() <{value = #tessera.bits<f32, 0x100000000>}> : () -> tensor<f32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// Attributes nested without end.
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x"], name = "f", outputs = ["y"]}> ({
  ^bb0(%arg0: tensor<2x4xf32>):
    %0 = "tessera.softmax"(%arg0) <{axis = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "tessera.return"(%arg0) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
