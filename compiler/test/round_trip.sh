#!/usr/bin/env bash
# round_trip.sh - TSR_OPT ROOT: every case of the corpus, at every level: its text reads back byte for byte, by our own
# parser and by a stock mlir-opt, and mlir-opt verifies the checkable spelling against docs/tessera.irdl.mlir.
# Exit 77 where mlir-opt 19 is missing, after the checks that do not need it.
set -u
export LC_ALL=C
tsr_opt=$(realpath "$1")
cd "$2" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$scratch/err" 2>&1; then
        echo "ok - $what"
    else
        failures=$((failures + 1))
        echo "NOT OK - $what"
        head -n 20 "$scratch/err"
    fi
}

# Kernels in orders that only the interpreter computes have no schedule.
interpreted=corpus/matmul/matrix_units.tsr
check "$interpreted has no schedule" eval '"$tsr_opt" --pass schedule "$interpreted" 2>&1 >/dev/null | grep E0622'

# All kernels, or in the short form every eighth file.
files=(corpus/*/*.tsr)
if [ -n "${TSR_SHORT:-}" ]; then
    for number in "${!files[@]}"; do
        [ $((number % 8)) -eq 0 ] || [ "${files[number]}" = "$interpreted" ] || unset "files[number]"
    done
fi

# Modules of all cases, with mlir-opt's separator between them. Large cases differ in their numbers alone. Programs, of which models, the
# library and derivatives have some, are several kernels, each with a schedule: behind outline each of them is a module.
emit() { # OUT TSR_OPT_ARGUMENTS...
    local out=$1 file kernels=() programs=()
    shift
    for file in "${files[@]}"; do
        case $file-$* in
        "$interpreted"*schedule*) ;;
        corpus/programs/*schedule* | corpus/models/*schedule* | corpus/stdlib/*schedule* | corpus/transforms/*schedule*) programs+=("$file") ;;
        *) kernels+=("$file") ;;
        esac
    done
    "$tsr_opt" --case all "$@" "${kernels[@]}" >"$out" || return
    if [ ${#programs[@]} -gt 0 ]; then
        echo "// -----" >>"$out"
        # shellcheck disable=SC2086 # several words
        set -- $cut "${@:$(($(wc -w <<<"$graph") + 1))}"
        "$tsr_opt" --case all "$@" "${programs[@]}" >>"$out"
    fi
}

graph="--pass inline --pass specialize --pass called-tiles --pass vmap --pass jvp --pass vjp --pass checkpoint --pass join-tiles --pass expand-tiles --pass decompose --pass widen --pass normalize --pass fold-constants --pass share-factors --pass simplify"
cut="${graph/--pass widen/--pass expand-combiners --pass widen} --pass outline"
declare -A passes=(
    [source]=""
    [graph]=$graph
    [schedule]="$graph --pass schedule"
    [schedule_avx2]="$graph --pass schedule=lanes=8,registers=16,threads=3"
    [tile]="$graph --pass schedule --pass tile --pass expand-math --pass assign-layout"
    [tile_avx2]="$graph --pass schedule=lanes=8,registers=16,threads=3 --pass tile --pass expand-math
        --pass assign-layout=8"
)
levels=(source graph schedule schedule_avx2 tile tile_avx2)

for level in "${levels[@]}"; do
    text=$scratch/$level.mlir
    # shellcheck disable=SC2086 # several words
    check "$level: text" emit "$text" ${passes[$level]}
    "$tsr_opt" --split-input-file "$text" >"$scratch/again" 2>"$scratch/message" || cat "$scratch/message"
    check "$level: our parser reads it back, $(grep -c '^"builtin.module"' "$text") modules" cmp "$text" "$scratch/again"
done

mlir_opt=$(command -v mlir-opt-19)
if [ -z "$mlir_opt" ]; then
    [ "$failures" -eq 0 ] || exit 1
    echo "skipped: mlir-opt-19 is not installed (package mlir-19-tools), so only our own parser was asked"
    exit 77
fi
for level in "${levels[@]}"; do
    text=$scratch/$level.mlir
    "$mlir_opt" --allow-unregistered-dialect --mlir-print-op-generic --split-input-file "$text" \
        >"$scratch/again" 2>"$scratch/message" || head -n 5 "$scratch/message"
    check "$level: mlir-opt prints the same bytes" cmp "$text" "$scratch/again"
    # All modules as one: split, each would load the IRDL file anew, which takes most of the time.
    "$tsr_opt" --split-input-file --checkable "$text" | sed '/^\/\/ -----$/d' >"$scratch/checkable"
    check "$level: mlir-opt verifies it by our IRDL file" "$mlir_opt" --allow-unregistered-dialect \
        --irdl-file=docs/tessera.irdl.mlir "$scratch/checkable" -o /dev/null
done

# That the IRDL file can refuse: an operation without an operand, without an attribute, with a wrong kind of one.
refused() { # SED_EXPRESSION
    sed "$1" "$scratch/checkable" >"$scratch/broken"
    if cmp -s "$scratch/checkable" "$scratch/broken"; then
        false
    else
        ! "$mlir_opt" --allow-unregistered-dialect --irdl-file=docs/tessera.irdl.mlir --split-input-file \
            "$scratch/broken" -o /dev/null
    fi
}
"$tsr_opt" --checkable --kernel softmax_rows compiler/test/cases/graph/decompose_softmax.tsr >"$scratch/checkable"
check "mlir-opt refuses a missing attribute" refused 's/axis = 1 : i64//'
check "mlir-opt refuses a wrong kind of attribute" refused 's/axis = 1 : i64/axis = "1"/'
check "mlir-opt refuses a missing operand" refused 's/softmax"(%arg0) \(.*\) : (tensor<4x8xf32>)/softmax"() \1 : ()/'
check "mlir-opt refuses what is not a tensor" refused 's/tensor<4x8xf32>/f32/g'

echo "$failures failures"
[ "$failures" -eq 0 ]
