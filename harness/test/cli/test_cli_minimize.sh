# test_cli_minimize.sh - a failing case without all that its failure has no need of, as a pack that fails by itself.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

cat >mlp.tsr <<'END'
from tessera import *


@cases(case("some", M=5, K=40, N=24))
@kernel
def mlp(x: Tensor["M", "K", f32], w: Tensor["K", "N", f32], b: Tensor["N", f32]) -> tuple[Tensor["M", "N", f32], Tensor["M", f32]]:
    hidden = gelu(x @ w + b)
    scores = softmax(hidden * 0.5)
    return scores - b, sum(hidden, axis=1)
END
cat >ahead.mlir <<'END'
module @ahead {
  func.func public @main(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.tanh %0 : tensor<8x4xf32>
    %2 = stablehlo.add %1, %z : tensor<8x4xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<8x4xf32>
    %4 = stablehlo.exponential %3 : tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
}
END

# fails FILE KERNEL/CASE FAULT: packed, at $pack
fails() {
    rm -rf .tsr/failures small.lz4
    "$tsr" bench "$1" --quick --backend cpu --threads 1 --inject "$3@$2" >/dev/null 2>&1
    pack=$(ls .tsr/failures/*.lz4)
}

# shrinks FILE KERNEL/CASE FAULT [VERDICT]: the smaller case fails by itself, at most a tenth of the operations and 64 KiB are left
shrinks() {
    fails "$1" "$2" "$3"
    exits 0 "$3 in $2" "$tsr" replay "$pack" --minimize -o small.lz4 --json
    $python - <<'END' && pass "leaves a small part" || fail "leaves a small part"
import json, os
m = json.load(open("out"))["minimize"]
assert m["complete"] and 10 * m["operations"] <= max(10, m["operations_before"]), m
assert m["bytes"] <= m["bytes_before"] and os.path.getsize("small.lz4") <= 65536, m
END
    exits 0 "the smaller case" "$tsr" replay small.lz4 --json
    $python -c "import json; d = json.load(open('out')); assert d['verdict'] == '${4:-REPRODUCED_EXACT}' and d['case']['case'] == 'minimized', d" &&
        pass "fails by itself" || fail "fails by itself"
}

shrinks mlp.tsr mlp/some drop-last-k
exits 0 "its source" bsdtar -xOf small.lz4 source/minimized.tsr
has out "tessera.(dot|reduce|matmul)" "has the sum that lacks a step"
shrinks mlp.tsr mlp/some swap-operands
shrinks ahead.mlir ahead/fixed swap-operands
shrinks mlp.tsr mlp/some compiler-crash REPRODUCED_CLASS
shrinks mlp.tsr mlp/some crash REPRODUCED_CLASS

# The smaller case is one like any other: it names its parent, is found again, and cannot become smaller.
fails mlp.tsr mlp/some swap-operands
for copy in one two; do
    exits 0 "a smaller pack" "$tsr" replay "$pack" --minimize -o $copy.lz4
    has out "^minimized [0-9]+ operations to 1, " "says what is left"
done
same one.lz4 two.lz4 "has the same bytes each time"
exits 0 "its manifest" "$tsr" replay one.lz4 --show --json
$python - "$pack" <<'END' && pass "names its parent, and what went" || fail "names its parent, and what went"
import json, sys
m = json.load(open("out"))["manifest"]
assert m["parent"] in sys.argv[1] and m["minimize"]["operations"] == 1 and "seconds" not in m["minimize"], m
END
exits 0 "bisecting it" "$tsr" replay one.lz4 --bisect --json
$python -c "import json; b = json.load(open('out'))['bisect']; assert b['pass'] == 'decompose' and b['operation']['of'] == 1, b" &&
    pass "finds the same pass" || fail "finds the same pass"
exits 0 "no more than a second" "$tsr" replay "$pack" --minimize --budget 1 -o three.lz4
has out "^minimized " "leaves something as well"

for wrong in "--minimize --bisect" "--minimize --from tile" "--budget 5" "--minimize --budget 0" "--minimize --show"; do
    exits 2 "replay $wrong" "$tsr" replay "$pack" $wrong
done

# Neither runs anything of a pack outside of the worker, nor longer than they may: the case hangs, and a damaged pack is not run.
fails mlp.tsr mlp/some crash
"$tsr" bench mlp.tsr --quick --backend cpu --threads 1 --inject hang@mlp/some --timeout 1 --failures hangs >/dev/null 2>&1
exits 0 "bisecting what hangs" "$tsr" replay hangs/*.lz4 --timeout 1 --bisect --json
$python -c "import json; b = json.load(open('out'))['bisect']; assert b['place'] == 'code', b" && pass "ends" || fail "ends"
exits 4 "minimizing it in no time" "$tsr" replay hangs/*.lz4 --timeout 1 --minimize --budget 1
has err "within the budget" "says that there was too little"
head -c 3000 hangs/*.lz4 >cut.lz4
for way in --bisect --minimize; do
    exits 3 "$way of a damaged pack" "$tsr" replay cut.lz4 $way -o new.lz4
    [ ! -e new.lz4 ] && pass "writes none" || fail "writes none"
done

finish
