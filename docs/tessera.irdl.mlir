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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      irdl.results(%72)
      %73 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %73}
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      irdl.results(%72)
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.base "#builtin.type"
      irdl.attributes {"number" = %73, "shape" = %74, "to" = %75}
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"carried" = %144, "turns" = %145}
      %146 = irdl.region
      irdl.regions(%146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.array"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"indices" = %144, "counts" = %145}
      %146 = irdl.region
      irdl.regions(%146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.string"
      %145 = irdl.any
      irdl.attributes {"index" = %144, "count" = %145}
      %146 = irdl.region
      irdl.regions(%146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.array"
      %73 = irdl.base "#builtin.array"
      irdl.attributes {"start" = %72, "kept" = %73}
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.string"
      irdl.attributes {"callee" = %144}
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
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      %72 = irdl.base "!builtin.tensor"
      irdl.operands(%0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72)
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      %144 = irdl.base "!builtin.tensor"
      irdl.results(variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143, variadic %144)
      %145 = irdl.region
      %146 = irdl.region
      irdl.regions(%145, %146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.region
      %145 = irdl.region
      irdl.regions(%144, %145)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      %145 = irdl.base "#builtin.integer"
      %146 = irdl.any
      irdl.attributes {"carried" = %144, "sliced" = %145, "count" = %146}
      %147 = irdl.region
      irdl.regions(%147)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %144}
      %145 = irdl.region
      irdl.regions(%145)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %144}
      %145 = irdl.region
      irdl.regions(%145)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %144}
      %145 = irdl.region
      irdl.regions(%145)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.array"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %144, "of" = %145}
      %146 = irdl.region
      irdl.regions(%146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.array"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %144, "of" = %145}
      %146 = irdl.region
      irdl.regions(%146)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      %145 = irdl.any
      irdl.attributes {"sliced" = %144, "count" = %145}
      %146 = irdl.region
      irdl.regions(%146)
    }
    irdl.operation @shard {
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
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      %145 = irdl.any
      %146 = irdl.base "#builtin.string"
      irdl.attributes {"sliced" = %144, "count" = %145, "axis" = %146}
      %147 = irdl.region
      irdl.regions(%147)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.string"
      irdl.attributes {"keep" = %144}
      %145 = irdl.region
      irdl.regions(%145)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.array"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %144, "of" = %145}
      %146 = irdl.region
      %147 = irdl.region
      irdl.regions(%146, %147)
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
      %48 = irdl.base "!builtin.tensor"
      %49 = irdl.base "!builtin.tensor"
      %50 = irdl.base "!builtin.tensor"
      %51 = irdl.base "!builtin.tensor"
      %52 = irdl.base "!builtin.tensor"
      %53 = irdl.base "!builtin.tensor"
      %54 = irdl.base "!builtin.tensor"
      %55 = irdl.base "!builtin.tensor"
      %56 = irdl.base "!builtin.tensor"
      %57 = irdl.base "!builtin.tensor"
      %58 = irdl.base "!builtin.tensor"
      %59 = irdl.base "!builtin.tensor"
      %60 = irdl.base "!builtin.tensor"
      %61 = irdl.base "!builtin.tensor"
      %62 = irdl.base "!builtin.tensor"
      %63 = irdl.base "!builtin.tensor"
      %64 = irdl.base "!builtin.tensor"
      %65 = irdl.base "!builtin.tensor"
      %66 = irdl.base "!builtin.tensor"
      %67 = irdl.base "!builtin.tensor"
      %68 = irdl.base "!builtin.tensor"
      %69 = irdl.base "!builtin.tensor"
      %70 = irdl.base "!builtin.tensor"
      %71 = irdl.base "!builtin.tensor"
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "!builtin.tensor"
      %73 = irdl.base "!builtin.tensor"
      %74 = irdl.base "!builtin.tensor"
      %75 = irdl.base "!builtin.tensor"
      %76 = irdl.base "!builtin.tensor"
      %77 = irdl.base "!builtin.tensor"
      %78 = irdl.base "!builtin.tensor"
      %79 = irdl.base "!builtin.tensor"
      %80 = irdl.base "!builtin.tensor"
      %81 = irdl.base "!builtin.tensor"
      %82 = irdl.base "!builtin.tensor"
      %83 = irdl.base "!builtin.tensor"
      %84 = irdl.base "!builtin.tensor"
      %85 = irdl.base "!builtin.tensor"
      %86 = irdl.base "!builtin.tensor"
      %87 = irdl.base "!builtin.tensor"
      %88 = irdl.base "!builtin.tensor"
      %89 = irdl.base "!builtin.tensor"
      %90 = irdl.base "!builtin.tensor"
      %91 = irdl.base "!builtin.tensor"
      %92 = irdl.base "!builtin.tensor"
      %93 = irdl.base "!builtin.tensor"
      %94 = irdl.base "!builtin.tensor"
      %95 = irdl.base "!builtin.tensor"
      %96 = irdl.base "!builtin.tensor"
      %97 = irdl.base "!builtin.tensor"
      %98 = irdl.base "!builtin.tensor"
      %99 = irdl.base "!builtin.tensor"
      %100 = irdl.base "!builtin.tensor"
      %101 = irdl.base "!builtin.tensor"
      %102 = irdl.base "!builtin.tensor"
      %103 = irdl.base "!builtin.tensor"
      %104 = irdl.base "!builtin.tensor"
      %105 = irdl.base "!builtin.tensor"
      %106 = irdl.base "!builtin.tensor"
      %107 = irdl.base "!builtin.tensor"
      %108 = irdl.base "!builtin.tensor"
      %109 = irdl.base "!builtin.tensor"
      %110 = irdl.base "!builtin.tensor"
      %111 = irdl.base "!builtin.tensor"
      %112 = irdl.base "!builtin.tensor"
      %113 = irdl.base "!builtin.tensor"
      %114 = irdl.base "!builtin.tensor"
      %115 = irdl.base "!builtin.tensor"
      %116 = irdl.base "!builtin.tensor"
      %117 = irdl.base "!builtin.tensor"
      %118 = irdl.base "!builtin.tensor"
      %119 = irdl.base "!builtin.tensor"
      %120 = irdl.base "!builtin.tensor"
      %121 = irdl.base "!builtin.tensor"
      %122 = irdl.base "!builtin.tensor"
      %123 = irdl.base "!builtin.tensor"
      %124 = irdl.base "!builtin.tensor"
      %125 = irdl.base "!builtin.tensor"
      %126 = irdl.base "!builtin.tensor"
      %127 = irdl.base "!builtin.tensor"
      %128 = irdl.base "!builtin.tensor"
      %129 = irdl.base "!builtin.tensor"
      %130 = irdl.base "!builtin.tensor"
      %131 = irdl.base "!builtin.tensor"
      %132 = irdl.base "!builtin.tensor"
      %133 = irdl.base "!builtin.tensor"
      %134 = irdl.base "!builtin.tensor"
      %135 = irdl.base "!builtin.tensor"
      %136 = irdl.base "!builtin.tensor"
      %137 = irdl.base "!builtin.tensor"
      %138 = irdl.base "!builtin.tensor"
      %139 = irdl.base "!builtin.tensor"
      %140 = irdl.base "!builtin.tensor"
      %141 = irdl.base "!builtin.tensor"
      %142 = irdl.base "!builtin.tensor"
      %143 = irdl.base "!builtin.tensor"
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.array"
      %145 = irdl.base "#builtin.array"
      irdl.attributes {"wrt" = %144, "of" = %145}
      %146 = irdl.region
      %147 = irdl.region
      irdl.regions(%146, %147)
    }
    irdl.operation @stop_gradient {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
    }
    irdl.operation @all_reduce {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.string"
      %5 = irdl.base "#builtin.string"
      irdl.attributes {"axis" = %2, "count" = %3, "kind" = %4, "fold" = %5}
    }
    irdl.operation @all_gather {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2, "count" = %3, "dim" = %4}
    }
    irdl.operation @reduce_scatter {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.string"
      irdl.attributes {"axis" = %2, "count" = %3, "dim" = %4, "fold" = %5}
    }
    irdl.operation @shard_slice {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2, "count" = %3, "dim" = %4}
    }
    irdl.operation @all_to_all {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.integer"
      %5 = irdl.base "#builtin.integer"
      irdl.attributes {"axis" = %2, "count" = %3, "split" = %4, "concat" = %5}
    }
    irdl.operation @permute {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      %3 = irdl.any
      %4 = irdl.base "#builtin.array"
      irdl.attributes {"axis" = %2, "count" = %3, "pairs" = %4}
    }
    irdl.operation @shard_index {
      %0 = irdl.base "!builtin.tensor"
      irdl.results(%0)
      %1 = irdl.base "#builtin.string"
      %2 = irdl.any
      irdl.attributes {"axis" = %1, "count" = %2}
    }
    irdl.operation @cotangent {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
    }
    irdl.operation @vary {
      %0 = irdl.base "!builtin.tensor"
      %1 = irdl.base "!builtin.tensor"
      irdl.operands(%0, %1)
      %2 = irdl.base "!builtin.tensor"
      irdl.results(%2)
    }
    irdl.operation @placed {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.string"
      irdl.attributes {"sharding" = %2}
    }
    irdl.operation @exchange {
      %0 = irdl.base "!builtin.tensor"
      irdl.operands(%0)
      %1 = irdl.base "!builtin.tensor"
      irdl.results(%1)
      %2 = irdl.base "#builtin.integer"
      %3 = irdl.base "#builtin.array"
      %4 = irdl.base "#builtin.array"
      %5 = irdl.base "#builtin.array"
      irdl.attributes {"number" = %2, "group" = %3, "sends" = %4, "receives" = %5}
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74}
      %75 = irdl.region
      irdl.regions(%75)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.any
      %76 = irdl.base "#builtin.string"
      %77 = irdl.base "#builtin.string"
      %78 = irdl.base "#builtin.integer"
      %79 = irdl.any
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74, "extent" = %75, "kind" = %76, "order" = %77, "reduction" = %78, "sub" = %79}
      %80 = irdl.region
      irdl.regions(%80)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.any
      %76 = irdl.base "#builtin.string"
      %77 = irdl.base "#builtin.string"
      %78 = irdl.base "#builtin.integer"
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74, "extent" = %75, "kind" = %76, "order" = %77, "reduction" = %78}
      %79 = irdl.region
      irdl.regions(%79)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.any
      %76 = irdl.base "#builtin.string"
      %77 = irdl.base "#builtin.string"
      %78 = irdl.base "#builtin.integer"
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74, "extent" = %75, "kind" = %76, "order" = %77, "reduction" = %78}
      %79 = irdl.region
      irdl.regions(%79)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.any
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74, "extent" = %75}
      %76 = irdl.region
      irdl.regions(%76)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.base "#builtin.integer"
      %73 = irdl.base "#builtin.integer"
      %74 = irdl.base "#builtin.array"
      %75 = irdl.base "#builtin.array"
      %76 = irdl.base "#builtin.array"
      irdl.attributes {"axes" = %72, "inputs" = %73, "access" = %74, "indices" = %75, "buffers" = %76}
      %77 = irdl.region
      irdl.regions(%77)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73)
      %74 = irdl.any
      %75 = irdl.any
      %76 = irdl.any
      %77 = irdl.any
      %78 = irdl.any
      %79 = irdl.any
      %80 = irdl.any
      %81 = irdl.any
      %82 = irdl.any
      %83 = irdl.any
      %84 = irdl.any
      %85 = irdl.any
      %86 = irdl.any
      %87 = irdl.any
      %88 = irdl.any
      %89 = irdl.any
      %90 = irdl.any
      %91 = irdl.any
      %92 = irdl.any
      %93 = irdl.any
      %94 = irdl.any
      %95 = irdl.any
      %96 = irdl.any
      %97 = irdl.any
      %98 = irdl.any
      %99 = irdl.any
      %100 = irdl.any
      %101 = irdl.any
      %102 = irdl.any
      %103 = irdl.any
      %104 = irdl.any
      %105 = irdl.any
      %106 = irdl.any
      %107 = irdl.any
      %108 = irdl.any
      %109 = irdl.any
      %110 = irdl.any
      %111 = irdl.any
      %112 = irdl.any
      %113 = irdl.any
      %114 = irdl.any
      %115 = irdl.any
      %116 = irdl.any
      %117 = irdl.any
      %118 = irdl.any
      %119 = irdl.any
      %120 = irdl.any
      %121 = irdl.any
      %122 = irdl.any
      %123 = irdl.any
      %124 = irdl.any
      %125 = irdl.any
      %126 = irdl.any
      %127 = irdl.any
      %128 = irdl.any
      %129 = irdl.any
      %130 = irdl.any
      %131 = irdl.any
      %132 = irdl.any
      %133 = irdl.any
      %134 = irdl.any
      %135 = irdl.any
      %136 = irdl.any
      %137 = irdl.any
      %138 = irdl.any
      %139 = irdl.any
      %140 = irdl.any
      %141 = irdl.any
      %142 = irdl.any
      %143 = irdl.any
      %144 = irdl.any
      %145 = irdl.any
      irdl.results(variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143, variadic %144, variadic %145)
      %146 = irdl.base "#builtin.integer"
      irdl.attributes {"step" = %146}
      %147 = irdl.region
      irdl.regions(%147)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.any
      irdl.results(%72)
      %73 = irdl.base "#builtin.integer"
      irdl.attributes {"function" = %73}
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.any
      irdl.results(%72)
      %73 = irdl.base "#builtin.array"
      %74 = irdl.base "#builtin.integer"
      irdl.attributes {"coefficients" = %73, "constant" = %74}
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73)
      %74 = irdl.any
      irdl.results(%74)
      %75 = irdl.base "#builtin.integer"
      %76 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %75, "column_stride" = %76}
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      %74 = irdl.any
      irdl.operands(%0, %1, %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73, variadic %74)
      %75 = irdl.any
      irdl.results(%75)
      %76 = irdl.base "#builtin.integer"
      %77 = irdl.base "#builtin.integer"
      %78 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %76, "column_stride" = %77, "stride" = %78}
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      irdl.operands(%0, %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73)
      %74 = irdl.any
      irdl.results(%74)
      %75 = irdl.base "#builtin.integer"
      %76 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %75, "column_stride" = %76}
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      %74 = irdl.any
      irdl.operands(%0, %1, %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73, variadic %74)
      %75 = irdl.base "#builtin.integer"
      %76 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %75, "column_stride" = %76}
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
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      %72 = irdl.any
      %73 = irdl.any
      %74 = irdl.any
      %75 = irdl.any
      irdl.operands(%0, %1, %2, %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71, variadic %72, variadic %73, variadic %74, variadic %75)
      %76 = irdl.base "#builtin.integer"
      %77 = irdl.base "#builtin.integer"
      %78 = irdl.base "#builtin.integer"
      irdl.attributes {"row_stride" = %76, "column_stride" = %77, "stride" = %78}
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.any
      irdl.results(%72)
      %73 = irdl.base "#builtin.string"
      %74 = irdl.base "#builtin.string"
      %75 = irdl.base "#builtin.integer"
      irdl.attributes {"kind" = %73, "order" = %74, "reduction" = %75}
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
      %48 = irdl.any
      %49 = irdl.any
      %50 = irdl.any
      %51 = irdl.any
      %52 = irdl.any
      %53 = irdl.any
      %54 = irdl.any
      %55 = irdl.any
      %56 = irdl.any
      %57 = irdl.any
      %58 = irdl.any
      %59 = irdl.any
      %60 = irdl.any
      %61 = irdl.any
      %62 = irdl.any
      %63 = irdl.any
      %64 = irdl.any
      %65 = irdl.any
      %66 = irdl.any
      %67 = irdl.any
      %68 = irdl.any
      %69 = irdl.any
      %70 = irdl.any
      %71 = irdl.any
      irdl.operands(variadic %0, variadic %1, variadic %2, variadic %3, variadic %4, variadic %5, variadic %6, variadic %7, variadic %8, variadic %9, variadic %10, variadic %11, variadic %12, variadic %13, variadic %14, variadic %15, variadic %16, variadic %17, variadic %18, variadic %19, variadic %20, variadic %21, variadic %22, variadic %23, variadic %24, variadic %25, variadic %26, variadic %27, variadic %28, variadic %29, variadic %30, variadic %31, variadic %32, variadic %33, variadic %34, variadic %35, variadic %36, variadic %37, variadic %38, variadic %39, variadic %40, variadic %41, variadic %42, variadic %43, variadic %44, variadic %45, variadic %46, variadic %47, variadic %48, variadic %49, variadic %50, variadic %51, variadic %52, variadic %53, variadic %54, variadic %55, variadic %56, variadic %57, variadic %58, variadic %59, variadic %60, variadic %61, variadic %62, variadic %63, variadic %64, variadic %65, variadic %66, variadic %67, variadic %68, variadic %69, variadic %70, variadic %71)
      %72 = irdl.any
      %73 = irdl.any
      %74 = irdl.any
      %75 = irdl.any
      %76 = irdl.any
      %77 = irdl.any
      %78 = irdl.any
      %79 = irdl.any
      %80 = irdl.any
      %81 = irdl.any
      %82 = irdl.any
      %83 = irdl.any
      %84 = irdl.any
      %85 = irdl.any
      %86 = irdl.any
      %87 = irdl.any
      %88 = irdl.any
      %89 = irdl.any
      %90 = irdl.any
      %91 = irdl.any
      %92 = irdl.any
      %93 = irdl.any
      %94 = irdl.any
      %95 = irdl.any
      %96 = irdl.any
      %97 = irdl.any
      %98 = irdl.any
      %99 = irdl.any
      %100 = irdl.any
      %101 = irdl.any
      %102 = irdl.any
      %103 = irdl.any
      %104 = irdl.any
      %105 = irdl.any
      %106 = irdl.any
      %107 = irdl.any
      %108 = irdl.any
      %109 = irdl.any
      %110 = irdl.any
      %111 = irdl.any
      %112 = irdl.any
      %113 = irdl.any
      %114 = irdl.any
      %115 = irdl.any
      %116 = irdl.any
      %117 = irdl.any
      %118 = irdl.any
      %119 = irdl.any
      %120 = irdl.any
      %121 = irdl.any
      %122 = irdl.any
      %123 = irdl.any
      %124 = irdl.any
      %125 = irdl.any
      %126 = irdl.any
      %127 = irdl.any
      %128 = irdl.any
      %129 = irdl.any
      %130 = irdl.any
      %131 = irdl.any
      %132 = irdl.any
      %133 = irdl.any
      %134 = irdl.any
      %135 = irdl.any
      %136 = irdl.any
      %137 = irdl.any
      %138 = irdl.any
      %139 = irdl.any
      %140 = irdl.any
      %141 = irdl.any
      %142 = irdl.any
      %143 = irdl.any
      irdl.results(variadic %72, variadic %73, variadic %74, variadic %75, variadic %76, variadic %77, variadic %78, variadic %79, variadic %80, variadic %81, variadic %82, variadic %83, variadic %84, variadic %85, variadic %86, variadic %87, variadic %88, variadic %89, variadic %90, variadic %91, variadic %92, variadic %93, variadic %94, variadic %95, variadic %96, variadic %97, variadic %98, variadic %99, variadic %100, variadic %101, variadic %102, variadic %103, variadic %104, variadic %105, variadic %106, variadic %107, variadic %108, variadic %109, variadic %110, variadic %111, variadic %112, variadic %113, variadic %114, variadic %115, variadic %116, variadic %117, variadic %118, variadic %119, variadic %120, variadic %121, variadic %122, variadic %123, variadic %124, variadic %125, variadic %126, variadic %127, variadic %128, variadic %129, variadic %130, variadic %131, variadic %132, variadic %133, variadic %134, variadic %135, variadic %136, variadic %137, variadic %138, variadic %139, variadic %140, variadic %141, variadic %142, variadic %143)
      %144 = irdl.base "#builtin.integer"
      irdl.attributes {"left" = %144}
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
