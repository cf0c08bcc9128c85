# test_cli_schedule.sh - schedules of a source and of the command line: other code, the same meaning.
source "$(dirname "$0")/lib.sh"

small_corpus
exits 0 "goldens of kernels without a schedule" "$tsr" golden record
/usr/bin/python3 - <<'END_PYTHON'
text = open("corpus/small/small.tsr").read().split("@cases(")
text[1] = "@schedule(vector=8, columns=32, rows=2)\n@cases(" + text[1]
text[2] = "@schedule(tile=(3, 1), block=(6, 64))\n@cases(" + text[2]
open("with.tsr", "w").write("".join(text))
END_PYTHON
bench() { "$tsr" bench corpus --backend cpu --profile strict --threads 1 --quick --json "$@"; }
field() { /usr/bin/python3 -c "
import json, sys
for r in json.load(open(sys.argv[1]))['results']:
    print(r['kernel'], r['case'], *[r[name] for name in sys.argv[2:]])" "$@"; }

exits 0 "bench without schedules" bench
field out case_key >keys.without
field out schedule_hash >hashes.without
field out module_hash >modules.without
field out schedule >whose
has whose "^addition tiny default$" "the scheduler's own choice is called default"
cp with.tsr corpus/small/small.tsr
exits 0 "the same goldens hold with schedules in the source" bench
field out case_key >keys.with
field out schedule_hash >hashes.with
field out module_hash >modules.with
field out schedule >whose
has whose "^product tiny source$" "a written schedule is told from the default"
same keys.without keys.with "a schedule is no part of what a kernel means"
[ "$(comm -12 <(sort hashes.without) <(sort hashes.with) | wc -l)" = 0 ] && pass "each schedule hash differs" || fail "each schedule hash differs"
[ "$(comm -12 <(sort modules.without) <(sort modules.with) | wc -l)" = 0 ] && pass "each module hash differs" || fail "each module hash differs"

exits 0 "the parameters of a schedule" "$tsr" compile corpus/small/small.tsr --kernel product --emit space
has out "^P[0-9]\.MR = 3 rows \(default [0-9]+; 1 to 256\)" "a written value beside its default"
exits 0 "a value from outside wins" "$tsr" compile corpus/small/small.tsr --kernel product --emit space --schedule MR=2
has out "^P[0-9]\.MR = 2 rows" "it is the value"
cat >chained.tsr <<'END'
@schedule(chain=0)
@cases(case("a", B=2, S=70, D=64))
@kernel
def chained(x: Tensor["B", "S", "D", f32]) -> Tensor["B", "S", "D", f32]:
    return attention(x, x, x)
END
exits 0 "a number of the whole kernel" "$tsr" compile chained.tsr --isa x86-64-v3 --emit space
has out "^CHAIN = 0 " "has no phase before it"
exits 3 "a value that the vector does not divide" "$tsr" compile corpus/small/small.tsr --kernel addition --emit space --schedule VECTOR=12
has err "small.tsr:5:29: error\[E0809\]: .*BLOCK.* 24 or 36" "the limit and the place"
has err "^ +\| +\^~$" "with a caret"
exits 3 "more registers than there are" "$tsr" compile corpus/small/small.tsr --kernel product --emit space --schedule BM=30,MR=30,NR=4v
has err "need [0-9]+ vector registers, and the limit is [0-9]+" "the limit is named"
exits 3 "no such parameter" "$tsr" compile corpus/small/small.tsr --kernel product --schedule TILE=3 --emit asm
has err "no schedule parameter 'TILE' here; there are: .*P0.MR" "those that there are"
for wrong in MR MR= =3 MR=x MR=3x MR=3,,NR=4 MR=99999999999999999999 P0.MR=3,P0.MR=4; do
    exits 3 "wrong text: $wrong" "$tsr" compile corpus/small/small.tsr --kernel product --schedule "$wrong" --emit asm
done
exits 0 "bench with a schedule from outside" bench --filter product --schedule P0.MR=1,BM=8
field out schedule schedule_values >whose
has whose "^product tiny given P0.MR=1,BM=8$" "it is recorded"
exits 3 "a schedule that does not fit is an error of its case" bench --filter product/tiny --schedule MR=4
has out '"why": ".*error\[E0809\]: ' "with its place"

# Scores in the workgroup or in memory: other phases, the same bits.
attention=("$root/corpus/attention/attention.tsr" --kernel attention_full)
for chain in 0 1; do
    exits 0 "CHAIN=$chain on chips and here" "$tsr" bench "$root/corpus/attention/attention.tsr" --filter attention_full/ragged --backend cpu,ptx-emulated,rocm-emulated \
        --profile strict --quick --schedule "CHAIN=$chain"
    "$tsr" compile "${attention[@]}" --dims B=1,H=1,Sq=64,Sk=64,D=16,T=f32 --isa sm_80 --schedule "CHAIN=$chain" --emit ptx >"chain.$chain"
done
cmp -s chain.0 chain.1 && fail "two values, two codes" || pass "two values, two codes"
exits 3 "it is the whole kernel's" "$tsr" compile "${attention[@]}" --dims B=1,H=1,Sq=64,Sk=64,D=16,T=f32 --schedule P0.CHAIN=0 --emit ptx

exits 0 "pack a kernel with a schedule" "$tsr" pack-repro product --case tiny --backend cpu --schedule MR=1 corpus
pack=$(cat out)
mv corpus gone
exits 0 "replay it without its source" "$tsr" replay "$pack" --json
has out "REPRODUCED_EXACT" "it gives the same bits"
has out "code-hash-same" "from the same code"
mv gone corpus

# A program's kernels have its schedule; chips, which have none of it, say so.
cat >program.tsr <<'END'
from tessera import *


def halved(x, w):
    return (x @ w) * 0.5


@schedule(tile=(2, 1))
@cases(case("a", N=3, M=24, K=24))
@kernel
def turns(x: Tensor["M", "K", f32], w: Tensor["K", "K", f32], n: Tensor["N", f32]) -> Tensor["M", "K", f32]:
    for i in range(N):
        x = tanh(x @ w)
    return halved.with_unroll(2)(x, w)
END
sed 's/tile=(2, 1)/tile=(3, 1)/' program.tsr >other.tsr
sed 's/tile=(2, 1)/steps=4/' program.tsr >misfit.tsr
program=("$tsr" bench --backend cpu --quick --no-tuned --json)
for name in program other; do
    exits 0 "a program with a schedule" "${program[@]}" $name.tsr
    has out '"schedule": "source"' "is the source's"
    "$tsr" compile $name.tsr --case a --emit module -o $name.tsrm >out 2>err
done
cmp -s program.tsrm other.tsrm && fail "two values, two codes of a program" || pass "two values, two codes of a program"
exits 3 "a schedule of no work of a program" "${program[@]}" misfit.tsr
has out "E0809" "is refused"
exits 0 "a given schedule of a program" "${program[@]}" program.tsr --schedule MR=1
has out '"schedule": "given"' "is the given one"
exits 3 "one that no kernel of it has" "${program[@]}" program.tsr --schedule MR=1,STEPS=4
has out "no kernel of the program has the schedule parameter 'STEPS'" "is refused"
exits 0 "for a chip" "$tsr" bench program.tsr --backend ptx-emulated --quick --json
for one in 'schedule\(MR\)=2' 'schedule\(NR\)=1' 'with_schedule\(UNROLL\)=2'; do
    has out "^ *\"$one\"" "no code depends on it"
done

# Memory that ends while a side is packed: the least with which it runs is looked for; what is just below ends cleanly.
if [ -z "${TSR_SHORT:-}" ]; then
    low=100 high=800 clean=yes
    with_memory() { # MIB: whether it runs
        code=0
        "$tsr" golden verify "$root/corpus/matmul/matmul_f32.tsr" --filter matmul_f32_yt/square_1024 --backend cpu --profile strict \
            --threads 1 --schedule PACK_A=1,PACK_B=1 --no-cache --memory "$1" >out 2>err || code=$?
        if [ $code -ne 0 ]; then
            cat out err >>below
            [ $code -eq 1 ] && grep -q "memory" out err || clean=no
        fi
        return $code
    }
    while [ $((high - low)) -gt 3 ]; do
        middle=$(((low + high) / 2))
        if with_memory $middle; then high=$middle; else low=$middle; fi
    done
    for less in 3 6 9 12; do
        with_memory $((low - less))
    done
    [ $clean = yes ] && pass "a lack of memory is an error of the case" || fail "a lack of memory is an error of the case"
    has below "allocating the workspace" "also where it is packing that lacks it"
fi
finish
