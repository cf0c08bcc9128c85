// Made from the tables of operations by `tsr-opt --irdl`.
module {
  irdl.dialect @tessera {
    irdl.operation @kernel {
      %0 = irdl.base "#builtin.string"
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.array"
      irdl.attributes {"name" = %0, "inputs" = %1, "outputs" = %2}
      %3 = irdl.region
      irdl.regions(%3)
    }
    irdl.operation @return {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
    }
    irdl.operation @constant {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.opaque"
      irdl.attributes {"value" = %1}
    }
    irdl.operation @dense {
      %0 = irdl.base "!builtin.tensor"
      irdl.results(%0)
      %1 = irdl.any
      irdl.attributes {"value" = %1}
    }
    irdl.operation @extent {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.array"
      irdl.attributes {"of" = %1}
    }
    irdl.operation @iota {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"shape" = %1, "axis" = %2}
    }
    irdl.operation @neg {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @abs {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @not {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @sqrt {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @floor {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @ceil {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @round {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @trunc {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @rsqrt {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @exp {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @exp2 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @expm1 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log2 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log1p {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @tanh {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @erf {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @logistic {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @sin {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @cos {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @pow {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @atan2 {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @convert {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.type"
      irdl.attributes {"to" = %2}
    }
    irdl.operation @bitcast {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.type"
      irdl.attributes {"to" = %2}
    }
    irdl.operation @stochastic_round {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
      %3 = irdl.base "#builtin.type"
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.integer"
      irdl.attributes {"to" = %3, "seed" = %4, "stream" = %5}
    }
    irdl.operation @random_bits {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
      %3 = irdl.base "#builtin.integer"
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"seed" = %3, "site" = %4}
    }
    irdl.operation @add {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @sub {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @mul {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @div {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @maximum {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @minimum {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @and {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @or {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @xor {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @left_shift {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @right_shift {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @compare {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
      %3 = irdl.base "#builtin.string"
      irdl.attributes {"predicate" = %3}
    }
    irdl.operation @select {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
    }
    irdl.operation @fma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
    }
    irdl.operation @broadcast {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.array"
      %3 = irdl.base "#builtin.array"
      irdl.attributes {"shape" = %2, "axes" = %3}
    }
    irdl.operation @reshape {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.array"
      irdl.attributes {"shape" = %2}
    }
    irdl.operation @transpose {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.array"
      irdl.attributes {"permutation" = %2}
    }
    irdl.operation @slice {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.array"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.array"
      irdl.attributes {"start" = %2, "stop" = %3, "step" = %4}
    }
    irdl.operation @window {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2, "size" = %3, "stride" = %4}
    }
    irdl.operation @concat {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      irdl.results(%24)
      %25 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %25}
    }
    irdl.operation @gather {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
      %3 = irdl.base "#builtin.integer"
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %3, "batch_dims" = %4}
    }
    irdl.operation @reduce {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.base "#builtin.array"
      irdl.attributes {"kind" = %2, "axes" = %3}
    }
    irdl.operation @dot {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, optional %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
      %4 = irdl.base "#builtin.array"
      %5 = irdl.base "#builtin.array"
      %6 = irdl.base "#builtin.array"
      %7 = irdl.base "#builtin.array"
      %8 = irdl.base "#builtin.string"
      irdl.attributes {"x_contract" = %4, "y_contract" = %5, "x_batch" = %6, "y_batch" = %7, "order" = %8}
    }
    irdl.operation @cumsum {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2}
    }
    irdl.operation @argsort {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2, "descending" = %3}
    }
    irdl.operation @convolve {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.integer"
      %6 = irdl.base "#builtin.string"
      irdl.attributes {"window" = %3, "stride" = %4, "padding" = %5, "order" = %6}
    }
    irdl.operation @unspecified {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      irdl.results(%24)
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.base "#builtin.type"
      irdl.attributes {"number" = %25, "shape" = %26, "to" = %27}
    }
    irdl.operation @matmul {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
      %3 = irdl.base "#builtin.string"
      irdl.attributes {"order" = %3}
    }
    irdl.operation @softmax {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2}
    }
    irdl.operation @logsumexp {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2}
    }
    irdl.operation @mean {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2}
    }
    irdl.operation @layernorm {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
      %4 = irdl.any
      irdl.attributes {"eps" = %4}
    }
    irdl.operation @rmsnorm {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
      %3 = irdl.any
      irdl.attributes {"eps" = %3}
    }
    irdl.operation @relu {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
    }
    irdl.operation @gelu {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      irdl.attributes {"approximate" = %2}
    }
    irdl.operation @silu {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
    }
    irdl.operation @linear {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, optional %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
      %4 = irdl.base "#builtin.string"
      %5 = irdl.base "#builtin.string"
      irdl.attributes {"activation" = %4, "order" = %5}
    }
    irdl.operation @conv2d {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, optional %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.integer"
      %6 = irdl.base "#builtin.string"
      %7 = irdl.base "#builtin.string"
      irdl.attributes {"stride" = %4, "padding" = %5, "activation" = %6, "order" = %7}
    }
    irdl.operation @scaled_matmul {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, %2, %3)
      %4 = irdl.base "!builtin.tensor"
      irdl.results(%4)
    }
    irdl.operation @dequantize {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
      %3 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %3}
    }
    irdl.operation @attention {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"causal" = %4}
    }
    irdl.operation @cross_entropy {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
    }
    irdl.operation @rope {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, %2)
      %3 = irdl.base "!builtin.tensor"
      irdl.results(%3)
    }
    irdl.operation @adam {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1, %2, %3, %4, %5)
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      irdl.results(%6, %7, %8)
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      irdl.attributes {"lr" = %9, "b1" = %10, "b2" = %11, "eps" = %12, "wd" = %13}
    }
    irdl.operation @fold {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      %49 = irdl.base "#builtin.array"
      irdl.attributes {"carried" = %48, "turns" = %49}
      %50 = irdl.region
      irdl.regions(%50)
    }
    irdl.operation @tiles {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.results(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.array"
      %25 = irdl.base "#builtin.array"
      irdl.attributes {"indices" = %24, "counts" = %25}
      %26 = irdl.region
      irdl.regions(%26)
    }
    irdl.operation @for {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.string"
      %49 = irdl.any
      irdl.attributes {"index" = %48, "count" = %49}
      %50 = irdl.region
      irdl.regions(%50)
    }
    irdl.operation @load {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.array"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.array"
      irdl.attributes {"start" = %2, "size" = %3, "kept" = %4}
    }
    irdl.operation @next {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
    }
    irdl.operation @give {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.array"
      %25 = irdl.base "#builtin.array"
      irdl.attributes {"start" = %24, "kept" = %25}
    }
    irdl.operation @function {
      %0 = irdl.base "#builtin.string"
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.array"
      irdl.attributes {"name" = %0, "inputs" = %1, "outputs" = %2}
      %3 = irdl.region
      irdl.regions(%3)
    }
    irdl.operation @call {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.string"
      irdl.attributes {"callee" = %48}
    }
    irdl.operation @if {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      %24 = irdl.base "!builtin.tensor"
      irdl.operands(%0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24)
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      %48 = irdl.base "!builtin.tensor"
      irdl.results(variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48)
      %49 = irdl.region
      %50 = irdl.region
      irdl.regions(%49, %50)
    }
    irdl.operation @while {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.region
      %49 = irdl.region
      irdl.regions(%48, %49)
    }
    irdl.operation @loop {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      %49 = irdl.base "#builtin.integer"
      %50 = irdl.any
      irdl.attributes {"carried" = %48, "sliced" = %49, "count" = %50}
      %51 = irdl.region
      irdl.regions(%51)
    }
    irdl.operation @reduce_with {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %48}
      %49 = irdl.region
      irdl.regions(%49)
    }
    irdl.operation @sort {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %48}
      %49 = irdl.region
      irdl.regions(%49)
    }
    irdl.operation @scatter {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %48}
      %49 = irdl.region
      irdl.regions(%49)
    }
    irdl.operation @jvp {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.array"
      %49 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %48, "of" = %49}
      %50 = irdl.region
      irdl.regions(%50)
    }
    irdl.operation @vjp {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.array"
      %49 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %48, "of" = %49}
      %50 = irdl.region
      irdl.regions(%50)
    }
    irdl.operation @vmap {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      %49 = irdl.any
      irdl.attributes {"sliced" = %48, "count" = %49}
      %50 = irdl.region
      irdl.regions(%50)
    }
    irdl.operation @checkpoint {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.string"
      irdl.attributes {"keep" = %48}
      %49 = irdl.region
      irdl.regions(%49)
    }
    irdl.operation @custom_vjp {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.array"
      %49 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %48, "of" = %49}
      %50 = irdl.region
      %51 = irdl.region
      irdl.regions(%50, %51)
    }
    irdl.operation @custom_jvp {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      %2 = irdl.base "!builtin.tensor"
      %3 = irdl.base "!builtin.tensor"
      %4 = irdl.base "!builtin.tensor"
      %5 = irdl.base "!builtin.tensor"
      %6 = irdl.base "!builtin.tensor"
      %7 = irdl.base "!builtin.tensor"
      %8 = irdl.base "!builtin.tensor"
      %9 = irdl.base "!builtin.tensor"
      %10 = irdl.base "!builtin.tensor"
      %11 = irdl.base "!builtin.tensor"
      %12 = irdl.base "!builtin.tensor"
      %13 = irdl.base "!builtin.tensor"
      %14 = irdl.base "!builtin.tensor"
      %15 = irdl.base "!builtin.tensor"
      %16 = irdl.base "!builtin.tensor"
      %17 = irdl.base "!builtin.tensor"
      %18 = irdl.base "!builtin.tensor"
      %19 = irdl.base "!builtin.tensor"
      %20 = irdl.base "!builtin.tensor"
      %21 = irdl.base "!builtin.tensor"
      %22 = irdl.base "!builtin.tensor"
      %23 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "!builtin.tensor"
      %25 = irdl.base "!builtin.tensor"
      %26 = irdl.base "!builtin.tensor"
      %27 = irdl.base "!builtin.tensor"
      %28 = irdl.base "!builtin.tensor"
      %29 = irdl.base "!builtin.tensor"
      %30 = irdl.base "!builtin.tensor"
      %31 = irdl.base "!builtin.tensor"
      %32 = irdl.base "!builtin.tensor"
      %33 = irdl.base "!builtin.tensor"
      %34 = irdl.base "!builtin.tensor"
      %35 = irdl.base "!builtin.tensor"
      %36 = irdl.base "!builtin.tensor"
      %37 = irdl.base "!builtin.tensor"
      %38 = irdl.base "!builtin.tensor"
      %39 = irdl.base "!builtin.tensor"
      %40 = irdl.base "!builtin.tensor"
      %41 = irdl.base "!builtin.tensor"
      %42 = irdl.base "!builtin.tensor"
      %43 = irdl.base "!builtin.tensor"
      %44 = irdl.base "!builtin.tensor"
      %45 = irdl.base "!builtin.tensor"
      %46 = irdl.base "!builtin.tensor"
      %47 = irdl.base "!builtin.tensor"
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.array"
      %49 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %48, "of" = %49}
      %50 = irdl.region
      %51 = irdl.region
      irdl.regions(%50, %51)
    }
    irdl.operation @stop_gradient {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
    }
  }
  irdl.dialect @sched {
    irdl.operation @kernel {
      %0 = irdl.base "#builtin.string"
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.array"
      %3 = irdl.base "#builtin.dictionary"
      %4 = irdl.base "#builtin.string"
      %5 = irdl.base "#builtin.array"
      irdl.attributes {"name" = %0, "inputs" = %1, "outputs" = %2, "parameters" = %3, "profile" = %4, "reductions" = %5}
      %6 = irdl.region
      irdl.regions(%6)
    }
    irdl.operation @buffer {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.string"
      irdl.attributes {"space" = %1}
    }
    irdl.operation @phase {
      %0 = irdl.base "#builtin.integer"
      %1 = irdl.base "#builtin.string"
      irdl.attributes {"index" = %0, "what" = %1}
      %2 = irdl.region
      irdl.regions(%2)
    }
    irdl.operation @parallel {
      %0 = irdl.base "#builtin.array"
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.array"
      irdl.attributes {"axes" = %0, "extents" = %1, "steps" = %2}
      %3 = irdl.region
      irdl.regions(%3)
    }
    irdl.operation @for {
      %0 = irdl.any
      irdl.operands(optional %0)
      %1 = irdl.base "#builtin.string"
      %2 = irdl.any
      %3 = irdl.any
      irdl.attributes {"axis" = %1, "extent" = %2, "step" = %3}
      %4 = irdl.region
      irdl.regions(%4)
    }
    irdl.operation @map {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26}
      %27 = irdl.region
      irdl.regions(%27)
    }
    irdl.operation @reduce {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.any
      %28 = irdl.base "#builtin.string"
      %29 = irdl.base "#builtin.string"
      %30 = irdl.base "#builtin.integer"
      %31 = irdl.any
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26, "extent" = %27, "kind" = %28, "order" = %29, "reduction" = %30, "sub" = %31}
      %32 = irdl.region
      irdl.regions(%32)
    }
    irdl.operation @columns {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.any
      %28 = irdl.base "#builtin.string"
      %29 = irdl.base "#builtin.string"
      %30 = irdl.base "#builtin.integer"
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26, "extent" = %27, "kind" = %28, "order" = %29, "reduction" = %30}
      %31 = irdl.region
      irdl.regions(%31)
    }
    irdl.operation @scan {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.any
      %28 = irdl.base "#builtin.string"
      %29 = irdl.base "#builtin.string"
      %30 = irdl.base "#builtin.integer"
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26, "extent" = %27, "kind" = %28, "order" = %29, "reduction" = %30}
      %31 = irdl.region
      irdl.regions(%31)
    }
    irdl.operation @sort {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.any
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26, "extent" = %27}
      %28 = irdl.region
      irdl.regions(%28)
    }
    irdl.operation @dot {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.base "#builtin.integer"
      %25 = irdl.base "#builtin.integer"
      %26 = irdl.base "#builtin.array"
      %27 = irdl.base "#builtin.array"
      %28 = irdl.base "#builtin.array"
      irdl.attributes {"axes" = %24, "inputs" = %25, "access" = %26, "indices" = %27, "buffers" = %28}
      %29 = irdl.region
      irdl.regions(%29)
    }
    irdl.operation @fill {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.base "#builtin.opaque"
      irdl.attributes {"value" = %1}
    }
    irdl.operation @index {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.array"
      irdl.attributes {"access" = %1}
    }
    irdl.operation @extent {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.any
      irdl.attributes {"of" = %1}
    }
    irdl.operation @gather {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.any
      %5 = irdl.any
      irdl.attributes {"input" = %2, "access" = %3, "stride" = %4, "limit" = %5}
    }
    irdl.operation @running {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @yield {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
    }
  }
  irdl.dialect @tile {
    irdl.operation @kernel {
      %0 = irdl.base "#builtin.string"
      %1 = irdl.base "#builtin.array"
      %2 = irdl.base "#builtin.array"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.dictionary"
      %5 = irdl.base "#builtin.string"
      %6 = irdl.base "#builtin.integer"
      %7 = irdl.base "#builtin.integer"
      %8 = irdl.base "#builtin.array"
      irdl.attributes {"name" = %0, "inputs" = %1, "outputs" = %2, "shapes" = %3, "parameters" = %4, "profile" = %5, "workspace_bytes" = %6, "scratch_bytes" = %7, "reductions" = %8}
      %9 = irdl.region
      irdl.regions(%9)
    }
    irdl.operation @phase {
      %0 = irdl.base "#builtin.integer"
      %1 = irdl.base "#builtin.string"
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"index" = %0, "what" = %1, "grid" = %2}
      %3 = irdl.region
      irdl.regions(%3)
    }
    irdl.operation @function {
      %0 = irdl.base "#builtin.integer"
      %1 = irdl.base "#builtin.string"
      irdl.attributes {"number" = %0, "of" = %1}
      %2 = irdl.region
      irdl.regions(%2)
    }
    irdl.operation @workspace {
      %0 = irdl.any
      irdl.operands(optional %0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"offset" = %2}
    }
    irdl.operation @prepared {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.integer"
      irdl.attributes {"offset" = %1}
    }
    irdl.operation @scratch {
      %0 = irdl.any
      irdl.operands(optional %0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"offset" = %2}
    }
    irdl.operation @for {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25)
      %26 = irdl.any
      %27 = irdl.any
      %28 = irdl.any
      %29 = irdl.any
      %30 = irdl.any
      %31 = irdl.any
      %32 = irdl.any
      %33 = irdl.any
      %34 = irdl.any
      %35 = irdl.any
      %36 = irdl.any
      %37 = irdl.any
      %38 = irdl.any
      %39 = irdl.any
      %40 = irdl.any
      %41 = irdl.any
      %42 = irdl.any
      %43 = irdl.any
      %44 = irdl.any
      %45 = irdl.any
      %46 = irdl.any
      %47 = irdl.any
      %48 = irdl.any
      %49 = irdl.any
      irdl.results(variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49)
      %50 = irdl.base "#builtin.integer"
      irdl.attributes {"step" = %50}
      %51 = irdl.region
      irdl.regions(%51)
    }
    irdl.operation @yield {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
    }
    irdl.operation @call {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.any
      irdl.results(%24)
      %25 = irdl.base "#builtin.integer"
      irdl.attributes {"function" = %25}
    }
    irdl.operation @index {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.integer"
      irdl.attributes {"value" = %1}
    }
    irdl.operation @affine {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.any
      irdl.results(%24)
      %25 = irdl.base "#builtin.array"
      %26 = irdl.base "#builtin.integer"
      irdl.attributes {"coefficients" = %25, "constant" = %26}
    }
    irdl.operation @index_min {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @index_max {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @index_div {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"by" = %2}
    }
    irdl.operation @index_rem {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"by" = %2}
    }
    irdl.operation @dim {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.integer"
      irdl.attributes {"number" = %1}
    }
    irdl.operation @index_mul {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @index_quotient {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @to_index {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @from_index {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @load {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25)
      %26 = irdl.any
      irdl.results(%26)
      %27 = irdl.base "#builtin.integer"
      %28 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %27, "column_stride" = %28}
    }
    irdl.operation @gather {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      %26 = irdl.any
      irdl.operands(%0, %1, %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26)
      %27 = irdl.any
      irdl.results(%27)
      %28 = irdl.base "#builtin.integer"
      %29 = irdl.base "#builtin.integer"
      %30 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %28, "column_stride" = %29, "stride" = %30}
    }
    irdl.operation @load_group {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25)
      %26 = irdl.any
      irdl.results(%26)
      %27 = irdl.base "#builtin.integer"
      %28 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %27, "column_stride" = %28}
    }
    irdl.operation @prefetch {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"columns" = %2}
    }
    irdl.operation @store {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      %26 = irdl.any
      irdl.operands(%0, %1, %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26)
      %27 = irdl.base "#builtin.integer"
      %28 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %27, "column_stride" = %28}
    }
    irdl.operation @scatter {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      %24 = irdl.any
      %25 = irdl.any
      %26 = irdl.any
      %27 = irdl.any
      irdl.operands(%0, %1, %2, %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27)
      %28 = irdl.base "#builtin.integer"
      %29 = irdl.base "#builtin.integer"
      %30 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %28, "column_stride" = %29, "stride" = %30}
    }
    irdl.operation @barrier {
    }
    irdl.operation @constant {
      %0 = irdl.any
      irdl.results(%0)
      %1 = irdl.base "#builtin.opaque"
      irdl.attributes {"value" = %1}
    }
    irdl.operation @broadcast {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @iota {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.integer"
      irdl.attributes {"row_step" = %2, "column_step" = %3}
    }
    irdl.operation @row {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"number" = %2}
    }
    irdl.operation @columns {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"first" = %2}
    }
    irdl.operation @pad {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
      %2 = irdl.base "#builtin.opaque"
      irdl.attributes {"value" = %2}
    }
    irdl.operation @group {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @group_dot {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
      %4 = irdl.base "#builtin.type"
      irdl.attributes {"of" = %4}
    }
    irdl.operation @fold {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.any
      irdl.results(%24)
      %25 = irdl.base "#builtin.string"
      %26 = irdl.base "#builtin.string"
      %27 = irdl.base "#builtin.integer"
      irdl.attributes {"kind" = %25, "order" = %26, "reduction" = %27}
    }
    irdl.operation @mma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
      %4 = irdl.base "#builtin.string"
      irdl.attributes {"unit" = %4}
    }
    irdl.operation @mma_stage {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      irdl.operands(%0, %1, %2, %3, optional %4)
      %5 = irdl.any
      irdl.results(%5)
      %6 = irdl.base "#builtin.string"
      %7 = irdl.base "#builtin.integer"
      %8 = irdl.base "#builtin.integer"
      irdl.attributes {"unit" = %6, "steps" = %7, "right" = %8}
    }
    irdl.operation @mma_wait {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      %6 = irdl.any
      %7 = irdl.any
      %8 = irdl.any
      %9 = irdl.any
      %10 = irdl.any
      %11 = irdl.any
      %12 = irdl.any
      %13 = irdl.any
      %14 = irdl.any
      %15 = irdl.any
      %16 = irdl.any
      %17 = irdl.any
      %18 = irdl.any
      %19 = irdl.any
      %20 = irdl.any
      %21 = irdl.any
      %22 = irdl.any
      %23 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23)
      %24 = irdl.any
      %25 = irdl.any
      %26 = irdl.any
      %27 = irdl.any
      %28 = irdl.any
      %29 = irdl.any
      %30 = irdl.any
      %31 = irdl.any
      %32 = irdl.any
      %33 = irdl.any
      %34 = irdl.any
      %35 = irdl.any
      %36 = irdl.any
      %37 = irdl.any
      %38 = irdl.any
      %39 = irdl.any
      %40 = irdl.any
      %41 = irdl.any
      %42 = irdl.any
      %43 = irdl.any
      %44 = irdl.any
      %45 = irdl.any
      %46 = irdl.any
      %47 = irdl.any
      irdl.results(variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47)
      %48 = irdl.base "#builtin.integer"
      irdl.attributes {"left" = %48}
    }
    irdl.operation @copy {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      irdl.operands(%0, %1, %2, %3)
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.integer"
      %6 = irdl.base "#builtin.integer"
      %7 = irdl.base "#builtin.integer"
      %8 = irdl.base "#builtin.integer"
      irdl.attributes {"rows" = %4, "columns" = %5, "to_stride" = %6, "from_stride" = %7, "piece" = %8}
    }
    irdl.operation @loader {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.base "#builtin.integer"
      irdl.attributes {"count" = %1}
      %2 = irdl.region
      irdl.regions(%2)
    }
    irdl.operation @slot_claim {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.integer"
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"count" = %2, "bytes" = %3, "behind" = %4}
    }
    irdl.operation @fetch {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      %3 = irdl.any
      %4 = irdl.any
      %5 = irdl.any
      irdl.operands(%0, %1, %2, %3, %4, %5)
      %6 = irdl.base "#builtin.integer"
      %7 = irdl.base "#builtin.integer"
      %8 = irdl.base "#builtin.integer"
      %9 = irdl.base "#builtin.integer"
      irdl.attributes {"count" = %6, "rows" = %7, "columns" = %8, "from_stride" = %9}
    }
    irdl.operation @slot_wait {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.base "#builtin.integer"
      irdl.attributes {"count" = %2}
    }
    irdl.operation @slot_free {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.integer"
      irdl.attributes {"count" = %2, "behind" = %3}
    }
    irdl.operation @copy_commit {
    }
    irdl.operation @copy_wait {
      %0 = irdl.base "#builtin.integer"
      irdl.attributes {"left" = %0}
    }
    irdl.operation @scan {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      %3 = irdl.any
      irdl.results(%2, %3)
      %4 = irdl.base "#builtin.string"
      %5 = irdl.base "#builtin.string"
      %6 = irdl.base "#builtin.integer"
      irdl.attributes {"kind" = %4, "order" = %5, "reduction" = %6}
    }
    irdl.operation @neg {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @abs {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @not {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @sqrt {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @floor {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @ceil {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @round {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @trunc {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @rsqrt {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @exp {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @exp2 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @expm1 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log2 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @log1p {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @tanh {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @erf {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @logistic {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @sin {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @cos {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @pow {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @atan2 {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @convert {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @bitcast {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @stochastic_round {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @random_bits {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @add {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @sub {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @mul {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @div {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @maximum {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @minimum {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @and {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @or {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @xor {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @shl {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @shr {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @compare {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @select {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
    }
    irdl.operation @fma {
      %0 = irdl.any
      %1 = irdl.any
      %2 = irdl.any
      irdl.operands(%0, %1, %2)
      %3 = irdl.any
      irdl.results(%3)
    }
    irdl.operation @ushr {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @umulh {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @scale {
      %0 = irdl.any
      %1 = irdl.any
      irdl.operands(%0, %1)
      %2 = irdl.any
      irdl.results(%2)
    }
    irdl.operation @cut {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
    irdl.operation @hardware_exp2 {
      %0 = irdl.any
      irdl.operands(%0)
      %1 = irdl.any
      irdl.results(%1)
    }
  }
}
