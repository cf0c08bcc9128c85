module @mesh attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @devices = <["x"=2, "y"=4]>
  sdy.mesh @turned = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}, {"y":(1)2, ?}], replicated={"y":(2)2}>}, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=8]>, [{?}p1]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@turned, [{"y", "x"}, {}]>}, tensor<4xf32>) {
    %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@devices, [{"x"}, {}]>, <@devices, [{}]>] out_shardings=[<@devices, [{"x"}, {}]>, <@devices, [{}]>] manual_axes={"x"} (%c: tensor<4x8xf32>, %d: tensor<4xf32>) {
      %1 = stablehlo.negate %c : tensor<4x8xf32>
      sdy.return %1, %d : tensor<4x8xf32>, tensor<4xf32>
    } : (tensor<8x8xf32>, tensor<4xf32>) -> (tensor<8x8xf32>, tensor<4xf32>)
    %2 = sdy.reshard %0#0 <@turned, [{"y"}, {}]> : tensor<8x8xf32>
    return %2, %0#1 : tensor<8x8xf32>, tensor<4xf32>
  }
}
