#!/usr/bin/env bash
# test_cli_capabilities.sh - what devices can do is one document: the same from tsr devices and from Python, of GPUs that a stub has, and
# of backends that are not here.
. "$(dirname "$0")/lib.sh"
unset TESSERA_CUDA_LIBRARY TESSERA_HIP_LIBRARY TESSERA_STUB_FAULTS
python=/usr/bin/python3
stubs=$(dirname "$tsr")/runtime
none=(env TESSERA_CUDA_LIBRARY=/nowhere/cuda.so TESSERA_HIP_LIBRARY=/nowhere/hip.so TESSERA_VULKAN_LIBRARY=/nowhere/vulkan.so
    TESSERA_OPENCL_LIBRARY=/nowhere/opencl.so TESSERA_LEVEL_ZERO_LIBRARY=/nowhere/level_zero.so)

exits 0 "devices" "${none[@]}" "$tsr" devices --json
cp out devices.json
cat >keys.py <<'END'
import json, re, sys
keys = re.findall(r"^KEY\((\w+)", open(sys.argv[1] + "/runtime/device/capability_keys.def").read(), re.M)
types = "f64 f32 tf32 f16 bf16 f8e4m3fn f8e5m2 i64 i32 i16 i8 i4 u64 u32 u16 u8 bool".split()
for b in json.load(open("devices.json"))["backends"]:
    c = b["capabilities"]
    assert list(c) == keys, (b["backend"], list(c))
    assert list(c["types"]) == types, b["backend"]
    assert " ".join(c["profiles"]) == b["profiles"]
    assert (c["device"], c["isa"], c["memory_bytes"]) == (b["device"], b["isa"], b["memory_bytes"])
    lacks = {m["what"]: m for m in c["missing"]}
    assert ("device" in lacks) == (not b["usable"]), b["backend"]
    for name, how in c["types"].items():
        assert how == "native" or (set(how) == {"as", "why", "profiles"} and name in lacks), (b["backend"], name)
END
exits 0 "each backend has all keys" $python keys.py "$root"
cat >absent.py <<'END'
import json
found = {b["backend"]: b["capabilities"] for b in json.load(open("devices.json"))["backends"]}
for name, kind, word in ("cuda", "ptx", "libcuda1"), ("hip", "rocm", "hip-runtime-amd"), ("vulkan", "spirv", "libvulkan1"), ("opencl", "spirv", "ocl-icd"), ("level_zero", "spirv", "libze1"):
    first = found[name]["missing"][0]
    assert first["what"] == "device" and "/nowhere/" in first["why"] and word in first["how"], first
    assert found[name]["backend"] == kind and found[name]["isa"] is None
END
exits 0 "those that are not here say how to get them" $python absent.py
exits 0 "in words" "${none[@]}" "$tsr" devices
has out "to get it: install NVIDIA's driver \(Debian: libcuda1" "what to install"
has out "^         types: all native but tf32 as f32 under strict$" "the types of emulated PTX"
has out "^         lacks async_copy: a workgroup is one thread" "and what a CPU lacks"

cat >chip.py <<'END'
import json, sys
(c,) = [b["capabilities"] for b in json.load(open("gpu.json"))["backends"] if b["backend"] == "cuda"]
_, capability, unit, copies = sys.argv
assert (c["backend"], c["driver"], c["subgroup"]) == ("ptx", "cuda", 32), c
assert c["isa"].startswith("sm_" + capability), c["isa"]
assert c["matrix_unit"].get("tf32", ["none"]) == [unit], c["matrix_unit"]
assert c["async_copy"] is (copies == "yes") and c["timestamp_ns"] == 500
assert c["types"]["tf32"]["profiles"] == (["strict"] if unit != "none" else ["strict", "deterministic", "fast"])
END

# Chip, what it multiplies tf32 with, whether it copies.
while read -r capability unit copies; do
    exits 0 "a GPU of $capability" env TESSERA_CUDA_LIBRARY="$stubs/libstub_cuda.so" TESSERA_STUB_FAULTS="capability=$capability" "$tsr" devices --json
    cp out gpu.json
    exits 0 "has its chip's" $python chip.py "$capability" "$unit" "$copies"
done <<'END_OF_ROWS'
75 none no
80 mma.sm80.tf32 yes
89 mma.sm89.tf32 yes
90 mma.sm90.tf32 yes
END_OF_ROWS

if [ -d "$(dirname "$tsr")/python" ]; then
    cat >same.py <<'END'
import json
from tessera import Error, runtime
(cpu,) = [b["capabilities"] for b in json.load(open("devices.json"))["backends"] if b["backend"] == "cpu"]
own = runtime.capabilities()
assert {key: own[key] for key in cpu} == cpu and own == runtime.capabilities("cpu")
try:
    runtime.capabilities("abacus")
    raise SystemExit("no error")
except Error as error:
    assert "there is no backend 'abacus' here" in str(error)
END
    exits 0 "Python has the same" "${none[@]}" PYTHONPATH="$(dirname "$tsr")/python" "${TESSERA_PYTHON:-$python}" same.py
fi
finish
