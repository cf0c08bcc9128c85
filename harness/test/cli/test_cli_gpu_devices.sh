#!/usr/bin/env bash
# test_cli_gpu_devices.sh - the backends cuda, hip and level_zero: what a machine without a GPU is told; with libraries of our own in
# the place of the drivers', which chip code is made for, and how what goes wrong on a GPU ends.
. "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
unset TESSERA_CUDA_LIBRARY TESSERA_HIP_LIBRARY TESSERA_LEVEL_ZERO_LIBRARY TESSERA_STUB_FAULTS ZE_ENABLE_ALT_DRIVERS
stubs=$(dirname "$tsr")/runtime
cuda=(env "TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda.so")
hip=(env "TESSERA_HIP_LIBRARY=$stubs/libstub_hip.so")
none=(env TESSERA_CUDA_LIBRARY=/nowhere/libcuda.so.1 TESSERA_HIP_LIBRARY=/nowhere/libamdhip64.so TESSERA_LEVEL_ZERO_LIBRARY=/nowhere/libze_loader.so.1)
cat >twice.tsr <<'END'
from tessera import *


@cases(case("small", x=normal(0, 1)))
@kernel
def twice_1000(x: Tensor[1000, f32]) -> Tensor[1000, f32]:
    return x + x
END

# Exit code, what the complaint must say, what is in the environment (parted by ;), the command line.
while IFS='|' read -r code words environment line; do
    [ -n "$code" ] || continue
    IFS=';' read -ra variables <<<"$environment"
    # shellcheck disable=SC2086
    exits "$code" "$environment $line" "${none[@]}" "${variables[@]}" "$tsr" $line
    has err "$words" "is told why"
    [ -s out ] && fail "and nothing is said on stdout" || pass "and nothing is said on stdout"
done <<END_OF_LINES
4|NVIDIA's driver \(Debian: libcuda1 .* is not here: /nowhere/libcuda.so.1||bench twice.tsr --backend cuda
4|NVIDIA's driver \(Debian: libcuda1||bench twice.tsr --backend ptx
4|AMD's HIP||bench twice.tsr --backend rocm
4|AMD's HIP \(ROCm 6.0 or later.* is not here: /nowhere/libamdhip64.so||bench twice.tsr --backend hip
4|the Level Zero loader \(Debian: libze1;.* is not here: /nowhere/libze_loader.so.1||bench twice.tsr --backend level_zero
4|the Level Zero loader .* is too old: it has no function 'zeInit'|TESSERA_LEVEL_ZERO_LIBRARY=$stubs/libstub_cuda.so|bench twice.tsr --backend level_zero
4|NVIDIA's driver \(Debian: libcuda1|TESSERA_BACKEND=cuda|bench twice.tsr
4|NVIDIA's driver \(Debian: libcuda1||run twice.tsr --kernel twice_1000 --case small --backend cuda
4|NVIDIA's driver \(Debian: libcuda1||bench twice.tsr --backend cpu,cuda
4|too old: it has no function 'cuDevicePrimaryCtxRelease_v2'|TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda_old.so|bench twice.tsr --backend cuda
4|803.*load the module anew|TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda.so;TESSERA_STUB_FAULTS=init=803|bench twice.tsr --backend cuda
4|no code is made for the chip gfx1030|TESSERA_HIP_LIBRARY=$stubs/libstub_hip.so;TESSERA_STUB_FAULTS=chip=1030|bench twice.tsr --backend hip
4|has no device cuda:1 here|TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda.so|bench twice.tsr --backend cuda --device cuda:1
2|runs on devices of its own, cuda:INDEX|TESSERA_CUDA_LIBRARY=$stubs/libstub_cuda.so|bench twice.tsr --backend cuda --device cpu:0
END_OF_LINES

exits 0 "devices" "${none[@]}" "$tsr" devices --json
cp out devices.json
exits 0 "say what is missing" /usr/bin/python3 -c '
import json
found = {b["backend"]: b for b in json.load(open("devices.json"))["backends"]}
for name, what in ("cuda", "libcuda1"), ("hip", "hip-runtime-amd"), ("level_zero", "libze1"):
    assert found[name]["usable"] is False and what in found[name]["why"], found[name]
    assert found[name]["isa"] is None, found[name]'
exits 0 "all backends" "${none[@]}" "$tsr" bench twice.tsr --quick --backend all
hasnt err "cuda|hip|level_zero" "say nothing of GPUs that are not there"

/usr/bin/python3 -c "
import numpy as np
np.save('x.npy', np.arange(1000, dtype=np.float32))"
cat >check.py <<'END'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
assert len(results) == int(sys.argv[2]), [(r["case"], r["backend"], r["profile"]) for r in results]
for r in results:
    assert r["status"] == "ok", (r["case"], r["profile"], r["status"], r.get("why"))
    assert r["backend"] == sys.argv[3], r["backend"]
    assert r["check"]["bitwise"] or r["profile"] != "strict", r["check"]
    assert r["time_ns"] is not None, "it is timed"
    memory = r["memory"]
    assert memory["peak_bytes"] == 8000 and 8000 <= memory["device"]["used_peak_bytes"] <= memory["device"]["held_bytes"], memory
END
every=strict,deterministic,fast
exits 0 "on a GPU of NVIDIA's" "${cuda[@]}" "$tsr" bench twice.tsr --quick --backend cuda --profile $every --json
cp out run.json
exits 0 "each case under each profile" /usr/bin/python3 check.py run.json 3 cuda
exits 0 "on a GPU of AMD's" "${hip[@]}" "$tsr" bench twice.tsr --quick --backend hip --profile $every --json
cp out run.json
exits 0 "likewise" /usr/bin/python3 check.py run.json 3 hip
exits 0 "code for another chip that it runs" "${cuda[@]}" "$tsr" bench twice.tsr --quick --backend cuda --isa sm_80 --json
cp out run.json
exits 0 "is timed, too" /usr/bin/python3 check.py run.json 1 cuda
exits 4 "code that it does not run" "${cuda[@]}" TESSERA_STUB_FAULTS=capability=80 "$tsr" bench twice.tsr --quick --backend cuda --isa sm_90 --json
has err "no image of 'twice_1000' fits this device \(sm_80\); the module has ptx/sm_90" "is refused by name"
exits 0 "all backends take a GPU that is there" "${cuda[@]}" "$tsr" bench twice.tsr --quick --json
has out '"backend": "cuda"' "beside the others"
exits 0 "one result" "${cuda[@]}" "$tsr" run twice.tsr --kernel twice_1000 --case small --backend cuda --in x=x.npy --out folder
exits 0 "is twice its input" /usr/bin/python3 -c '
import numpy as np
assert (np.load("folder/out.npy") == 2 * np.load("x.npy")).all()'
exits 0 "the second device" "${cuda[@]}" TESSERA_STUB_FAULTS=devices=2 "$tsr" bench twice.tsr --quick --backend cuda --device cuda:1 --json
has out '"device": "cuda:1"' "is the one that was named"

exits 4 "a GPU that is lost" "${cuda[@]}" TESSERA_STUB_FAULTS=lost=700 "$tsr" bench twice.tsr --quick --backend cuda
has out "device 'stub 40' is lost: running: ILLEGAL_ADDRESS \(700\)" "is told"
exits 1 "a kernel that never ends" "${cuda[@]}" TESSERA_STUB_FAULTS=endless=1 "$tsr" bench twice.tsr --quick --backend cuda --timeout 2
has out "timeout" "is ended"
exits 0 "the GPU of a machine" "${hip[@]}" "$tsr" devices
has out "device: stub 40, gfx942, 2 cores, 4.0 GiB" "is named"

# Intel's, behind the real loader.
if [ ! -e "$stubs/libmock_level_zero.so" ] || ! /sbin/ldconfig -p | grep -q 'libze_loader\.so\.1'; then
    echo "skipped: level_zero (Debian: libze-dev and libze1, spirv-tools)"
    finish
fi
zero=(env "ZE_ENABLE_ALT_DRIVERS=$stubs/libmock_level_zero.so")
while IFS='|' read -r code where words faults line; do
    [ -n "$code" ] || continue
    # shellcheck disable=SC2086
    exits "$code" "level_zero: $faults $line" "${zero[@]}" "TESSERA_STUB_FAULTS=$faults" "$tsr" bench twice.tsr --quick --backend level_zero $line
    has "$where" "$words" "says what it is"
done <<END_OF_LINES
4|err|the Level Zero loader has no driver that works here|init=0x78000001|
4|err|lacks a library of its own|init=0x70020000|
4|err|the drivers of Level Zero have no GPU|devices=0|
4|err|another version of Level Zero|version=0x20000|
4|err|has no device level_zero:1 here||--device level_zero:1
0|out|computes a division of 32-bit floats .* with other bits|flaw=2|
0|out|it says 'error: line 7: it is too long'|build=0x70000004|
4|out|device 'mock 0' is lost: running: ZE_RESULT_ERROR_DEVICE_LOST|lost=0x70000001|
1|out|timeout|endless=1|--timeout 2
END_OF_LINES
exits 0 "on a GPU of Intel's" "${zero[@]}" "$tsr" bench twice.tsr --quick --backend level_zero --json
cp out run.json
exits 0 "the bits of the interpreter" /usr/bin/python3 check.py run.json 1 level_zero
exits 0 "one result" "${zero[@]}" "$tsr" run twice.tsr --kernel twice_1000 --case small --backend level_zero --in x=x.npy --out folder_zero
exits 0 "is twice its input" /usr/bin/python3 -c '
import numpy as np
assert (np.load("folder_zero/out.npy") == 2 * np.load("x.npy")).all()'
exits 0 "the second device" "${zero[@]}" TESSERA_STUB_FAULTS=devices=2 "$tsr" bench twice.tsr --quick --backend level_zero --device level_zero:1 --json
has out '"device": "level_zero:1"' "is the one that was named"
exits 0 "the GPU of a machine" "${zero[@]}" "$tsr" devices
has out "device: mock 0, spirv-opencl, 8 cores, 4.0 GiB" "is named"

finish
