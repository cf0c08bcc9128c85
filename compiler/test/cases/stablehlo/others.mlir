module @others {
  sdy.mesh @mesh = <["x"=1]>
  func.func public @main(%a: tensor<8xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default"}, %b: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
    %1 = stablehlo.add %0, %b {mhlo.frontend_attributes = {note = "kept"}} : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
