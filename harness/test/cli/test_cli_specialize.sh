#!/usr/bin/env bash
# test_cli_specialize.sh - @specialize: the examples of the pages on each target, which of several counts, what wins over it, and that no
# bit depends on it.
. "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

cat >examples.py <<'END'
import pathlib, re, sys
for page in "schedules", "tiles":
    blocks = re.findall(r"^```python\n(.*?)^```", pathlib.Path(sys.argv[1], "docs", page + ".md").read_text(), re.M | re.S)
    (one,) = [b for b in blocks if "@specialize" in b]
    pathlib.Path(page + ".tsr").write_text(one)
END
exits 0 "the examples" $python examples.py "$root"
cat >took.py <<'END'
import json, sys
document = json.load(open("metadata.json"))
told = document.get("specialized")
got = f"{told['when']} {told['use']}" if told else "nothing"
assert got == sys.argv[1], got
for value in sys.argv[2:]:
    name, number = value.split("=")
    assert str(document["tile"][name]) == number, (value, document["tile"])
END

# Example, target, what is taken, and what the schedule then has.
while IFS=';' read -r example isa took values; do
    exits 0 "$example for $isa" "$tsr" compile "$example.tsr" --isa "$isa" --emit metadata
    cp out metadata.json
    # shellcheck disable=SC2086
    exits 0 "$example for $isa takes $took" $python took.py "$took" $values
done <<'END_OF_ROWS'
schedules;gfx942;backend=rocm BM=64,BN=64,STAGE=8;P0.BM=64 P0.BN=64 P0.STAGE=8
schedules;gfx942-emulated;backend=rocm BM=64,BN=64,STAGE=8;P0.BM=64
schedules;gfx1100;backend=rocm BM=64,BN=64,STAGE=8;P0.BM=64
schedules;sm_80;backend=ptx,async_copy=1 BM=64,BN=64,STAGE=16;P0.STAGE=16
schedules;sm_90a;backend=ptx,async_copy=1 BM=64,BN=64,STAGE=16;P0.BN=64
schedules;sm_75;nothing;
schedules;spirv-opencl;nothing;
schedules;x86-64-v3;isa=x86-64-v3|aarch64-neon BM=48,BN=64;P0.BM=48
schedules;x86-64-v4;nothing;
tiles;gfx90a;backend=rocm,subgroup=64 BM=64,BN=64,warps=8;
tiles;gfx1100;nothing;
tiles;sm_86;backend=ptx BM=64,warps=4;
tiles;x86-64-v3;nothing;
END_OF_ROWS

# Conditions, and the targets that each fits.
cat >ask.py <<'END'
import pathlib, subprocess, sys
tsr, asked, fits = sys.argv[1], sys.argv[2], sys.argv[3].split()
pathlib.Path("asked.tsr").write_text(f"""
from tessera import *

@specialize(when=dict({asked}), use=dict(columns=4096))
@cases(case("a", N=5000))
@kernel
def f(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x + x
""")
all = "x86-64-v2+fma x86-64-v3 x86-64-v4 x86-64-v4+dot sm_75 sm_80 sm_89 sm_90a gfx90a gfx942 gfx1100 spirv-opencl".split()
took = [isa for isa in all if '"specialized"' in subprocess.run(
    [tsr, "compile", "asked.tsr", "--isa", isa, "--emit", "metadata"], capture_output=True, text=True, check=True).stdout]
assert took == fits, took
END
while IFS=';' read -r asked fits; do
    exits 0 "$asked" $python ask.py "$tsr" "$asked" "$fits"
done <<'END_OF_ROWS'
backend="cpu";x86-64-v2+fma x86-64-v3 x86-64-v4 x86-64-v4+dot
backend=["spirv", "rocm"];gfx90a gfx942 gfx1100 spirv-opencl
subgroup=32;sm_75 sm_80 sm_89 sm_90a gfx1100
shared_bytes=100000;sm_80 sm_89 sm_90a
async_copy=False, backend="ptx";sm_75
matrix_unit=i8;x86-64-v4+dot sm_80 sm_89 sm_90a gfx90a gfx942 gfx1100
matrix_unit=[bf16, f16];sm_80 sm_89 sm_90a gfx90a gfx942 gfx1100
matrix_unit="tf32", isa=["sm_75", "sm_80"];sm_80
END_OF_ROWS

# Bits are those of the golden everywhere, and results say what was taken.
cat >bits.py <<'END'
import json
want = {("product_by_target", "ptx-emulated", "tiles"): "BM=64,warps=4", ("product_by_target", "rocm-emulated", "tiles"): "BM=64,BN=64,warps=8",
        ("product_by_target", "ptx-emulated", "schedules"): "BM=64,BN=64,STAGE=16", ("product_by_target", "rocm-emulated", "schedules"): "BM=64,BN=64,STAGE=8"}
import sys
digests = set()
results = json.load(open("run.json"))["results"]
assert len(results) == 4
for r in results:
    assert r["status"] == "ok" and r["check"]["bitwise"], (r["backend"], r["status"], r["why"])
    use = want.get((r["kernel"], r["backend"], sys.argv[1]))
    if use:
        assert r["specialized"]["use"] == use, r.get("specialized")
    elif r["backend"] == "interp":
        assert "specialized" not in r, r["specialized"]
    digests.add(json.dumps(r["check"]["sha256"]))
assert len(digests) == 1, digests
END
for example in schedules tiles; do
    exits 0 "the golden of $example" "$tsr" golden record $example.tsr
    exits 0 "$example on four backends" "$tsr" bench $example.tsr --quick --backend interp,cpu,ptx-emulated,rocm-emulated --profile strict --json
    cp out run.json
    exits 0 "$example: the same bits" $python bits.py $example
done

# Options on the command line win.
exits 0 "--schedule" "$tsr" compile schedules.tsr --isa gfx942 --schedule P0.STAGE=16 --emit metadata
cp out metadata.json
exits 0 "wins, parameter by parameter" $python took.py "backend=rocm BM=64,BN=64,STAGE=8" P0.STAGE=16 P0.BM=64
exits 0 "--space" "$tsr" compile tiles.tsr --isa gfx90a --space BM=32 --emit metadata
hasnt out "specialized" "has all the say in tiles"
has out '"space": "BM=32,BN=32,BK=512,warps=2"' "with the first of what it does not name"
exits 0 "any dimensions" "$tsr" compile schedules.tsr --isa x86-64-v3 --generic --emit metadata
has out '"specialized"' "have schedules, too"
exits 0 "several levels" "$tsr" compile schedules.tsr --isa x86-64-v3,x86-64-v4 --emit metadata
cp out metadata.json
exits 0 "each has its own" $python -c '
import json
said = {i["isa"]: "specialized" in i for i in json.load(open("metadata.json"))["images"]}
assert said == {"x86-64-v3": True, "x86-64-v4": False}, said'

# Beside @schedule, which is for CPUs: what is not said twice stays.
cat >both.tsr <<'END'
from tessera import *


@schedule(block=(32, 128), unroll=2)
@specialize(when=dict(backend=["cpu", "ptx"]), use=dict(BM=64))
@cases(case("a", M=101, K=613, N=263))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return x @ y
END
exits 0 "beside @schedule" "$tsr" compile both.tsr --isa x86-64-v4 --schedule P0.MR=8,P0.NR=1v --emit metadata
cp out metadata.json
exits 0 "what is not said twice stays" $python took.py "backend=cpu|ptx BM=64" P0.BM=64 P0.BN=128 P0.UNROLL=2

# Another order is refused, where the target is one that it is for.
sed 's/BK=\[512\]/BK=[512, 64]/; s/use={"BM": 64, "warps": 4}/use={"BK": 64}/' tiles.tsr >order.tsr
exits 3 "another order" "$tsr" compile order.tsr --isa sm_80 --emit metadata
has err "order.tsr:4:2: error\[E0814\]: with BK=64 the kernel adds in another order" "is refused with its place"
exits 0 "for another target" "$tsr" compile order.tsr --isa gfx942 --emit metadata
exits 3 "what a chip cannot have" "$tsr" compile <(sed 's/STAGE=8/STAGE=8, NR=4096/' schedules.tsr) --isa gfx942 --emit metadata
finish
