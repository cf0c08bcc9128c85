# test_cli_with_gpu.sh - --with kernel.ptx, a cubin or a HSACO: code of others for a GPU, launched as the .json beside it says. The GPUs
# are those of libraries of ours, which know what the entry points compute.
source "$(dirname "$0")/lib.sh"
stubs=$(dirname "$tsr")/runtime
cuda=(env "TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda.so")
hip=(env "TESSERA_HIP_LIBRARY=$stubs/libstub_hip.so")
cp "$root"/docs/examples/scale.* .
bench=("${cuda[@]}" "$tsr" bench scale.tsr --backend cpu --quick --db r.db --failures packs)

# result COLUMN: how its results ended, each on a line.
cat >pick.py <<'END'
import json, sys
for r in json.load(open("out"))["results"]:
    if r["backend"] == sys.argv[1]:
        beside = r.get("beside") or {}
        print(r["case"], r["status"], "bitwise" if r["check"]["bitwise"] else "other", r["profile"], "timed" if r["time_ns"] else "untimed",
              r["implementation"]["kind"], len(r["implementation"].get("launch_sha256", "")), beside.get("backend", "alone"))
END
result() {
    /usr/bin/python3 pick.py "$1" >picked
}

# As its author launches it: a grid of two extents, blocks of two, a count and a float.
exits 0 "PTX beside ours" "${bench[@]}" --with scale.ptx --json
result scale.ptx
has picked "^small ok bitwise fast timed ptx 64 alone$" "a small case"
has picked "^usual ok bitwise fast timed ptx 64 alone$" "a larger one"
exits 0 "held to more" "${bench[@]}" --with scale.ptx --profile strict,deterministic --json
result scale.ptx
has picked "^usual ok bitwise strict" "strict bits"
has picked "^usual ok bitwise deterministic" "the same bits again"
exits 0 "another of two GPUs" env TESSERA_STUB_FAULTS=devices=2 "${cuda[@]}" "$tsr" bench scale.tsr --backend interp --device cuda:1 --quick \
    --db r.db --with scale.ptx
exits 4 "a GPU that is not there" "${cuda[@]}" "$tsr" bench scale.tsr --backend interp --device cuda:1 --quick --db r.db --with scale.ptx
exits 2 "a device of another kind" "${cuda[@]}" "$tsr" bench scale.tsr --backend cpu --device cpu:0 --quick --db r.db --with scale.ptx
exits 4 "no GPU at all" env TESSERA_CUDA_LIBRARY=/nowhere/cuda.so "$tsr" bench scale.tsr --backend cpu --quick --db r.db --with scale.ptx
exits 0 "a list of descriptions" bash -c 'echo "[$(cat scale.json)]" >list.json && cp scale.ptx list.ptx && exec "$@"' bash "${bench[@]}" --with list.ptx

# Triton's file, with what it does not say.
cat >triton.json <<'END'
{"name": "scale", "num_warps": 4, "warp_size": 32, "shared": 0, "num_stages": 3, "target": {"backend": "cuda", "arch": 80},
 "grid": ["floordiv(M * N + 127, 128)"], "arguments": ["x", "out", {"i32": "M * N"}, {"f32": 2.5}]}
END
cp scale.ptx triton.ptx
exits 0 "as Triton describes it" "${bench[@]}" --with triton.ptx --profile strict

# Wrong results are found.
wrong() {
    sed "$1" scale.json >wrong.json
    cp scale.ptx wrong.ptx
}
wrong 's/2\.5/2/'
exits 1 "another factor" "${bench[@]}" --with wrong.ptx --json
result wrong.ptx
has picked "^usual mismatch" "is a mismatch"
wrong 's/M + 3, 4/M, 8/'
exits 1 "a grid that is too small" "${bench[@]}" --with wrong.ptx --json
result wrong.ptx
has picked "^usual mismatch" "leaves elements out"
wrong 's/M + 3, 4/0*M, 4/'
exits 1 "a grid without workgroups" "${bench[@]}" --with wrong.ptx

# Wrong descriptions: the outcome of each case, before anything is launched.
while IFS='|' read -r code words change; do
    sed "$change" scale.json >wrong.json
    exits "$code" "wrong: $change" "${bench[@]}" --with wrong.ptx
    cat out err >both
    has both "$words" "says so: $words"
done <<'END'
3|no entry point 'none'|s/^{/{"name": "none",/
1|one to three extents|s/"block": \[32, 4\]/"block": []/
1|"block" is missing|s/"block": \[32, 4\],//
1|gives no number of threads|s/"block": \[32, 4\]/"num_warps": 4611686018427387905, "warp_size": 4/
5|"num_ctas": clusters|s/^{/{"num_ctas": 2,/
5|of 0 threads|s/\[32, 4\]/[1, 1, 128]/
3|it describes no entry point|s/.*//; 1s/.*/[]/
3|it describes 'scale' twice|s/.*//; 1s/.*/[{"name": "scale"}, {"name": "scale"}]/
1|is no formula|s/M + 3, 4/K + 3, 4/
1|negative extent|s/floordiv(M + 3, 4)/0 - M/
1|no tensor 'y'|s/"x", "out"/"y", "out"/
1|neither a tensor's name nor|s/{"f32": 2.5}/{"f16": 2.5}/
1|argument 3 has 8 bytes, and parameter 3 of 'scale' has 4|s/"f32": 2.5/"f64": 2.5/
1|3 arguments are given, and 'scale' takes 4|s/, {"f32": 2.5}//
1|2 arguments are given, and 'scale' takes 4|s/"arguments": .*/"shared": 0/
1|is no number of bytes|s/^{/{"shared": -1,/
1|number beyond its type|s/"M \* N"/-3000000000/
5|of 256 threads|s/\[32, 4\]/[64, 4]/
3|wrong.json:|s/\[32, 4\]/[32, 4/
END
exits 1 "more shared memory than there is" bash -c 'sed "s/^{/{\"shared\": 300000,/" scale.json >wrong.json && exec "$@"' bash "${bench[@]}" --with wrong.ptx
cp scale.ptx alone.ptx
exits 3 "nothing says how it is launched" "${bench[@]}" --with alone.ptx
has err "alone.json" "which file is missing"
echo '// no code' >alone.ptx && cp scale.json alone.json
exits 3 "no entry point" "${bench[@]}" --with alone.ptx
exits 3 "a function that it lacks" "${bench[@]}" --with scale.ptx:other
sed 's|\.visible|// a .entry in a comment( .param .u8 a )\n/* .entry another( */ .visible|' scale.ptx >comment.ptx && cp scale.json comment.json
exits 0 "comments are none" "${bench[@]}" --with comment.ptx

# More parameters than a call can have are none that it has.
/usr/bin/python3 -c '
import json
print(".version 7.0\n.entry scale(" + ", ".join(f".param .u32 p{i}" for i in range(300)) + ") {}")
json.dump({"grid": [1], "block": [1], "arguments": [{"i32": 0}] * 256}, open("many.json", "w"))' >many.ptx
exits 1 "too many parameters" "${bench[@]}" --with many.ptx
cat out err >both
has both "256 .*'scale' .*300" "are counted"

# A GPU that is lost ends the case, and not those behind it.
cp scale.ptx other.ptx && cp scale.json other.json
exits 1 "a lost GPU" env TESSERA_STUB_FAULTS=lost=700,at=5 "${bench[@]}" --with scale.ptx --with other.ptx --json
/usr/bin/python3 -c '
import json
for r in json.load(open("out"))["results"]:
    if r["backend"] != "cpu": print(r["status"], "ILLEGAL_ADDRESS" in (r["why"] or ""))' | sort | uniq -c >lost
has lost "^ +4 (error|crash) True$" "each case has a GPU of its own, and its own loss"

# A pack has both files, and replays on another machine's GPU.
wrong 's/2\.5/2/'
exits 1 "a failure" "${bench[@]}" --with wrong.ptx --filter scale/usual
pack=$(sed -n 's/.*tsr replay \(packs.*lz4\).*/\1/p' out)
lz4 -dc "$pack" | tar -tf - >members
has members '^implementation/wrong\.ptx$' "its code"
has members '^implementation/wrong\.json$' "and its launch"
mv wrong.json elsewhere.json
exits 4 "not without a word" "${cuda[@]}" "$tsr" replay "$pack"
exits 0 "replays" "${cuda[@]}" "$tsr" replay "$pack" --trust
has out "^REPRODUCED_EXACT .*same-implementation" "the same bits"
"${cuda[@]}" "$tsr" replay "$pack" --with scale.ptx >out 2>err
has out "^NOT_REPRODUCED .*other-implementation" "the right one does not fail"
mv elsewhere.json wrong.json
exits 1 "a failure on a GPU by name" "${cuda[@]}" "$tsr" bench scale.tsr --backend interp --quick --db r.db --failures named --with wrong.ptx --device cuda:0 \
    --filter scale/usual
exits 0 "replays there" "${cuda[@]}" "$tsr" replay named/*.lz4 --trust
sed -i 's/"grid"/"num_stages": 1, "grid"/' wrong.json
exits 0 "a launch that was changed since" "${cuda[@]}" "$tsr" pack-repro --last-failure --db r.db -o changed.repro.tar.lz4
has err "wrong.json" "is told"

# The other commands that take code of others.
exits 0 "check" "${cuda[@]}" "$tsr" check scale.tsr --with scale.ptx --relation repetition,batch --shapes 1 --budget 5
exits 0 "golden verify" bash -c '"$1" golden record scale.tsr && shift && exec "$@"' bash "$tsr" "${cuda[@]}" "$tsr" golden verify scale.tsr --with scale.ptx --backend cpu --profile strict
"${cuda[@]}" "$tsr" gate scale.tsr --with scale.ptx --against triton.ptx --filter scale/usual --always-time >out 2>err
has out "^scale/usual +fast +1 +[0-9.]+ .s +[0-9.]+ .s" "gate takes the times of both, whatever they are on a busy machine"
exits 2 "gate of two devices" "${cuda[@]}" "$tsr" gate scale.tsr --with scale.ptx --against "$stubs/../harness/test_functions.so:doubled=scale"
exits 0 "the same again" "${bench[@]}" --with scale.ptx
exits 0 "diff with ours" "${cuda[@]}" "$tsr" diff last:scale/usual@cpu last:scale/usual@scale.ptx --db r.db

# Machine code of an NVIDIA GPU, which ptxas makes of it.
ptxas=$(find "$(dirname "$tsr")/gpu-tools" -name ptxas 2>/dev/null | head -n 1)
if [ -n "$ptxas" ] && "$ptxas" -arch=sm_80 scale.ptx -o scale.cubin; then
    exits 0 "a cubin" "${bench[@]}" --with scale.cubin --json
    result scale.cubin
    has picked "^usual ok bitwise fast timed cubin 64 alone$" "like PTX"
    sed 's/, {"f32": 2.5}//' scale.json >wrong.json && cp scale.cubin wrong.cubin
    exits 1 "its parameters are known" "${bench[@]}" --with wrong.cubin
    cat out err >both
    has both "3 .*'scale' .*4" "by its notes"
    for size in 64 300 1500 2500; do
        head -c "$size" scale.cubin >wrong.cubin
        "${bench[@]}" --with wrong.cubin >out 2>err
        code=$?
        [ "$code" -eq 3 ] || [ "$code" -eq 1 ] && pass "cut to $size bytes" || fail "cut to $size bytes: $code"
    done
else
    echo "skipped: a cubin: no ptxas (ci/gpu-tools fetches it)"
fi

# A HSACO of our compiler as code of others, beside the same kernel as ours.
cat >twice.tsr <<'END'
from tessera import *


@cases(case("one", N=1000))
@kernel
def twice_1000(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x * 2
END
exits 0 "a HSACO" "$tsr" compile twice.tsr --isa gfx942 --emit hsaco -o twice.hsaco
echo '{"grid": [8], "num_warps": 2, "warp_size": 64, "arguments": ["x", "out", {"i64": 0}, {"i64": 0}]}' >twice.json
both=("${hip[@]}" "$tsr" bench twice.tsr --backend hip --quick --db r.db --profile strict --with twice.hsaco:twice_1000_phase_0)
exits 0 "a HSACO beside ours on the GPU" "${both[@]}" --json
result twice.hsaco:twice_1000_phase_0
has picked "^one ok bitwise strict timed hsaco 64 hip$" "timed in turn with ours"
echo '{"grid": [8], "block": [128], "arguments": ["x", "out", {"i64": 0}]}' >twice.json
exits 1 "its parameters are known" "${both[@]}"
cat out err >both
has both "3 .*'twice_1000_phase_0' .*4" "by its notes"
finish
