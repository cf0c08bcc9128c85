# test_cli_stablehlo_devices.sh - a program of four devices, as JAX writes it, is one kernel: its bits are the golden's on 1, 2 and 4 ranks, in threads and
# in processes; and groups, meshes and shardings that do not fit the devices are errors with their place.
source "$(dirname "$0")/lib.sh"
program=$root/corpus/stablehlo/devices.mlir

exits 0 "on ranks" "$tsr" bench "$program" --profile strict --threads 1 --ranks 1,2,4 --transport threads,shm --quick --db db
has out "10 results: 10 ok" "all have one set of bits"
exits 0 "its graph" "$tsr" compile "$program" --kernel shards_of_a_mesh --emit graph
has out 'shardings = \["x=2,y=2", "y=2,", "x=2,", ",y=2", "y=2,", ""\]' "arguments and results lie on the mesh, and a number is whole"
has out 'axis = "y", count = 2 : i64' "its axes are shards"
exits 0 "bytecode" "$tsr" compile "$root/harness/test/pjrt/sharded.mlirbc" --emit graph
has out '"tessera.shard"' "Shardy's operations are read of it, too"

# refused WHAT SCRIPT WORDS: a change of the program that makes it wrong, and what is said of it.
refused() {
    sed "$2" "$program" >wrong.mlir
    exits 3 "$1" "$tsr" compile wrong.mlir --kernel shards_of_a_mesh --emit graph
    has err "wrong.mlir:[0-9]*:[0-9]*: error\[E120[12]\]: .*$3" "it is said at its place"
}

refused "a device that there is not" 's/\[\[0, 3\], \[2, 1\]\]/[[0, 3], [2, 4]]/' "names device 4 among several devices, and the program has 4"
refused "a device in two groups" 's/\[\[0, 3\], \[2, 1\]\]/[[0, 3], [2, 3]]/' "a device is in two groups"
refused "a device that two send to" 's/\[\[0, 2\], \[2, 3\], \[3, 1\]\]/[[0, 2], [1, 2], [3, 1]]/' "two devices send to device 2"
refused "parts that do not divide" 's/concat_dimension = 0 : i64, replica_groups = dense<\[\[0, 3\], \[1, 2\]\]> : tensor<2x2xi64>/concat_dimension = 0 : i64, replica_groups = dense<[[0, 3, 1, 2]]> : tensor<1x4xi64>/' \
    "split_count"
refused "a mesh of other devices" 's/\["x"=2, "y"=2\]/["x"=2, "y"=4]/' "8 devices, and the program is for 4"
refused "an axis that the mesh has not" 's/manual_axes={"x", "y"}/manual_axes={"x", "z"}/' "names an axis that its mesh has not"
refused "a region of other parts" 's/manual_axes={"x", "y"}/manual_axes={"x"}/' "is not its part of the one outside"
refused "an argument that does not divide" 's/num_partitions = 4/num_partitions = 3/' "the program is for 3"
refused "sums that are not finished" 's/%arg1: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, \[{"y"}, {}\]>}/%arg1: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}/' \
    "argument 1: sums that are not finished"
refused "no devices" 's/num_partitions = 4/num_partitions = 0/' "1 to 4,096 devices"
cat >uneven.mlir <<'END'
module @uneven attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%a: tensor<5xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<5xf32> {
  return %a : tensor<5xf32> } }
END
exits 3 "a dimension that does not divide" "$tsr" compile uneven.mlir
has err "uneven.mlir:2:.*error\[E1202\]: .*argument 0: axis 0, of 5, does not divide over 2 devices" "it is named"
finish
