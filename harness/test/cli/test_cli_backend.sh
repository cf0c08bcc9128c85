#!/usr/bin/env bash
# test_cli_backend.sh - TESSERA_BACKEND names the backend of every command that takes one; one that is named and not here ends it with 4.
. "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
unset TESSERA_CUDA_LIBRARY TESSERA_HIP_LIBRARY TESSERA_VULKAN_LIBRARY TESSERA_OPENCL_LIBRARY TESSERA_STUB_FAULTS
python=/usr/bin/python3
stubs=$(dirname "$tsr")/runtime
none=(env TESSERA_CUDA_LIBRARY=/nowhere/cuda.so TESSERA_HIP_LIBRARY=/nowhere/hip.so TESSERA_VULKAN_LIBRARY=/nowhere/vulkan.so
    TESSERA_OPENCL_LIBRARY=/nowhere/opencl.so TESSERA_LEVEL_ZERO_LIBRARY=/nowhere/level_zero.so)
cat >twice.tsr <<'END'
from tessera import *


@cases(case("small", x=normal(0, 1)))
@kernel
def twice_1000(x: Tensor[1000, f32]) -> Tensor[1000, f32]:
    return x + x
END

# Command lines, and whether each has --backend.
while IFS='|' read -r line option; do
    for backend in cuda hip vulkan opencl level_zero; do
        # shellcheck disable=SC2086
        exits 4 "$line on $backend by TESSERA_BACKEND" "${none[@]}" TESSERA_BACKEND=$backend "$tsr" $line
        has err "backend $backend cannot run here: .*/nowhere/$backend.so" "$line: says what is missing"
        [ "$option" = yes ] || continue
        # shellcheck disable=SC2086
        exits 4 "$line on $backend by --backend" "${none[@]}" "$tsr" $line --backend $backend
        # shellcheck disable=SC2086
        exits 4 "$line beside one that is here" "${none[@]}" TESSERA_BACKEND=cpu,$backend "$tsr" $line
    done
    # shellcheck disable=SC2086
    exits 4 "$line on one that there is not" "${none[@]}" TESSERA_BACKEND=abacus "$tsr" $line
    has err "no backend is called 'abacus'" "$line: says so"
done <<'END_OF_ROWS'
bench twice.tsr --quick|yes
run twice.tsr|yes
golden verify twice.tsr|yes
pack-repro twice_1000 --case small twice.tsr -o p.tar.lz4|yes
compile twice.tsr --emit metadata|no
tune twice.tsr --budget 1|no
END_OF_ROWS

exits 0 "bench by TESSERA_BACKEND" env TESSERA_BACKEND=ptx-emulated "$tsr" bench twice.tsr --quick --json
cp out run.json
exits 0 "runs there alone" $python -c '
import json
assert {r["backend"] for r in json.load(open("run.json"))["results"]} == {"ptx-emulated"}'
exits 0 "--backend wins" env TESSERA_BACKEND=cuda TESSERA_CUDA_LIBRARY=/nowhere "$tsr" bench twice.tsr --quick --backend cpu
$python -c "
import numpy as np
np.save('x.npy', np.arange(1000, dtype=np.float32))"
exits 0 "run by TESSERA_BACKEND" env TESSERA_BACKEND=cuda TESSERA_CUDA_LIBRARY="$stubs/libstub_cuda.so" "$tsr" run twice.tsr \
    --kernel twice_1000 --case small --in x=x.npy --out folder
exits 0 "is twice its input" $python -c '
import numpy as np
assert (np.load("folder/out.npy") == 2 * np.load("x.npy")).all()'

# Targets that compile makes code for, where --isa names none.
while read -r backend isa; do
    exits 0 "compile for $backend" env TESSERA_BACKEND="$backend" TESSERA_CUDA_LIBRARY="$stubs/libstub_cuda.so" TESSERA_HIP_LIBRARY="$stubs/libstub_hip.so" \
        "$tsr" compile twice.tsr --emit metadata
    has out "\"isa\": \"$isa\"" "makes code for $isa"
done <<'END_OF_ROWS'
cuda sm_90a
hip gfx942.chain
ptx-emulated sm_80-emulated
rocm-emulated gfx942-emulated
END_OF_ROWS
exits 0 "with --isa" env TESSERA_BACKEND=ptx-emulated "$tsr" compile twice.tsr --isa x86-64-v3 --emit metadata
has out '"isa": "x86-64-v3"' "that counts"
finish
