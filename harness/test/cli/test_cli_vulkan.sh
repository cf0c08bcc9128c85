# test_cli_vulkan.sh - a second kind of real device: the corpus through Vulkan, Khronos' validation on, has the bits of its goldens.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db TESSERA_VULKAN_VALIDATION=1 LSAN_OPTIONS=suppressions=$root/ci/leaks-of-others
python=/usr/bin/python3

exits 4 "a backend that is not here" env TESSERA_VULKAN_LIBRARY=/dev/null/absent/libvulkan.so "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" \
    --quick --backend vulkan
has err "backend vulkan" "is named"
exits 4 "the same by the environment" env TESSERA_BACKEND=vulkan TESSERA_VULKAN_LIBRARY=/dev/null/absent/libvulkan.so "$tsr" bench \
    "$root/corpus/elementwise/saxpy.tsr" --quick

exits 0 "what is here" "$tsr" devices --json
cp out devices.json
if ! $python -c 'import json, sys; sys.exit(not [b for b in json.load(open("devices.json"))["backends"] if b["backend"] == "vulkan" and b["usable"]])'; then
    [ "$failures" -eq 0 ] || finish
    echo "skipped: no Vulkan device with its validation layer (Debian: mesa-vulkan-drivers, vulkan-validationlayers)"
    exit 77
fi

# Mesa compiles each kernel anew: most of the time of a small case.
[ -z "${TSR_SHORT:-}" ] || most_of_corpus=("$root/corpus/elementwise/clamp.tsr" "$root/corpus/reduction/sum.tsr" "$root/corpus/movement/transpose.tsr" "$root/corpus/matmul/matmul_i8.tsr")
exits 0 "the corpus" "$tsr" golden verify "${most_of_corpus[@]}" --quick --backend vulkan
has err "$all_hold, 0 " "all of it has the bits"
hasnt out "unsupported" "nothing is left out"

few=("$root/corpus/normalisation/softmax.tsr" "$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/elementwise/correct.tsr")
[ -z "${TSR_SHORT:-}" ] || few=("$root/corpus/normalisation/softmax.tsr")
exits 0 "beyond strict within the bound" "$tsr" bench "${few[@]}" --quick --backend vulkan --profile deterministic,fast
exits 0 "timed" "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend vulkan --profile strict --json
cp out timed.json
exits 0 "by the device's clock" $python -c 'import json; r = json.load(open("timed.json"))["results"]; assert r and any(x["time_ns"] for x in r), r'

# Mesa's llvmpipe ends the loops of a thread after 65535 turns: such code is right, or refused.
cat >turns.tsr <<'END'
from tessera import *


@cases(case("few", N=2000), case("many", N=1100000))
@kernel
def running(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return cumsum(x, axis=0)
END
"$tsr" bench turns.tsr --quick --backend vulkan,interp --profile strict --json >turns.json 2>err
exits 0 "long loops are right or refused" $python -c '
import json
status = {r["case"]: (r["status"], r["why"] or "") for r in json.load(open("turns.json"))["results"] if r["backend"] == "vulkan"}
assert status["few"][0] == "ok" and (status["many"][0] == "ok" or "65535 turns" in status["many"][1]), status'

exits 0 "a pack" "$tsr" pack-repro softmax_rows --case prime "$root/corpus/normalisation/softmax.tsr" --backend vulkan -o p.repro.tar.lz4
exits 0 "replays" "$tsr" replay p.repro.tar.lz4
has out "^REPRODUCED_EXACT .code-hash-same" "the same code, the same bits"
finish
