# test_cli_refusals.sh - what a command line asks for is done or refused: nothing is replaced by something else, and no
# option is without effect.
source "$(dirname "$0")/lib.sh"
small_corpus
export TSR_DB=$scratch/results.db TSR_TUNED=$scratch/tuned.jsonl
/usr/bin/python3 -c "
import numpy as np
np.save('x.npy', np.ones((3, 5), np.float32))"
exits 0 "a run" "$tsr" bench corpus --quick --backend cpu,interp --profile strict
exits 0 "a module" "$tsr" compile corpus/small/small.tsr --kernel addition --emit module -o addition.tsrm
cat >unit.tsr <<'END'
from tessera import *


@cases(case("one", M=1, N=1, K=1))
@kernel
def product(x: Tensor["M", "K", bf16], y: Tensor["K", "N", bf16]) -> Tensor["M", "N", f32]:
    return matmul(x, y, out=f32, order="mma.sm80.bf16")
END
cat >tiles.tsr <<'END'
from tessera import *


@cases(case("tiny", M=3, N=5))
@kernel
def copied(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    return tile.load(x, T.rows, T.cols)
END
have_mlir=$("$tsr" bench corpus --quick --backend mlir --list >/dev/null 2>&1 && echo yes)

# Exit code, the word that the complaint must have, the command line.
while read -r code word line; do
    [ -n "$code" ] || continue
    if [ "$word" = mlir ] && [ -z "$have_mlir" ]; then
        code=4
    fi
    # shellcheck disable=SC2086
    exits "$code" "$line" "$tsr" $line
    has err "$word" "is told why"
    [ -s out ] && fail "and nothing is said on stdout" || pass "and nothing is said on stdout"
done <<'END_OF_LINES'
4 cuda bench corpus --backend cuda
4 cuda golden verify corpus --backend cuda
4 cuda run corpus/small/small.tsr --kernel addition --backend cuda --in x.npy --in x.npy
4 cuda pack-repro addition --case tiny --backend cuda corpus
4 cuda fuzz --backend cuda --kernels 1
2 cpuu bench corpus --backend cpuu
4 mlir run corpus/small/small.tsr --kernel addition --backend mlir --in x.npy --in x.npy --out o
4 interp run corpus/small/small.tsr --kernel addition --backend interp --profile fast --in x.npy --in x.npy --out o
4 interp bench corpus --backend interp --profile fast
4 interp bench corpus --backend cpu,interp --profile fast
4 mlir bench corpus --backend mlir --profile deterministic
4 interp golden verify corpus --backend interp --profile deterministic
4 interp pack-repro addition --case tiny --backend interp --profile fast corpus
4 leave.out.--generic compile tiles.tsr --generic --emit module -o o.tsrm
4 leave.out.--generic compile unit.tsr --generic --isa sm_80 --emit module -o o.tsrm
2 of.bench.*not.of.fuzz fuzz --db r.db
2 --threads bench corpus --backend interp --threads 2
2 --isa bench corpus --backend interp --isa x86-64-v3
2 --schedule bench corpus --backend interp --schedule MR=6
2 --unoptimised bench corpus --backend interp --unoptimised
2 --generic bench corpus --backend interp --generic
2 --no-cache bench corpus --backend interp --no-cache
2 --tuned bench corpus --backend interp --tuned t.jsonl
2 --no-tuned bench corpus --backend interp --no-tuned
2 --order-probe bench corpus --backend interp --order-probe
2 --order-probe bench corpus --backend cpu --profile fast --order-probe
2 --inject bench corpus --backend interp --inject zero
2 --tuned bench corpus --tuned t.jsonl --no-tuned
2 --tuned bench corpus --tuned t.jsonl --unoptimised
2 --json bench corpus --list --json
2 --export bench corpus --list --export csv=a.csv
2 --resume bench corpus --list --resume
2 --last-failed bench corpus --list --last-failed
2 --fail-fast bench corpus --list --fail-fast
2 --failures bench corpus --list --failures d
2 --profile compile corpus/small/small.tsr --kernel addition --emit mlir --profile fast
2 --unoptimised compile corpus/small/small.tsr --kernel addition --emit mlir --unoptimised
2 --threads compile corpus/small/small.tsr --kernel addition --emit mlir --threads 2
2 --profile compile corpus/small/small.tsr --kernel addition --emit stablehlo --profile fast
2 --schedule compile corpus/small/small.tsr --kernel addition --schedule MR=6
2 --isa compile corpus/small/small.tsr --kernel addition --emit graph --isa x86-64-v3
2 --isa run corpus/small/small.tsr --kernel addition --backend interp --isa x86-64-v3 --in x.npy --in x.npy
2 --threads run corpus/small/small.tsr --kernel addition --backend interp --threads 2 --in x.npy --in x.npy
2 --schedule run addition.tsrm --schedule MR=6 --in x.npy --in x.npy
2 --no-cache run addition.tsrm --no-cache --in x.npy --in x.npy
2 --backend golden record corpus --backend cpu
2 --profile golden record corpus --profile fast
2 --threads golden record corpus --threads 2
2 --isa golden record corpus --isa x86-64-v3
2 --schedule golden record corpus --schedule MR=6
2 --unoptimised golden record corpus --unoptimised
2 --generic golden list corpus --generic
2 --order-probe golden list corpus --order-probe
2 --timeout golden list corpus --timeout 3
2 --memory golden list corpus --memory 4096
2 --type diff last last --type f32
2 --timeout diff x.npy x.npy --timeout 3
2 --db diff x.npy x.npy --db other.db
2 --isa roofline last --isa x86-64-v3
2 --quick roofline last --quick
2 --filter roofline last --json --filter addition
2 --threads roofline last --json --threads 1
2 --filter roofline --filter addition
2 --budget tune --show addition --budget 3
2 --filter tune --export a.jsonl --filter addition
2 --json tune --export a.jsonl --json
2 --again tune --import a.jsonl --again
2 last log last --prune 3
2 --merge log --merge
2 --history log --merge all.db --history
2 --prune log --merge all.db --prune 3
2 --shard bench --shard 0/4 corpus
2 --shard bench --negative-controls --shard 1/4 corpus
2 --last-failed bench --last-failed --shard 1/4 corpus
2 --shard fuzz --show 3 --shard 1/4
2 --shard tune --show addition --shard 1/4
2 --write check --trees --write x.tsr --shard 1/4 corpus
2 --shard golden merge --from there --shard 1/4 corpus
2 --from golden list --from there corpus
2 --json log --prune 3 --json
2 --markdown explain --markdown --json
2 E0301 explain --markdown E0301
2 --strict lint --markdown --strict
2 --dims lint --markdown --dims N=1
2 corpus lint --markdown corpus
2 --race lint --markdown --race
2 --ptxas lint corpus --ptxas true
2 --ptxas lint corpus --isa gfx942 --code --ptxas true
2 chip lint corpus --isa x86-64-v3
2 bench help --man bench
2 --markdown help --man --markdown
2 --json fuzz --show 3 --json
2 --minutes fuzz --show 3 --minutes 1
2 --minutes fuzz --minutes half
2 --backend pack-repro last:addition/tiny --backend cpu
2 --profile pack-repro last:addition/tiny --profile strict
2 --threads pack-repro --last-failure --threads 1
2 --seed pack-repro last:addition/tiny --seed 3
2 --inject pack-repro last:addition/tiny --inject zero
2 --case pack-repro last:addition/tiny --case tiny
2 corpus pack-repro last:addition/tiny corpus
2 --db pack-repro addition --case tiny --db other.db corpus
2 one pack-repro addition --case tiny --backend cpu,interp corpus
2 one pack-repro addition --case tiny --threads 1,2 corpus
2 one pack-repro addition --case tiny --profile strict,fast corpus
2 --inject pack-repro addition --case tiny --backend interp --inject zero corpus
3 --inject pack-repro addition --case tiny --inject zero@product corpus
END_OF_LINES

# The environment's backends are refused, too, where they cannot do what is asked for.
exits 4 "a module on the interpreter" env TESSERA_BACKEND=interp "$tsr" run addition.tsrm --in x.npy --in x.npy --out o
exits 4 "fast on the environment's interpreter" env TESSERA_BACKEND=interp "$tsr" bench corpus --profile fast
exits 4 "the environment's backend that is not here" env TESSERA_BACKEND=cuda "$tsr" bench corpus
exits 2 "two backends for one run" env TESSERA_BACKEND=interp,cpu "$tsr" run corpus/small/small.tsr --kernel addition \
    --in x.npy --in x.npy --out o
[ -e o ] && fail "nothing was computed" || pass "nothing was computed"

# Backends without the profile are left out of `all`, and that is told.
exits 0 "fast on all backends" "$tsr" bench corpus --backend all --quick --profile fast
has err "left out: backend interp" "names the one that has no fast"
hasnt out " interp " "and does not run it"
exits 0 "one thread of the interpreter" "$tsr" bench corpus --quick --backend interp --threads 1

# LLVM is a library beside the program, opened when code is needed.
if [ -e "$(dirname "$tsr")/libtessera-llvm.so" ]; then
    mkdir alone
    cp "$tsr" alone/tsr
    exits 4 "code without LLVM" alone/tsr compile corpus/small/small.tsr --kernel addition --emit asm
    has err "libtessera-llvm.so" "names the library"
    exits 0 "no code, no LLVM" alone/tsr bench corpus --quick --backend interp
    cp "$(dirname "$tsr")/libtessera-capture.so" alone/libtessera-llvm.so
    exits 4 "another library in its place" alone/tsr compile corpus/small/small.tsr --kernel addition --emit asm
    has err "cannot be loaded" "is not taken for it"
fi
finish
