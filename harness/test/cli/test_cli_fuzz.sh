# test_cli_fuzz.sh - random kernels: none differs, counts add up over runs, and one that fails is shrunk, packed and replayed.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
kernels=${TSR_SHORT:+20}
kernels=${kernels:-60}

exits 0 "random kernels" "$tsr" fuzz --seed 1 --kernels "$kernels"
has out "^seed 1, strict: kernels 0 to $kernels: 0 failed$" "have the bits of the interpreter on every way down"
exits 0 "a second run" "$tsr" fuzz --seed 1 --kernels 5 --minutes 0.9
has out "^seed 1, strict: kernels $kernels to $((kernels + 5)): 0 failed$" "goes on where the first one ended"
exits 0 "another seed" "$tsr" fuzz --seed 2 --kernels 5 --json
cp out report.json
exits 0 "the counts of seeds add up" $python -c "
import json
d = json.load(open('report.json'))
assert d['schema'] == 'tsr.fuzz-report/1' and d['kernels'] == 5 and d['seed_kernels'] == 5, d
assert d['total_kernels'] == $kernels + 10 and d['total_failures'] == 0, d
"

others=$((kernels / 2))
exits 0 "the other profiles" "$tsr" fuzz --seed 5 --kernels $others --profile deterministic,fast
has out "^seed 5, deterministic,fast: kernels 0 to $others: 0 failed$" "keep to the derived bounds"
has out "^all such runs of this build: $others kernels" "and are counted apart"

# Kernels that nothing could run are no success.
mkdir without && cp "$tsr" without/tsr && echo >without/libtessera-llvm.so
exits 5 "no code generator" ./without/tsr fuzz --derivatives --seed 1 --kernels 2 --backend cpu
has out "^2 of 2 kernels were not compared" "is told"

# Kernel N of a seed is always the same, and an ordinary source.
exits 0 "one kernel" "$tsr" fuzz --seed 3 --show 17
cp out first.tsr
exits 0 "again" "$tsr" fuzz --seed 3 --show 17
same first.tsr out "is the same"
exits 0 "which is Python" $python -c 'import ast; ast.parse(open("first.tsr").read())'
exits 0 "and runs like any other" "$tsr" bench first.tsr --quick --profile strict

# Kernels of tiles, each beside what it means on tensors.
exits 0 "random kernels of tiles" "$tsr" fuzz --tiles --seed 1 --kernels $((kernels / 2))
has out "^seed 1, tiles,strict: kernels 0 to $((kernels / 2)): 0 failed$" "have the bits of the same computation on tensors"
exits 0 "one of them" "$tsr" fuzz --tiles --seed 1 --show 7
cp out first.tsr
exits 0 "is Python" $python -c 'import ast; d = ast.parse(open("first.tsr").read()); assert [f.name for f in d.body[1:]] == ["fuzzed", "meaning"]'
exits 0 "and runs like any other" "$tsr" bench first.tsr --quick --profile strict
export TSR_INJECT=flip-bit
exits 1 "a bug in tiles" "$tsr" fuzz --tiles --seed 4 --kernels 1
unset TSR_INJECT
has out "^kernel 0 of seed 4, cpu.*: mismatch: " "is found"
shrunk=$(sed -n 's/^shrunk in [0-9]* runs to \(.*\):$/\1/p' out)
has "$shrunk" "^def fuzzed.p0: KTile" "and shrunk to one input"
exits 0 "without the bug" "$tsr" bench "$shrunk" --quick --profile strict
exits 2 "tiles, or schedules" "$tsr" fuzz --tiles --schedules 2

# Programs: branches, loops, calls, sorts.
programs=${TSR_SHORT:+8}
programs=${programs:-60}
exits 0 "random programs" "$tsr" fuzz --programs --seed 1 --kernels "$programs"
has out "^seed 1, programs,strict: kernels 0 to $programs: 0 failed$" "have the bits of the interpreter"
export TSR_INJECT=flip-bit
exits 1 "a bug in a program" "$tsr" fuzz --programs --seed 4 --kernels 1
unset TSR_INJECT
shrunk=$(sed -n 's/^shrunk in [0-9]* runs to \(.*\):$/\1/p' out)
exits 0 "is shrunk to a kernel that runs without it" "$tsr" bench "$shrunk" --quick --profile strict
exits 2 "programs, or tiles" "$tsr" fuzz --programs --tiles

# Batches: vmap of a function, and a loop of it.
exits 0 "random batches" "$tsr" fuzz --batches --seed 1 --kernels "$programs"
has out "^seed 1, batches,strict: kernels 0 to $programs: 0 failed$" "have the bits of the loop"
exits 2 "batches, or programs" "$tsr" fuzz --batches --programs

# Derivatives, which check themselves.
exits 0 "random derivatives" "$tsr" fuzz --derivatives --seed 11 --kernels 6
has out "^seed 11, derivatives,strict: kernels 0 to 6: 0 failed$" "agree forward and in reverse, with a checkpoint and without"
exits 2 "derivatives, or programs" "$tsr" fuzz --programs --derivatives
exits 2 "derivatives, or schedules" "$tsr" fuzz --schedules 2 --derivatives

# Random schedules: the goldens hold under each.
# A source of each kind, for which other schedules mean other code.
sources=("${most_of_corpus[@]}")
[ -z "${TSR_SHORT:-}" ] || sources=("$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/attention/handed_on.tsr" "$root/corpus/normalisation/softmax.tsr"
    "$root/corpus/movement/transpose.tsr" "$root/corpus/reduction/sum.tsr")
exits 0 "random schedules" "$tsr" fuzz --schedules 1 "${sources[@]}"
has out "^seed 1: [1-9][0-9]* kernels, [1-9][0-9]* schedules \([1-9][0-9]* other than the default\): 0 failed$" "change no bit"
more=${TSR_SHORT:+2}
more=${more:-5}
exits 0 "more for some" "$tsr" fuzz --schedules="$more" --filter 'softmax_rows,transpose*,matmul_scheduled' --threads 3 --seed 2 "${sources[@]}"
exits 2 "no schedules of random kernels" "$tsr" fuzz --schedules 2 --kernels 5
exits 2 "no filter of random kernels" "$tsr" fuzz --filter 'x*'
export TSR_INJECT=flip-bit
exits 1 "a bug that a schedule shows" "$tsr" fuzz --schedules 1 --filter matmul_f32/prime --threads 1 --json "$root/corpus/matmul"
cp out report.json
has err "^tsr golden verify .*--filter matmul_f32/prime.*--threads 1$" "the command that runs it"
exits 0 "and the whole in JSON" $python -c "
import json
d = json.load(open('report.json'))
assert d['schema'] == 'tsr.fuzz-schedules/1' and len(d['failed']) == d['schedules'] > 0, d
assert all(f['status'] == 'mismatch' and f['schedule'] == '' and f['pack'] for f in d['failed']), d
"
unset TSR_INJECT

# A bug on purpose: whatever fails first shrinks to a kernel that has little left to take away.
export TSR_INJECT=flip-bit
exits 1 "a bug" "$tsr" fuzz --seed 4 --kernels 1
unset TSR_INJECT
has out "^kernel 0 of seed 4, cpu.*: mismatch: output " "is found"
shrunk=$(sed -n 's/^shrunk in [0-9]* runs to \(.*\):$/\1/p' out)
pack=$(sed -n 's/^tsr replay //p' out)
[ "$(grep -c '^    t' "$shrunk")" -eq 1 ] && pass "and shrunk to one statement" || fail "and shrunk to one statement"
has "$shrunk" "Tensor\[1, f32\]" "on one element"
exits 0 "its replay" "$tsr" replay "$pack"
has out "^REPRODUCED_EXACT" "gives the same bits"
exits 0 "without the bug" "$tsr" bench "$shrunk" --quick --profile strict

# Unoptimised code has a phase for each value, as far as there is room for phases.
{
    printf 'from tessera import *\n\n\n@cases(case("only", N=5))\n@kernel\ndef many(x: Tensor["N", f32]) -> tuple['
    printf 'Tensor["N", f32], %.0s' 1 2 3
    printf 'Tensor["N", f32]]:\n    y0 = x\n'
    for i in $(seq 80); do
        echo "    y$i = y$((i - 1)) * 1.5 + 1"
    done
    echo "    return y77, y78, y79, y80"
} >many.tsr
exits 0 "many values, unoptimised" "$tsr" bench many.tsr --unoptimised --backend cpu --profile strict

# Arguments and files that are refused.
exits 2 "nothing to compare" "$tsr" fuzz --backend interp
exits 2 "two thread counts" "$tsr" fuzz --threads 1,2
exits 2 "no minutes" "$tsr" fuzz --minutes 0
exits 2 "kernels of one's own" "$tsr" fuzz corpus
echo '{"schema": "something"}' >other.json
exits 3 "a file of another kind" "$tsr" fuzz --tally other.json
has err "other.json is no count of tsr fuzz" "is left alone"
finish
