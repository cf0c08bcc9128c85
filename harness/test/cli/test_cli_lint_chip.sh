# test_cli_lint_chip.sh - tsr lint --isa: every check of what a chip makes of a kernel finds the kernel that is made for it and
# leaves its neighbour alone; registers and spills as assemblers tell them; --race.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
cp "$root/harness/test/cli/lint/chip.tsr" .

exits 0 "kernels for sm_80" "$tsr" lint chip.tsr --isa sm_80 --json --export sarif=lint.sarif
cp out lint.json
exits 0 "each check finds its kernel, and no other" /usr/bin/python3 "$root/harness/test/cli/check_lint.py" --chip \
    "$root/harness/test/schemas" lint.json lint.sarif chip.tsr
exits 0 "without --isa" "$tsr" lint chip.tsr
hasnt out '\[(bank-conflict|uncoalesced|occupancy|divergence|register-pressure|moved-memory)\]$' "none of these is looked for"
exits 0 "a chip with less memory" "$tsr" lint chip.tsr --isa sm_75
[ "$(grep -c '\[moved-memory\]$' out)" -eq 2 ] && pass "more is moved to the workspace" || fail "more is moved to the workspace"
exits 0 "a chip with more registers" "$tsr" lint chip.tsr --isa gfx942
hasnt out '\[register-pressure\]$' "they are enough"
for chip in sm_80 sm_90a gfx90a gfx942 gfx1100; do
    exits 0 "the corpus on $chip" "$tsr" lint "$root/corpus" --isa $chip
    has out ' 0 errors' "is code that can be looked at"
done

# Assemblers: what they say is a finding, whoever they are.
sed -n '1,2p;/^@cases(case("short", M=128/,$p' chip.tsr | sed '/^@cases(case("long"/,$d' >one.tsr
cat >ptxas <<'END'
#!/bin/sh
echo "$@" >>asked
[ "$(grep -c '^.visible .entry' "$5")" -eq 1 ] || exit 1
echo "ptxas info    : Compiling entry function 'at_ease_phase_0' for 'sm_80'" >&2
echo "    8 bytes stack frame, ${SPILLED:-0} bytes spill stores, 4 bytes spill loads" >&2
echo "ptxas info    : Used ${USED:-40} registers, used 1 barriers, 384 bytes cmem[0]" >&2
END
cat >broken <<'END'
#!/bin/sh
echo "line 7: fatal: it is Monday" >&2
exit 255
END
chmod +x ptxas broken
exits 0 "an assembler that is content" "$tsr" lint one.tsr --isa sm_80 --code --ptxas ./ptxas
hasnt out '\[(register-spills|occupancy)\]$' "there is nothing to say"
has asked '^-v -arch=sm_80 -o /dev/null .*kernel.ptx$' "it was asked"
exits 1 "one that spills" env SPILLED=52 USED=255 "$tsr" lint one.tsr --isa sm_80 --code --ptxas ./ptxas
has out '^one.tsr:[0-9]+:12: error: .* 255 registers .* 52 bytes .*\[register-spills\]$' "is an error at the place of the sums"
has out 'a unit of sm_80 holds 2 workgroups.*\[occupancy\]' "and what it says of registers decides what fits"
exits 1 "by the environment" env TSR_PTXAS=./ptxas SPILLED=52 "$tsr" lint one.tsr --isa sm_80 --code
has out '\[register-spills\]$' "is the same"
exits 1 "one that refuses" "$tsr" lint one.tsr --isa sm_80 --code --ptxas ./broken
has out 'it is Monday' "is told with its words"
exits 0 "none at all" env PATH=/nowhere "$tsr" lint one.tsr --isa sm_80 --code
has err 'register-spills is skipped' "is told"
exits 0 "AMD's code needs none" env PATH=/nowhere "$tsr" lint chip.tsr --isa gfx942 --code
hasnt err 'skipped' "LLVM says it"
has out '\([0-9]+ registers a thread' "in its own figures"

# Sums of which 255 registers do not hold all, and those that an assembler finds places for.
sed -n '1,2p;/^@cases(case("large", M=1024/,/^@cases(case("short", M=128/p' chip.tsr | sed '/^@cases(case("short"/d' >spilled.tsr
exits 0 "code for gfx1100" "$tsr" lint spilled.tsr --isa gfx1100
has out '\[register-pressure\]$' "looks like too much"
exits 0 "and as LLVM has it" "$tsr" lint spilled.tsr --isa gfx1100 --code
hasnt out '\[register-(pressure|spills)\]$' "is not"
cat >integers.tsr <<'END'
from tessera import *


@cases(case("square_1024", M=1024, N=1024, K=1024))
@kernel
def product(x: Tensor["M", "K", i4], y: Tensor["K", "N", i4]) -> Tensor["M", "N", i32]:
    return x @ y
END
exits 1 "sums of integers by threads" "$tsr" lint integers.tsr --isa gfx1100 --code
has out 'integers.tsr:.*: error: in case square_1024 .* and spills [0-9]+ registers \[register-spills\]$' "are too many for LLVM, too"
if [ -x "$(command -v ptxas)" ]; then
    exits 0 "code for sm_80" "$tsr" lint spilled.tsr --isa sm_80 --code
    hasnt out '\[register-spills\]$' "fits, as ptxas has it"
    cat >tight <<'END'
#!/bin/sh
sed -i 's/^\.maxntid.*/&\n.maxnreg 48/; /^\.minnctapersm/d' "$5"
exec ptxas "$@"
END
    chmod +x tight
    exits 1 "of 48 registers" "$tsr" lint spilled.tsr --isa sm_80 --code --ptxas ./tight
    has out 'spills [0-9]+ bytes \[register-spills\]$' "spills, as ptxas says"
else
    echo "skipped: there is no ptxas: spills of PTX"
fi

# The emulator, where this machine's CPU has a level for it.
emulated=yes
"$tsr" lint one.tsr --race 2>/dev/null | grep -q '^0 cases ran' && emulated=no && echo "skipped: threads are not emulated here"
if [ $emulated = yes ]; then
exits 0 "small cases on the emulator" "$tsr" lint chip.tsr --race
has out '^[1-9][0-9]* cases ran on the emulator$' "ran"
hasnt out '\[race\]' "and nothing was found"
exits 0 "AMD's code" "$tsr" lint one.tsr --race --isa gfx942
has out '^1 case ran on the emulator$' "runs, too"
hasnt err 'did not run' "and nothing was left out"
fi

# Tiles that ask for a memory of the chip: by size, by stages; without asking, there is the workspace, and the result says so.
cat >room.tsr <<'END'
"""Blocks of 32 rows are 128 KiB."""
from tessera import *


@kernel.autotune(space=dict(BM=[4, 32]))
@cases(case("prime", M=37, N=1021))
@kernel
def roomy(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return exp(tile.load(x, tile.context().rows, space="shared"))


@kernel.autotune(space=dict(BM=[32]))
@cases(case("prime", M=37, N=1021))
@kernel
def crowded(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return exp(tile.load(x, tile.context().rows, space="shared"))


@kernel.autotune(space=dict(BM=[16], BK=[1024]))
@cases(case("prime", M=37, N=2039))
@kernel
def staged(x: KTile["M", "N", f32]) -> Tensor["M", f32]:
    T = tile.context()
    total = tile.zeros((T.m,), f32)
    for k in tile.range_k(x.shape, T.k):
        total = total + sum(tile.load(x, T.rows, k, space="shared", stages=2), axis=1)
    return total


@kernel.autotune(space=dict(BM=[32]))
@cases(case("prime", M=37, N=1021))
@kernel
def elsewhere(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return exp(tile.load(x, tile.context().rows))
END
exits 1 "a chip with 64 KiB" "$tsr" lint room.tsr --isa gfx942 --json
cp out lint.json
exits 0 "refuses two tiles, and knows a size of another" /usr/bin/python3 -c '
import json
found = [(f["id"], f["kernel"] or "", f["line"], f["column"]) for f in json.load(open("lint.json"))["findings"] if f["id"] in ("E1023", "small-space")]
assert sorted(found) == [("E1023", "", 16, 16), ("E1023", "", 26, 29), ("small-space", "crowded", 16, 16), ("small-space", "roomy", 9, 16)], found'
exits 0 "a chip with 227 KiB" "$tsr" lint room.tsr --isa sm_90
hasnt out 'E1023|\[small-space\]' "has room"
exits 4 "code of it" "$tsr" compile room.tsr --kernel crowded --isa gfx942 --emit asm
has err 'room.tsr:16:16: error\[E1023\]' "is refused at the load"
exits 0 "code without the hint" "$tsr" compile room.tsr --kernel elsewhere --isa gfx942 --emit asm
if [ $emulated = yes ]; then
exits 0 "results" env TSR_DB="$scratch/results.db" "$tsr" bench room.tsr --backend ptx-emulated,rocm-emulated --profile strict --json
cp out results.json
exits 0 "say which chip has no room" /usr/bin/python3 -c '
import json
found = {(r["kernel"], r["backend"]): r["status"] for r in json.load(open("results.json"))["results"]}
assert found == {(k, b): "unsupported" if b == "rocm-emulated" and k in ("crowded", "staged") else "ok"
                 for k in ("roomy", "crowded", "staged", "elsewhere") for b in ("ptx-emulated", "rocm-emulated")}, found'
fi
cat >rows.tsr <<'END'
"""Rows that are sorted: 8 and 80 KB in the memory of a workgroup."""
from tessera import *


@cases(case("prime", M=3, N=1009), case("long", M=2, N=10007))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return sort(x, axis=-1)
END
if [ $emulated = yes ]; then
exits 0 "rows that no workgroup of sm_75 holds" env TSR_DB="$scratch/results.db" "$tsr" bench rows.tsr --backend ptx-emulated --profile strict --isa sm_75 --json
cp out results.json
exits 0 "are in the workspace, and the result says so" /usr/bin/python3 -c '
import json
found = {r["case"]: (r["status"], [(f["type"], f["as"]) for f in r["fallbacks"]]) for r in json.load(open("results.json"))["results"]}
assert found == {"prime": ("ok", []), "long": ("ok", [("shared memory", "workspace")])}, found'
fi
exits 0 "its module" "$tsr" compile rows.tsr --case long --isa sm_75,sm_80 --emit metadata
/usr/bin/python3 -c '
import json
said = {i["isa"]: [f["as"] for f in i.get("fallbacks", [])] for i in json.load(open("out"))["images"]}
assert said == {"sm_75": ["workspace"], "sm_80": []}, said' && pass "has it of each image" || fail "has it of each image"

exits 2 "a level of CPUs" "$tsr" lint chip.tsr --isa x86-64-v3
has err 'sm_80.*gfx942' "names the chips"
exits 2 "an emulated chip" "$tsr" lint chip.tsr --isa sm_80-emulated
exits 2 "--ptxas without code" "$tsr" lint chip.tsr --isa sm_80 --ptxas ./ptxas
exits 2 "--ptxas for AMD" "$tsr" lint chip.tsr --isa gfx942 --code --ptxas ./ptxas
exits 2 "a program that is not there" "$tsr" lint chip.tsr --isa sm_80 --code --ptxas ./nowhere
exits 2 "--markdown --race" "$tsr" lint --markdown --race
finish
