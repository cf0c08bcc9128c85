# test_cli_emulated.sh - the code for GPUs on this CPU, thread by thread: the same bits as the interpreter's, on all of the
# corpus, in whatever order threads run; each chip's own code; packs of it that replay.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

"$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend ptx-emulated >out 2>err </dev/null
if grep -q "threads are emulated on" out err; then
    echo "skipped: no code for emulated threads is made for this machine"
    exit 77
fi

cat >check.py <<"END"
import json, sys
wanted = sys.argv[2:]
results = json.load(open(sys.argv[1]))["results"]
found = {r["backend"] for r in results}
assert found == set(wanted), f"backends {found}"
for r in results:
    assert r["status"] == "ok", (r["kernel"], r["case"], r["backend"], r["status"])
    assert r["check"]["against"] in ("golden", "reference"), r["check"]
    assert r["check"]["bitwise"], (r["kernel"], r["case"], r["backend"])
    assert r["time_ns"] is None, "nothing is timed on emulated threads"
# Orders that are a matrix unit's own are for the chips that have it.
plain = [r for r in results if not r["source"]["path"].endswith("/matrix_units.tsr")]
cases = {b: {(r["kernel"], r["case"]) for r in plain if r["backend"] == b} for b in wanted}
assert all(c == cases[wanted[0]] for c in cases.values()), "they computed other cases"
print(len(results))
END

both=ptx-emulated,rocm-emulated
exits 0 "the corpus on both families" "$tsr" bench "${most_of_corpus[@]}" --quick --backend $both --profile strict --json
cp out both.json
exits 0 "all of it has the bits" $python check.py both.json ptx-emulated rocm-emulated

few=("$root/corpus/normalisation/softmax.tsr" "$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/reduction/sum.tsr"
    "$root/corpus/tile/tile_attention.tsr")
for order in reversed shuffled:7; do
    exits 0 "threads $order" env TESSERA_EMULATE_ORDER=$order "$tsr" bench "${few[@]}" --quick --backend $both --profile strict --json
    cp out order.json
    exits 0 "the same bits, threads $order" $python check.py order.json ptx-emulated rocm-emulated
done

for chip in sm_75 sm_90a; do
    exits 0 "code of $chip" "$tsr" bench "${few[@]}" --quick --backend ptx-emulated --isa $chip --profile strict --json
    cp out chip.json
    exits 0 "$chip has the bits" $python check.py chip.json ptx-emulated
done
for chip in gfx90a gfx1100; do
    exits 0 "code of $chip" "$tsr" bench "${few[@]}" --quick --backend rocm-emulated --isa $chip --profile strict --json
    cp out chip.json
    exits 0 "$chip has the bits" $python check.py chip.json rocm-emulated
done

exits 0 "beyond strict within the bound" "$tsr" bench "${few[@]}" --quick --backend $both --profile deterministic,fast

# What --isa names counts for the backends that it is of.
exits 0 "a chip, and this machine's own level" "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend cpu,ptx-emulated --isa sm_90
exits 2 "no such chip" "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend ptx-emulated --isa sm_12

# A pack of it runs the same code again.
exits 0 "a pack" "$tsr" pack-repro softmax_rows --case prime "$root/corpus/normalisation/softmax.tsr" --backend ptx-emulated -o p.repro.tar.lz4
exits 0 "replays" "$tsr" replay p.repro.tar.lz4
has out "^REPRODUCED_EXACT .code-hash-same" "the same code, the same bits"
exits 0 "the module of the chip" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --case prime --isa sm_80 --emit asm
has out "^\.target sm_80" "is PTX"
hasnt out "(div|sqrt|rcp|ex2|lg2)\.approx|\.ftz" "nothing is approximate, nothing flushes"
exits 0 "every step of it" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --case prime --isa sm_80 --emit-after insert-barriers
hasnt out "tile.barrier" "threads that share rows side by side hand each other values"
has out "threads<[0-9]+x[0-9]+, [0-9]+x[0-9]+>" "tiles are spread over threads"
exits 0 "stages of a product" "$tsr" compile "$root/corpus/matmul/matmul_f32.tsr" --kernel matmul_f32 --case prime --isa sm_80 --emit-after insert-barriers
has out "tile.barrier" "threads wait where they meet in memory"
finish
