# test_cli_stablehlo.sh - a program that JAX wrote, as text and as bytecode, goes through the commands like a file of kernels: benched against the
# interpreter and its golden, checked, packed and replayed; and what cannot be read or has no meaning here is an error with its place.
source "$(dirname "$0")/lib.sh"
programs=$root/corpus/stablehlo
cases=$root/compiler/test/cases/stablehlo

exits 0 "a program of JAX" "$tsr" bench "$programs/mlp_step.mlir" --profile strict --threads 1,2 --db db
has out "2 results: 2 ok" "both thread counts have the golden's bits"
mkdir folder
cp "$programs/loops.mlir" folder
exits 0 "a folder of programs" "$tsr" bench folder --profile strict --db db
has out "1 results*: 1 ok" "it holds one"
exits 0 "relations" "$tsr" check "$programs/mlp_step.mlir" --relation threads
has out "threads  *holds" "no bit depends on threads"
exits 0 "a pack" "$tsr" pack-repro jax_loops --case fixed "$programs/loops.mlir"
pack=$(tail -n 1 out)
exits 0 "the pack replays" "$tsr" replay "$pack"

exits 0 "bytecode" "$tsr" compile "$cases/control.mlirbc" --emit graph
cp out bytecode
exits 0 "the text that it was made of" "$tsr" compile "$cases/control.mlir" --emit graph
has out '"tessera.while"' "a loop is a loop"
cp out text
exits 0 "the same graph" cmp text bytecode
exits 3 "what bytecode has, and is not supported" "$tsr" compile "$cases/attributes.mlirbc"
has err "attributes.mlirbc:20:10: error\[E1202\]" "its place is that in its text"
has err "^ *20 \\|  *%5 = \"stablehlo.custom_call\"" "the text is shown there"
exits 0 "a pack of bytecode" "$tsr" pack-repro control --case fixed "$cases/control.mlirbc"
pack=$(tail -n 1 out)
exits 0 "it replays from its text" "$tsr" replay "$pack"

sed 's/stablehlo.tanh %/stablehlo.tanh %no/' "$programs/mlp_step.mlir" >undefined.mlir
exits 3 "a value that is not defined" "$tsr" compile undefined.mlir
has err "undefined.mlir:[0-9]*:[0-9]*: error\[E1201\]" "it is shown at its place"
sed 's/stablehlo.tanh %/stablehlo.cholesky %/' "$programs/mlp_step.mlir" >unsupported.mlir
exits 3 "an operation without a meaning here" "$tsr" bench unsupported.mlir --db db
has err "unsupported.mlir:[0-9]*:[0-9]*: error\[E1202\]: stablehlo.cholesky" "it is named"
cat >complex.mlir <<'END'
module { func.func public @main(%a: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.floor %a : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>> } }
END
exits 3 "a function that is not for complex numbers" "$tsr" compile complex.mlir
has err "complex.mlir:2:.*error\[E1202\]: stablehlo.floor: of complex" "it is not run by parts"
cat >starts.mlir <<'END'
module { func.func public @main(%a: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32> } }
END
exits 3 "a start with an axis" "$tsr" compile starts.mlir
has err "starts.mlir:2:.*error\[E1202\]: stablehlo.dynamic_slice: operand 1 is no integer" "it is none"
cat >begins.mlir <<'END'
module { func.func public @main(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.pad"(%a, %b) {edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -1>, interior_padding = array<i64: 0>}
    : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32> } }
END
exits 3 "padding by three numbers" "$tsr" compile begins.mlir
has err "begins.mlir:2:.*error\[E1202\]: stablehlo.pad: .*without axes" "it is by one"
cat >small.mlir <<'END'
module { func.func public @main(%a: tensor<4xui4>) -> tensor<4xui4> {
  %0 = stablehlo.count_leading_zeros %a : tensor<4xui4>
  return %0 : tensor<4xui4> } }
END
exits 3 "the bits above four" "$tsr" compile small.mlir
has err "small.mlir:[0-9]*:.*error\[E1202\]: .*count_leading_zeros: of ui4" "they are not a byte's"
sed 's/count_leading_zeros/add %a,/' small.mlir >sum.mlir
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n\x0f\xff\x01\x00' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }" >a.npy
exits 0 "sums of ui4" "$tsr" run sum.mlir --in a0=a.npy --out sums
exits 0 "the low bits of a sum, and of a byte that has more" cmp <(tail -c 4 sums/r0.npy) <(printf '\x0e\x0e\x02\x00')
cat >sizes.mlir <<'END'
module { func.func public @main(%a: tensor<4xf32>, %low: tensor<1xi64>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %a, %zero, %low, %low, %none : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>
  return %0 : tensor<6xf32> } }
END
exits 3 "sizes that are no constants" "$tsr" compile sizes.mlir
has err "sizes.mlir:[0-9]*:.*error\[E1202\]: .*operand 2 .edge_padding_low." "the operand is named"
cat >while.mlir <<'END'
module { func.func public @while(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32> }
func.func public @other(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32> } }
END
exits 0 "a function with a name that is a word of the language" "$tsr" compile while.mlir --kernel while_ --emit graph
has out "while_" "it has an underscore behind it"
cat >outer.mlir <<'END'
module { func.func public @outer(%a: tensor<3xf32>, %b: tensor<2xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<>} : (tensor<3xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32> } }
END
exits 0 "a product that sums over nothing" "$tsr" bench outer.mlir --profile strict --quick --db db
has out "1 results*: 1 ok" "it is an outer one"
head -c 300 "$cases/control.mlirbc" >cut.mlirbc
exits 3 "bytecode that is cut" "$tsr" compile cut.mlirbc
has err "error\[E1201\]" "it cannot be read"
finish
