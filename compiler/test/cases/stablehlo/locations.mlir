module @locations {
  func.func public @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.abs %a : tensor<f32> loc("model.py":12:4)
    %1 = stablehlo.negate %0 : tensor<f32> loc("model.py":13:8 to :20)
    %2 = stablehlo.sine %1 : tensor<f32> loc("jit(f)/sin"(callsite("f"("layer.py":7:2 to 8:3) at "main"("model.py":14:1))))
    %3 = stablehlo.cosine %2 : tensor<f32> loc(fused["first", "second"("other.py":3:1), "third.py":4:1])
    %4 = stablehlo.floor %3 : tensor<f32> loc(fused<"kept">["cos.py":5:6])
    %5 = stablehlo.ceil %4 : tensor<f32> loc(unknown)
    %6 = stablehlo.sqrt %5 : tensor<f32> loc("alone")
    return %6 : tensor<f32> loc(callsite(unknown at "caller.py":9:9))
  } loc("def.py":1:1)
}
