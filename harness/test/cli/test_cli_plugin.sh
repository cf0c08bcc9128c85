# test_cli_plugin.sh - plugins of PJRT as backends, pjrt:FILE: ours, which has the same bits at both ends of the interface, and one that is wrong in many
# ways. ci/pjrt runs the corpus on XLA.
source "$(dirname "$0")/lib.sh"
: >out >err
plugin=$(dirname "$tsr")/libtessera_pjrt.so
other=$(dirname "$tsr")/harness/pjrt/other_plugin.so
softmax=$root/corpus/normalisation/softmax.tsr
export TSR_DB=$PWD/results.db

# The bits of our plugin are ours, in products, functions, narrow types, control flow and programs that come as StableHLO.
exits 0 "strict bits" "$tsr" golden verify "$softmax" "$root"/corpus/{matmul/matmul_i8,elementwise/activations,reduction/positions,programs/while}.tsr \
    "$root/corpus/stablehlo/loops.mlir" --quick --backend "pjrt:$plugin" --profile strict
has err "$all_hold" "all have the golden's bits"
has out "^ok +softmax_rows/prime pjrt:libtessera_pjrt.so strict" "a column has the name of the plugin's file"

# Beside our own code, by a name.
export PJRT_NAMES_AND_LIBRARY_PATHS=other:/nowhere.so,ours:$plugin
exits 0 "a plugin by its name" "$tsr" bench "$softmax" --filter 'softmax_rows/p*' --quick --backend tessera,pjrt:ours --export json=run.json
/usr/bin/python3 - <<'END' >out 2>err && pass "its result is one of code of others" || fail "its result is one of code of others"
import json
by_name = {r["backend"]: r for r in json.load(open("run.json"))["results"]}
assert list(by_name) == ["cpu", "pjrt:ours"], by_name
ours, theirs = by_name["cpu"], by_name["pjrt:ours"]
assert theirs["status"] == "ok" and theirs["profile"] == "fast"
assert theirs["check"]["sha256"] == ours["check"]["sha256"]
assert theirs["implementation"]["kind"] == "pjrt" and len(theirs["implementation"]["sha256"]) == 64
assert theirs["time_ns"]["median"] > 0 and theirs["beside"]["ratio"]["median"] > 0
END
exits 4 "no plugin of a name" "$tsr" bench "$softmax" --backend pjrt:nobody
has err "no plugin of PJRT is called 'nobody'.*PJRT_NAMES_AND_LIBRARY_PATHS=nobody:FILE" "it says how one gets a name"
exits 3 "a name without its file" "$tsr" bench "$softmax" --backend pjrt:other
has err "pjrt:other \(/nowhere.so\)" "it says which file is missing"
exits 3 "a file that is missing" "$tsr" bench "$softmax" --backend pjrt:./nothing.so
exits 3 "a shared object that is no plugin" "$tsr" bench "$softmax" --backend "pjrt:$(dirname "$tsr")/libtessera-capture.so"
has err "is no plugin of PJRT: .*GetPjrtApi" "it says what makes one"
exits 3 "a file of text" "$tsr" bench "$softmax" --backend "pjrt:$softmax"
exits 2 "a command that takes none" "$tsr" tune "$softmax" --backend "pjrt:$plugin"
has err "check, fuzz, gate and pack-repro take one by --with" "it says which ones do"
exits 2 "an option of our compiler" "$tsr" bench "$softmax" --backend "pjrt:$plugin" --schedule BM=8

# One launch, and steps of a program, on arrays of the user's: the bits of our plugin are ours.
/usr/bin/python3 -c 'import array, sys; sys.stdout.buffer.write(array.array("f", [i * 0.37 % 1 - 0.5 for i in range(400)]).tobytes())' >numbers
{
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 100), }"
    cat numbers
} >x.npy
exits 0 "a launch on our own backend" "$tsr" run "$softmax" --kernel softmax_rows --in x.npy --out cpu
exits 0 "... on the plugin" "$tsr" run "$softmax" --kernel softmax_rows --in x.npy --out plugin --backend pjrt:ours
exits 0 "the same array" cmp cpu/out.npy plugin/out.npy
for backend in cpu pjrt:ours; do
    exits 0 "steps on $backend" "$tsr" run "$root/corpus/stablehlo/mlp_step.mlir" --steps 3 --out "steps-$backend" --backend "$backend"
done
exits 0 "the same state" diff -r steps-cpu steps-pjrt:ours
exits 2 "another backend beside it" "$tsr" run "$softmax" --kernel softmax_rows --in x.npy --backend cpu,pjrt:ours
exits 2 "a profile, which is our code's" "$tsr" run "$softmax" --kernel softmax_rows --in x.npy --backend pjrt:ours --profile strict
has err "a plugin compiles by itself" "it says why"
exits 4 "a plugin without a device" env OTHER_PLUGIN="no device" "$tsr" run "$softmax" --kernel softmax_rows --in x.npy --backend "pjrt:$other"
has err "no card is in this machine" "its reason is told"
exits 0 "a module" "$tsr" compile "$softmax" --kernel softmax_rows --emit module -o softmax.tsrm
exits 4 "a module is no source" "$tsr" run softmax.tsrm --in x.npy --backend pjrt:ours
has err "plugins of PJRT run no modules" "it says so"

# As code of others: the relations of our plugin hold.
exits 0 "relations" "$tsr" check "$softmax" --filter softmax_rows --with "pjrt:$plugin" --relation repetition,threads,batch
has out "repetition +holds" "the same again has the same bits"

# Strict is for a plugin that is seen to add as the kernel says. This one adds rows from their last element to the first.
cat >rows.tsr <<'END'
from tessera import *


@cases(case("one", M=3, N=1), case("short", M=4, N=100), case("whole", M=2, N=65, x=integers(-9, 9)))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", f32]:
    return sum(x, axis=1)
END
exits 4 "strict of a plugin that adds otherwise" "$tsr" bench rows.tsr --quick --backend "pjrt:$other" --profile strict
has out "strict is not for this plugin: order probe: elements 0 and 2 of 100 meet in a sum of 100 elements; lanes64 says 50" "it says what was seen"
exits 0 "... where there is no order" "$tsr" bench rows.tsr --filter rows/one --quick --backend "pjrt:$other" --profile strict
exits 0 "... and its bounds hold" "$tsr" bench rows.tsr --quick --backend "pjrt:$other" --profile deterministic,fast

# The operation from which a plugin parts from us, with both values and the right one.
exits 0 "no difference" "$tsr" diff --backend "tessera,pjrt:$plugin" "$softmax" "$root/corpus/stablehlo/loops.mlir"
has out "0 differ, 19 equal" "every case is compared"
exits 1 "a difference" "$tsr" diff --backend "tessera,pjrt:$other" rows.tsr
has out "^rows/one +equal" "one element has one sum"
has out "^rows/short +differ" "a hundred have many"
has out "$differs_first%0 = \"tessera.reduce\" \(rows.tsr:7:12\)" "the operation is found"
has out "exact [-0-9.]+, and any order and function is within [0-9.e-]+ of it: A is off by 0[0-9.]* bounds, B by 0" "its value is known"
exits 1 "... as a document" "$tsr" diff --backend "tessera,pjrt:$other" rows.tsr --filter rows/short --json
/usr/bin/python3 - <<'END' >>out 2>err && pass "both values, the exact one and the bound" || fail "both values, the exact one and the bound"
import json
document = json.load(open("out"))
assert (document["kind"], document["a"], document["equal"]) == ("backends", "tessera", False)
(result,) = document["results"]
first = result["first_operation"]
a, b = first["first"]["a"]["value"], first["first"]["b"]["value"]
assert a != b and abs(a - first["exact"]) <= first["bound"] and abs(b - first["exact"]) <= first["bound"]
assert first["operation"] == "tessera.reduce" and first["line"] == 7
END
exits 4 "a side that computes nothing" env OTHER_PLUGIN="no device" "$tsr" diff --backend "interp,pjrt:$other" rows.tsr
has out "rows/one +- +PJRT_Client_Create: UNAVAILABLE: no card is in this machine; pjrt:.* cannot compute it" "its reason is told"
exits 2 "one side" "$tsr" diff --backend cpu rows.tsr
exits 2 "no source" "$tsr" diff --backend "cpu,pjrt:$other"
exits 2 "an option for programs" "$tsr" diff last last --filter rows

# Plugins beside the other devices; one for devices that are not here.
exits 0 "devices" "$tsr" devices --backend "tessera,pjrt:$plugin,pjrt:$other@toy:2"
has out "^pjrt:libtessera_pjrt.so +a plugin of PJRT 0.81: $plugin" "a plugin is told"
has out "device: TesseraDevice\\(id=0, cpu" "its device is, too"
has out "device: the second toy, toy" "so are those of a topology"
cp out listed
exits 0 "another name of it" "$(dirname "$tsr")/pjrt_runner" --list-devices --backend "tessera,pjrt:$plugin,pjrt:$other@toy:2"
same out listed "the same devices"
exits 0 "plugins of the environment" env PJRT_NAMES_AND_LIBRARY_PATHS="gone:/nowhere.so,here:$plugin" "$tsr" devices --json
/usr/bin/python3 - <<'END' >>out 2>err && pass "one that is here, and one that is not" || fail "one that is here, and one that is not"
import json
gone, here = json.load(open("out"))["plugins"]
assert (gone["plugin"], gone["usable"]) == ("pjrt:gone", False) and "/nowhere.so" in gone["why"]
assert here["usable"] and here["platform"] == "tessera" and here["devices"][0]["memories"] == ["device"]
END
exits 4 "code for devices that are not here" "$tsr" bench rows.tsr --quick --backend "pjrt:$other@toy:2" --export json=ahead.json
/usr/bin/python3 - <<'END' >>out 2>err && pass "is made, and tells what it costs" || fail "is made, and tells what it costs"
import json
results = json.load(open("ahead.json"))["results"]
assert len(results) == 3
for r in results:
    assert (r["backend"], r["status"]) == ("pjrt:other_plugin.so@toy:2", "unsupported")
    assert "128 bytes of code, 1234 cycles by the plugin's estimate; not run: no such device is here" in r["why"]
    assert r["ahead"]["device"] == "toy" and r["ahead"]["devices"] == 2 and r["ahead"]["cost"] == {"flops": 42.0}
    assert r["ahead"]["estimated_cycles"] == 1234 and r["ahead"]["memory"]["argument_bytes"] == 64
END
exits 4 "a topology that there is not" "$tsr" bench rows.tsr --filter rows/one --quick --backend "pjrt:$other@box"
has out "TopologyDescription_Create: INVALID_ARGUMENT: the only topology is toy:2" "the plugin says so"
exits 4 "a plugin without topologies" "$tsr" bench rows.tsr --filter rows/one --quick --backend "pjrt:$plugin@toy:2"
has out "TopologyDescription_Create: UNIMPLEMENTED" "it says so, too"
exits 3 "no topology" "$tsr" bench rows.tsr --quick --backend "pjrt:$other@"

# wrong FAULT CODE PATTERN: what a plugin with the fault does to a result.
wrong() {
    exits "$2" "a plugin that is wrong: $1" env OTHER_PLUGIN="$1" "$tsr" bench rows.tsr --quick --filter rows/one --backend "pjrt:$other"
    has out "$3" "its reason is told"
}
wrong "no table" 4 "computed nothing: .*speaks PJRT 0.0; versions 0.29 and later are understood"
wrong "old" 4 "computed nothing: .*speaks PJRT 0.12; versions 0.29"
wrong "no device" 4 "computed nothing: PJRT_Client_Create: UNAVAILABLE: no card is in this machine"
wrong "refuses" 4 "computed nothing: PJRT_Client_Compile: INVALID_ARGUMENT: no such operation"
wrong "aborts" 1 "crash.*an invariant of the plugin does not hold"
wrong "another count" 1 "error.*the plugin's program has 7 outputs, and kernel rows 1"
wrong "fails" 1 "error.*PJRT_LoadedExecutable_Execute: INTERNAL: the card is on fire"
exits 1 "a crash is packed" env OTHER_PLUGIN=aborts "$tsr" bench rows.tsr --filter rows/one --quick --backend "pjrt:$other" --failures packs
exits 0 "... and comes again" env OTHER_PLUGIN=aborts "$tsr" replay packs/*.tar.lz4 --trust
has out "REPRODUCED" "with the same verdict"
finish
