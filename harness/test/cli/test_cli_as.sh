# test_cli_as.sh - cases as files that need nothing of ours: the C and the Python of twenty kernels give the bits that the goldens hold, and
# show where a pack's do not.
source "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || { echo "skipped: no C compiler"; exit 77; }
python3 -c "import numpy" 2>/dev/null || { echo "skipped: no NumPy"; exit 77; }
export TSR_DB=$scratch/results.db

# taken LANGUAGE PACK: the pack's file is run in ./LANGUAGE; its exit code.
taken() {
    rm -rf "$1"
    exits 0 "$2 as $1" "$tsr" replay "$2" --as "$1" --out "$1"
    [ "$1" = python ] && (cd python && python3 ./*.py) || { [ "$1" = c ] && (cd c && cc -O2 -ffp-contract=off -std=c11 -Werror=vla ./*.c -lm -o run && ./run); }
}

# Something of each kind: products, functions, sums in all orders, moves, integers, narrow floats, randomness, tiles.
kernels="softmax_rows/ragged matmul_f32/prime matmul_i8/prime attention_causal/ragged rmsnorm_rows/prime conv2d_3x3/prime
    exponentials/special logarithms/special polar/special correct_softmax/spread cross_entropy_row/prime
    convert_f8/e4m3fn convert_f8/f64 convert_f8/i64 saturate_results/overflow whole_numbers/special natural_reductions/u64 division_by_numbers/i64 floor_division/rests
    sum_rows/lanes cumsum_weighted/prime arg_rows/special sort_columns/special dynamic_parts/prime pad_borders/f8e5m2
    scatter_gradients/prime exact_subnormal/prime softmax_gradients/prime tile_layernorm/edge dequantized_matmul/exact
    bits_and_back/special multiplied_exactly/special words_of_rows/minus_zeros"
[ -z "${TSR_SHORT:-}" ] || kernels=$(echo $kernels | tr ' ' '\n' | awk 'NR % 3 == 1')
"$tsr" bench --list --quick --backend interp "$root/corpus" >listed
for case in $kernels; do
    grep -q "^ *$case@" listed || { fail "$case is in the corpus"; continue; }
    exits 0 "a pack of $case" "$tsr" pack-repro "${case%/*}" --case "${case#*/}" --backend interp -o it.lz4 "$root/corpus"
    for language in c python; do
        code=0
        taken $language it.lz4 >said 2>err || code=$?
        [ $code -eq 0 ] && grep -q "as recorded$" said && ! grep -q "not as recorded" said && grep -q "equal to what was expected" said &&
            pass "$case as $language has the golden's bits" || { cp said out; fail "$case as $language has the golden's bits: exit $code"; }
    done
done

# A wrong result is shown: what was recorded is not what this computes, and not what was expected.
exits 0 "a wrong kernel" "$tsr" pack-repro softmax_rows --case ragged --backend cpu --inject flip-bit -o wrong.lz4 "$root/corpus/normalisation"
for language in c python; do
    code=0
    taken $language wrong.lz4 >said 2>err || code=$?
    [ $code -eq 1 ] && pass "the $language of it ends with 1" || { cp said out; fail "the $language of it ends with 1, not $code"; }
    cp said out
    has out "^out: equal to what was expected$" "its $language computes what was expected"
    has out "^out: 1 of 3000 elements are not what was recorded; the first is \[[0-9]+, [0-9]+\]: computed 0x[0-9a-f]{8} " \
        "and shows the first wrong element"
done
# A case that was made smaller is a module of Graph IR.
exits 0 "the wrong kernel, made smaller" "$tsr" replay wrong.lz4 --minimize -o smaller.lz4
code=0
taken c smaller.lz4 >said 2>err || code=$?
cp said out
[ $code -eq 1 ] && pass "is wrong in C, too" || fail "is wrong in C, too: exit $code"
has out "elements? are not what was recorded|not as recorded" "and shows it"
# So is the case of a compiler that died, which recorded nothing.
exits 0 "a dead compiler" "$tsr" pack-repro softmax_rows --case ragged --backend cpu --inject compiler-crash -o dead.lz4 "$root/corpus/normalisation"
taken c dead.lz4 >said && pass "its case is computed" || fail "its case is computed"
exits 0 "its file" cat said
has out "^out: sha256 [0-9a-f]{64}$" "nothing was recorded to compare with"

# For XLA: the program as it is, and by JAX where that is.
exits 0 "as StableHLO" "$tsr" replay wrong.lz4 --as stablehlo --out hlo
exits 0 "its file" cat hlo/softmax_rows.mlir
has out "stablehlo\." "is StableHLO"
[ -f hlo/inputs/x.npy ] && pass "with its input" || fail "with its input"
exits 0 "as JAX" "$tsr" replay wrong.lz4 --as jax
[ -f softmax_rows-ragged/softmax_rows.py ] && pass "goes to KERNEL-CASE" || fail "goes to KERNEL-CASE"
jax=${TSR_JAX_PYTHON:-}
for one in "$jax" /usr/bin/python3 "$root/build/peers-python/bin/python3"; do
    [ -x "$one" ] && "$one" -c "import jax" 2>/dev/null && jax=$one && break
    jax=
done
if [ -n "$jax" ]; then
    exits 1 "JAX runs it" sh -c "cd softmax_rows-ragged && '$jax' softmax_rows.py"
    has out "^out: they are at most [0-9.e-]+ apart$" "and shows how far it is"
else
    echo "skipped: no JAX (TSR_JAX_PYTHON names a Python that has it)"
fi

# A case that has no form says so; nothing is written then.
exits 0 "a program" "$tsr" pack-repro greatest --case small --backend interp -o program.lz4 "$root/corpus/programs"
exits 4 "as C" "$tsr" replay program.lz4 --as c --out never
has err "a program with branches or loops has no form in c" "is refused by name"
[ ! -e never ] && pass "and leaves nothing" || fail "and leaves nothing"
exits 0 "an order of a matrix unit" "$tsr" pack-repro matmul_sm90_bf16 --case exact --backend interp -o unit.lz4 "$root/corpus/matmul"
exits 4 "as Python" "$tsr" replay unit.lz4 --as python --out never
has err "mma.sm90.bf16" "is refused by name"
exits 2 "a language that there is not" "$tsr" replay wrong.lz4 --as fortran
has err "c, python, stablehlo or jax" "is told what there is"
exits 2 "a folder without a language" "$tsr" replay wrong.lz4 --out never
exits 2 "what is only shown" "$tsr" replay wrong.lz4 --show --as c
for option in --trust "--expect fixed" --json "--isa native" --sentinels "--threads 1" "--from tile" --bisect --minimize "-o it.lz4" "--failures here"; do
    exits 2 "--as with $option" "$tsr" replay wrong.lz4 --as c --out never $option
done
exits 3 "a folder that is full" "$tsr" replay wrong.lz4 --as c --out hlo
exits 4 "a file in its place" "$tsr" replay wrong.lz4 --as c --out wrong.lz4
python3 - <<'END'
data = bytearray(open("wrong.lz4", "rb").read())
data[len(data) // 2] ^= 1
open("damaged.lz4", "wb").write(data)
END
exits 3 "a damaged pack" "$tsr" replay damaged.lz4 --as c --out never
has out "^INVALID_PACK" "is invalid"
exits 1 "nothing is there" test -e never
finish
