// Programs of four devices: shards of a mesh, as jax.shard_map makes them (the first one, JAX 0.10.2, ci/stablehlo.d/programs.py has its like), and
// what one device does, with groups that are no axis of a mesh.
module @devices attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @shards_of_a_mesh(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<f32>) {
    %0:4 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"y"}]>, <@mesh, [{"y"}, {}]>, <@mesh, []>] manual_axes={"x", "y"} (%arg2: tensor<2x4xf32>, %arg3: tensor<4x6xf32>) {
      %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %12 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %12 : tensor<f32>
      }) : (tensor<2x6xf32>) -> tensor<2x6xf32>
      %3 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
      %4 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %5 = stablehlo.partition_id : tensor<ui32>
      %9 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<f32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
      %11 = stablehlo.add %4, %10 : tensor<4x6xf32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %sum = stablehlo.reduce(%arg2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
      %all = "stablehlo.all_reduce"(%sum) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %12 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %12 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %2, %3, %11, %all : tensor<2x6xf32>, tensor<4x4xf32>, tensor<4x6xf32>, tensor<f32>
    } : (tensor<4x8xf32>, tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<4x8xf32>, tensor<8x6xf32>, tensor<f32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<4x6xf32>, tensor<4x8xf32>, tensor<8x6xf32>, tensor<f32>
  }
  func.func private @crossed(%arg0: tensor<6xbf16>) -> tensor<6xbf16> {
    %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<bf16>
      stablehlo.return %1 : tensor<bf16>
    }) : (tensor<6xbf16>) -> tensor<6xbf16>
    return %0 : tensor<6xbf16>
  }
  func.func public @groups_of_devices(%arg0: tensor<6xbf16>, %arg1: tensor<3x4xf32>, %arg2: tensor<2xcomplex<f32>>) -> (tensor<6xbf16>, tensor<3x4xf32>, tensor<6x2xf32>, tensor<2xcomplex<f32>>, tensor<3x4xf32>, tensor<3xi1>) {
    %0 = func.call @crossed(%arg0) : (tensor<6xbf16>) -> tensor<6xbf16>
    %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 0, 2], [1, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %6 = stablehlo.add %arg3, %arg4 : tensor<f32>
      %7 = stablehlo.multiply %6, %half : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %2 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<3x4xf32>) -> tensor<6x2xf32>
    %3 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 3], [3, 1]]> : tensor<3x2xi64>}> : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %4 = "stablehlo.collective_broadcast"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
    %row = stablehlo.slice %arg1 [0:3, 0:1] : (tensor<3x4xf32>) -> tensor<3x1xf32>
    %column = stablehlo.reshape %row : (tensor<3x1xf32>) -> tensor<3xf32>
    %positive = stablehlo.compare GT, %column, %zeros : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %5 = "stablehlo.all_reduce"(%positive) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg3: tensor<i1>, %arg4: tensor<i1>):
      %6 = stablehlo.and %arg3, %arg4 : tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }) : (tensor<3xi1>) -> tensor<3xi1>
    return %0, %1, %2, %3, %4, %5 : tensor<6xbf16>, tensor<3x4xf32>, tensor<6x2xf32>, tensor<2xcomplex<f32>>, tensor<3x4xf32>, tensor<3xi1>
  }
}
