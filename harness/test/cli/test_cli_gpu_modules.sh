# test_cli_gpu_modules.sh - code for GPUs as files, in modules beside a CPU's, and what the metadata says of it.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
python=/usr/bin/python3
unset TSR_PTXAS
cat >kernels.tsr <<'END'
from tessera import *


@cases(case("odd", M=13, N=127))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x, axis=-1)


@cases(case("odd", M=130, K=67, N=95))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return relu(x @ y + 1.0)
END
product=(kernels.tsr --kernel product)

# ---- formats ----
# The chips are those that the program names.
chips_of() { # FORMAT WRONG
    exits 2 "$1 for $2" "$tsr" compile "${product[@]}" --emit "$1" --isa "$2" -o o
    has err "--emit $1 is not for $2; --isa is one of " "is told which chips it is for"
    sed -n 's/.*--isa is one of //p' err | tr -d ' ' >"$1.chips"
}
chips_of ptx gfx942
chips_of hsaco sm_80
chips_of spirv sm_80
IFS=, read -ra ptx_chips <ptx.chips
IFS=, read -ra hsaco_chips <hsaco.chips
IFS=, read -ra spirv_chips <spirv.chips
[ ${#ptx_chips[@]} -ge 6 ] && [ ${#hsaco_chips[@]} -ge 3 ] && pass "there are chips" || fail "there are chips"
for chip in "${ptx_chips[@]}"; do
    exits 0 "PTX for $chip" "$tsr" compile "${product[@]}" --emit ptx --isa "$chip"
    has out "^\\.target $chip\$" "is for it"
    cp out "$chip.ptx"
    exits 0 "the same as an object" "$tsr" compile "${product[@]}" --emit obj --isa "$chip" -o o
    same o "$chip.ptx" "is the same text"
done
for chip in "${hsaco_chips[@]}"; do
    exits 0 "a HSACO for $chip" "$tsr" compile "${product[@]}" --emit hsaco --isa "$chip" -o "$chip.hsaco"
    $python -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
kind, machine = struct.unpack_from("<HH", data, 16)
assert data[:4] == b"\x7fELF" and kind == 3 and machine == 224, (kind, machine)
assert b"amdgcn-amd-amdhsa--" + sys.argv[2].encode() in data' "$chip.hsaco" "${chip%+chain}" &&
        pass "is a shared object for it" || fail "is a shared object for it"
done
[ "${spirv_chips[*]}" = "spirv-vulkan spirv-vulkan+f64 spirv-opencl" ] && pass "there are three flavours" || fail "there are three flavours"
for flavour in vulkan:0x00010500:5348 vulkan+f64:0x00010500:5348 opencl:0x00010000:2; do
    IFS=: read -r name version addressing <<<"$flavour"
    exits 0 "SPIR-V for $name" "$tsr" compile "${product[@]}" --emit spirv --isa "spirv-$name" -o "spirv-$name.spirv"
    $python -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
words = struct.unpack("<" + "I" * (len(data) // 4), data)
assert words[:2] == (0x07230203, int(sys.argv[2], 16)), words[:2]
at, models = 5, []
while at < len(words):
    if words[at] & 0xffff == 14:  # OpMemoryModel
        models.append(words[at + 1])
    at += words[at] >> 16
assert at == len(words) and models == [int(sys.argv[3])], models
assert b"product_phase_0" in data' "spirv-$name.spirv" "$version" "$addressing" &&
        pass "is a module of its version, with physical addresses" || fail "is a module of its version, with physical addresses"
done
exits 0 "without a flavour" "$tsr" compile "${product[@]}" --emit spirv -o o
same o spirv-vulkan.spirv "SPIR-V is Vulkan's"
exits 4 "SPIR-V as assembly" "$tsr" compile "${product[@]}" --emit asm --isa spirv-vulkan
has err "spirv-dis shows it" "is told what does it"
exits 0 "without a chip" "$tsr" compile "${product[@]}" --emit ptx
same out sm_80.ptx "PTX is for sm_80"
exits 0 "without a chip" "$tsr" compile "${product[@]}" --emit hsaco -o o
same o gfx942.hsaco "a HSACO is for gfx942"
exits 0 "all kernels of a file" "$tsr" compile kernels.tsr --emit ptx
has out '^// rows/odd$' "each under its name"
exits 2 "a HSACO to a terminal" "$tsr" compile "${product[@]}" --emit hsaco
has err "hsaco .*-o FILE" "is told"
exits 2 "threads of no CPU" "$tsr" compile "${product[@]}" --emit ptx --threads 2
exits 2 "several chips elsewhere" "$tsr" compile "${product[@]}" --emit ptx --isa sm_80,sm_90
has err "several ISA levels need --emit module" "is told"

# ---- modules for everything ----
mapfile -t levels < <("$tsr" devices | awk '$2 == "yes" {print $1}' | tac)
every=$(IFS=, && echo "x86-64-v2+fma,x86-64-v3,x86-64-v4,x86-64-v4+dot,aarch64-neon,aarch64-sve256,${ptx_chips[*]},${hsaco_chips[*]},${spirv_chips[*]}")
for kernel in rows product; do
    exits 0 "$kernel for $every" "$tsr" compile kernels.tsr --kernel $kernel --isa "$every" --emit module -o $kernel.tsrm
done
exits 0 "the same again" "$tsr" compile "${product[@]}" --isa "$every" --emit module --no-cache -o again.tsrm
same product.tsrm again.tsrm "is the same bytes"
exits 3 "emulated threads beside others" "$tsr" compile "${product[@]}" --isa sm_80-emulated,sm_90-emulated --emit module -o o
has err "'sm_80-emulated'" "are told"
exits 0 "a module for GPUs alone" "$tsr" compile "${product[@]}" --isa sm_80,gfx942 --emit module -o gpu.tsrm
exits 0 "a module for one" "$tsr" compile "${product[@]}" --isa sm_90a --emit module -o one.tsrm
if $python -c 'import numpy' 2>/dev/null && [ ${#levels[@]} -gt 0 ]; then
    $python -c '
import numpy as np
rng = np.random.default_rng(7)
for name, shape in ("rows_x", (13, 127)), ("product_x", (130, 67)), ("product_y", (67, 95)):
    np.save(name + ".npy", rng.standard_normal(shape).astype(np.float32))'
    for kernel in rows product; do
        inputs=(--in x=${kernel}_x.npy)
        [ $kernel = product ] && inputs+=(--in y=product_y.npy)
        exits 0 "the interpreter" "$tsr" run kernels.tsr --kernel $kernel --backend interp "${inputs[@]}" --out interp
        for level in "${levels[@]}"; do
            exits 0 "$kernel on $level" env TESSERA_ISA="$level" "$tsr" run $kernel.tsrm "${inputs[@]}" --out out.d
            has err "the image for ${level//+/\\+}\$" "takes the CPU's image"
            exits 0 "has the same bits" diff -r interp out.d
        done
    done
    exits 4 "one for GPUs does not run on a CPU" "$tsr" run gpu.tsrm --in x=product_x.npy --in y=product_y.npy --out none
    has err "'product' .*ptx/sm_80, hsaco/gfx942" "is told what it has"
    if "$tsr" devices | grep -A2 '^vulkan ' | grep -q 'device:.*f64'; then
        exits 0 "one of every kind on Vulkan" "$tsr" run product.tsrm --backend vulkan --in x=product_x.npy --in y=product_y.npy --out vulkan
        has err "spirv-vulkan" "takes Vulkan's image"
        exits 0 "has the same bits" diff -r interp vulkan
        exits 0 "the device by its name" "$tsr" run product.tsrm --device vulkan:0 --backend vulkan --in x=product_x.npy --in y=product_y.npy --out vulkan
        exits 4 "GPUs of others" "$tsr" run gpu.tsrm --backend vulkan --in x=product_x.npy --in y=product_y.npy --out none
        has err "ptx/sm_80, hsaco/gfx942" "is told what it has"
    fi
    exits 4 "the interpreter runs no modules" "$tsr" run product.tsrm --backend interp --in x=product_x.npy --in y=product_y.npy --out none
    exits 2 "nor do two backends at once" "$tsr" run product.tsrm --backend cpu,vulkan --in x=product_x.npy --in y=product_y.npy --out none
    exits 4 "nor does one for a GPU" "$tsr" run one.tsrm --in x=product_x.npy --in y=product_y.npy --out none
    has err "ptx/sm_90a" "is told what it has"
    [ ! -e none ] && pass "nothing was written" || fail "nothing was written"
else
    echo "skipped: running modules: no NumPy (package python3-numpy), or no code for this CPU"
fi

# ---- what stands in a module ----
for chip in "${ptx_chips[@]}"; do
    exits 0 "the PTX for $chip" "$tsr" compile product.tsrm --emit ptx --isa "$chip"
    same out "$chip.ptx" "is the one that the module was made with"
    exits 0 "as assembly" "$tsr" compile product.tsrm --emit asm --isa "$chip"
    same out "$chip.ptx" "is itself"
done
for chip in "${hsaco_chips[@]}"; do
    exits 0 "the HSACO for $chip" "$tsr" compile product.tsrm --emit hsaco --isa "$chip" -o o
    same o "$chip.hsaco" "is the one that the module was made with"
    exits 0 "disassembled" "$tsr" compile product.tsrm --emit asm --isa "$chip"
    has out '^product_phase_0:$' "has its kernel"
    has out '^	s_endpgm' "which ends"
done
for chip in "${spirv_chips[@]}"; do
    exits 0 "the SPIR-V of $chip" "$tsr" compile product.tsrm --emit spirv --isa "$chip" -o o
    same o "$chip.spirv" "is the one that the module was made with"
done
exits 0 "code for a CPU" "$tsr" compile product.tsrm --emit asm --isa x86-64-v3
has out '^	vfmadd' "is disassembled"
exits 0 "all code" "$tsr" compile product.tsrm --emit asm
grep '^// ' out | grep / >heads
$python -c '
import sys
found = [line.split("/", 2)[-1].strip() for line in open("heads") if "_64-elf/" in line or "ptx/" in line or "hsaco/" in line or "spirv/" in line
         or "aarch64-elf/" in line]
assert sorted(f.split("/")[-1] for f in found) == sorted(sys.argv[1].split(",")), found' "$every" &&
    pass "each under its target" || fail "each under its target"
exits 0 "the graph" "$tsr" compile product.tsrm
cp out graph
exits 0 "of the source" "$tsr" compile "${product[@]}"
same out graph "is the same"
exits 0 "the schedule for a chip" "$tsr" compile product.tsrm --emit schedule --isa gfx942
cp out schedule
exits 0 "of the source" "$tsr" compile "${product[@]}" --emit schedule --isa gfx942
same out schedule "is the same"
exits 0 "the metadata" "$tsr" compile product.tsrm --emit metadata
cp out metadata.json
exits 0 "of the source" "$tsr" compile "${product[@]}" --isa "$every" --emit metadata
same out metadata.json "is the same"
for wrong in "2:--emit tile:a module has no --emit tile" "2:--emit asm --case odd:--case has no say" \
    "2:--emit hsaco:hsaco is binary" "2:--emit metadata --isa sm_80:--isa has no say" \
    "3:--emit hsaco -o o:5 images fit --emit hsaco, --isa names one" "3:--emit ptx --isa gfx942:nothing for --emit ptx --isa gfx942" \
    "2:--emit asm --format yaml:--format is for --emit metadata"; do
    rest=${wrong#*:}
    read -ra words <<<"${rest%%:*}"
    exits "${wrong%%:*}" "a module with ${rest%%:*}" "$tsr" compile product.tsrm "${words[@]}"
    has err "${rest#*:}" "is refused"
done
head -c $(($(stat -c %s product.tsrm) / 2)) product.tsrm >cut.tsrm
exits 3 "a module cut short" "$tsr" compile cut.tsrm --emit asm
has err "truncated" "is refused"

# ---- metadata ----
$python - "$root" <<'END' && pass "what it says of images" || fail "what it says of images"
import json, re, shutil, subprocess, sys
images = {image["isa"]: image for image in json.load(open("metadata.json"))["images"]}
ops = set(re.findall(r"^G\(\w+, (\w+),", open(sys.argv[1] + "/compiler/ops/graph.def").read(), re.M))
for isa, image in images.items():
    symbols = {phase["symbol"] for phase in image["phases"]}
    chip = image["section"].split("/")[0] in ("ptx", "hsaco", "spirv")
    assert list(image["epilogue"].values()) == [["add", "maximum"]] or ops.issuperset(*image["epilogue"].values()), image["epilogue"]
    assert set(image["epilogue"]) <= symbols
    assert chip == ("fragments" in image) == ("resources" in image), isa
    if not chip:
        continue
    assert set(image["fragments"]) == set(image["epilogue"])
    assert image["resources"]["threads"] == image["launch"]["block"][0]
    assert image["resources"]["shared_bytes"] == image["launch"]["smem_bytes"]
    for words in image["fragments"].values():
        rows, columns, _, _, high, wide, kind = re.fullmatch(r"threads<(\d+)x(\d+), (\d+)x(\d+)> (\d+)x(\d+) (\w+)", words).groups()
        assert int(rows) * int(columns) == image["resources"]["threads"], words
        assert (int(high), int(wide)) == (image["tile"]["P0.MR"], image["tile"]["P0.NR"]) and kind == "f32", words
    assert ("kernels" in image["resources"]) == image["section"].startswith("hsaco/"), isa
for isa, image in images.items():
    if not image["section"].startswith("hsaco/") or not shutil.which("llvm-readelf-19"):
        continue
    done = subprocess.run([sys.argv[1] + "/ci/hsaco-check", isa + ".hsaco"], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)["kernels"]
    ours = image["resources"]["kernels"]
    assert set(ours) == set(theirs), isa
    for kernel, numbers in ours.items():
        same = {**theirs[kernel], "stack_bytes": theirs[kernel]["scratch_bytes"]}
        assert numbers == {name: same[name] for name in numbers}, (isa, numbers, same)
        assert {"vgprs", "sgprs", "vgpr_spills", "sgpr_spills", "stack_bytes"} <= set(numbers), (isa, numbers)
END

if $python -c 'import yaml' 2>/dev/null; then
    for file in kernels.tsr "$root/docs/examples/affine.tsr" "$root/corpus/reduction/sum.tsr"; do
        for isa in x86-64-v3 "$every"; do
            options=(compile "$file" --isa "$isa" --emit metadata)
            exits 0 "metadata of ${file##*/}" "$tsr" "${options[@]}" --format json
            cp out all.json
            exits 0 "as YAML" "$tsr" "${options[@]}" --format yaml
            cp out all.yaml
            $python - <<'END' && pass "says the same" || fail "says the same"
import json, yaml
text, at, documents = open("all.json").read(), 0, []
text = "".join(line for line in text.splitlines(True) if not line.startswith("//")).strip()
while at < len(text):
    document, end = json.JSONDecoder().raw_decode(text, at)
    documents.append(document)
    at = end + len(text[end:]) - len(text[end:].lstrip())
assert documents and list(yaml.safe_load_all(open("all.yaml"))) == documents
END
        done
    done
    # Names that a reader could take for numbers, truths or nothing.
    cat >names.tsr <<'END'
from tessera import *


@cases(case("one"))
@kernel
def null(no: Tensor[3, f32], y: Tensor[3, f32], off: Tensor[3, f32], e1: Tensor[3, f32], nan: Tensor[3, f32]) -> Tensor[3, f32]:
    return no + y + off + e1 + nan
END
    exits 0 "metadata of odd names" "$tsr" compile names.tsr --emit metadata
    cp out names.json
    exits 0 "as YAML" "$tsr" compile names.tsr --emit metadata --format yaml
    $python -c '
import json, yaml
assert yaml.safe_load(open("out")) == json.load(open("names.json"))' && pass "says the same" || fail "says the same"
else
    echo "skipped: YAML: no reader (package python3-yaml)"
fi
exits 2 "another format" "$tsr" compile "${product[@]}" --emit metadata --format toml
exits 2 "a format of something else" "$tsr" compile "${product[@]}" --emit graph --format yaml

# ---- an assembler ----
# Messages of ptxas, from one that is none: a kernel's numbers are found, whatever stands around them.
cat >assembler <<'END'
#!/bin/sh
echo "$@" >>arguments
file=$4
grep -q '^\.version' "$3" || exit 9
{
    echo "ptxas info    : 0 bytes gmem"
    sed -n 's/.*\.entry \([A-Za-z0-9_]*\)(.*/\1/p' "$3" | while read -r name; do
        echo "ptxas info    : Compiling entry function '$name' for 'sm_80'"
        echo "ptxas info    : Function properties for $name"
        echo "    16 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads"
        echo "ptxas info    : Used 77 registers, used 1 barriers, 376 bytes cmem[0]"
    done
} >&2
END
sed 's/^file=.*/echo "code.ptx, line 3; error: no" >\&2; exit 1/' assembler >refusing
chmod +x assembler refusing
resources() { # WHAT: the numbers of PTX kernels in ./out
    $python -c '
import json
images = [i for i in json.load(open("out"))["images"] if i["section"].startswith("ptx/")]
assert len(images) == 2
for image in images:
    assert image["resources"]["kernels"] == {p["symbol"]: {"registers": 77, "stack_bytes": 16, "spill_store_bytes": 24,
                                                           "spill_load_bytes": 40} for p in image["phases"]}' &&
        pass "$1" || fail "$1"
}
beside=(compile "${product[@]}" --isa x86-64-v3,sm_80,sm_90a,gfx1100 --emit metadata)
exits 0 "with an assembler" "$tsr" "${beside[@]}" --ptxas ./assembler
resources "its numbers are there"
has arguments '^-arch=sm_80 -v ' "it is told the chip"
has arguments '^-arch=sm_90a -v ' "of each image"
exits 0 "by the environment" env TSR_PTXAS=./assembler "$tsr" "${beside[@]}"
resources "its numbers are there"
exits 0 "without one again" "$tsr" "${beside[@]}"
hasnt out spill_store_bytes "nothing is kept of it"
exits 4 "one that refuses" "$tsr" "${beside[@]}" --ptxas ./refusing
has err "sm_80: code.ptx, line 3; error: no" "is told with its words"
exits 4 "one that is not there" "$tsr" "${beside[@]}" --ptxas ./nosuch
exits 2 "without PTX" "$tsr" compile "${product[@]}" --isa gfx942 --emit module --ptxas ./assembler -o o
has err "--ptxas " "is told"
exits 0 "the environment's without PTX" env TSR_PTXAS=./nosuch "$tsr" compile "${product[@]}" --isa gfx942 --emit module -o o
if command -v ptxas >/dev/null && "$root/ci/gpu-tools" --no-install >/dev/null 2>&1; then
    exits 0 "with NVIDIA's" "$tsr" "${beside[@]}" --ptxas ptxas
    $python - "$root" <<'END' && pass "the numbers are those that ci/ptx-check reads" || fail "the numbers are those that ci/ptx-check reads"
import json, subprocess, sys
for image in json.load(open("out"))["images"]:
    if image["isa"] != "sm_80":
        continue
    done = subprocess.run([sys.argv[1] + "/ci/ptx-check", "sm_80.ptx", "sm_80"], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)["kernels"]
    ours = image["resources"]["kernels"]
    assert set(ours) == set(theirs)
    for kernel, numbers in ours.items():
        assert numbers == {name: theirs[kernel][name] for name in numbers} and len(numbers) == 4, numbers
END
else
    echo "skipped: NVIDIA's assembler beside ci/ptx-check: they are not here (ci/gpu-tools)"
fi
finish
