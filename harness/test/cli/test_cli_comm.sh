# test_cli_comm.sh - tsr comm: what exchanges between ranks take, measured and fitted; and how ranks add up by such a model, with the same bits.
source "$(dirname "$0")/lib.sh"
cat >sums.tsr <<'END_TSR'
from tessera import *

data = mesh(4, "dp")


def summed(x):
    return all_reduce(x, "dp")


@cases(case("small", N=600), case("larger", N=9000))
@kernel
def sums_over_shards(x: Tensor["4", "N", f32]) -> Tensor["1", "N", f32]:
    return shard_map(summed, data, "dp", None)(x)
END_TSR

# ---- measured ----
exits 0 "a probe by threads and by processes" "$tsr" comm --probe --quick --ranks 2,3 --transport threads,shm -o model.json
has out "^threads, 2 ranks: latency .* us" "has a fit"
has out "^shm, 3 ranks: latency .* us" "for each transport and number of ranks"
has out "^  pair  *8  *[0-9.]* " "and each size beside it"
exits 0 "as a document" "$tsr" comm --probe --quick --ranks 2 --transport threads --json
cp out document.json
cat >holds.py <<'END_PYTHON'
import json, sys
schema = json.load(open(sys.argv[1] + "/docs/comm.schema.json"))
for name in ("model.json", "document.json"):
    document = json.load(open(name))
    try:
        import jsonschema
        jsonschema.validate(document, schema)
    except ImportError:
        pass
    for fit in document["fits"]:
        sizes = {sample["bytes"] for sample in fit["samples"]}
        assert 8 in sizes and 1 << 20 in sizes, sizes
        for sample in fit["samples"]:
            flows = {"pair": (1, 1), "pairs": (1, fit["ranks"] // 2), "all": (fit["ranks"] - 1, fit["ranks"] * (fit["ranks"] - 1) / 2)}
            messages, pairs = flows[sample["pattern"]]
            said = fit["alpha_ns"] + fit["message_ns"] * (messages - 1) + sample["bytes"] * (fit["byte_ns"] + fit["contention_ns"] * (pairs - 1))
            assert abs(said / sample["predicted_ns"] - 1) < 1e-3, (said, sample)
            assert abs(sample["predicted_ns"] / sample["measured_ns"] - 1 - sample["error"]) < 1e-3, sample
            assert sample["measured_ns"] > 0
print(len(json.load(open("model.json"))["fits"]))
END_PYTHON
exits 0 "both keep the schema, and the formula of the page" /usr/bin/python3 holds.py "$root"
has out "^4$" "with a fit of each"
[ -z "$(ls /dev/shm | grep "probe-")" ] && pass "no shared memory is left" || fail "no shared memory is left"

# ---- the ranks add up by it ----
force() { # FILE ALPHA BYTE: a model in which exchanges cost so much to begin, and so much for each byte
    printf 'schema: tsr.comm/1\nfits:\n' >"$1"
    for transport in threads shm; do
        printf -- '- {transport: %s, ranks: 3, alpha_ns: %s, message_ns: 0, byte_ns: %s, contention_ns: 0, sum_ns: 0}\n' "$transport" "$2" "$3"
    done >>"$1"
}
force whole.yaml 1e9 1e-6
force parts.yaml 0 1
spans() { # FILE: how many exchanges are in it
    grep -o '"exchange between ranks"' "$1" | wc -l
}
add_up() { # NAME, and what goes into the environment
    printf 'schema: tsr.policy/1\nprofiling: {level: launches, spans: %s.jsonl}\n' "$1" >"$1.yaml.policy"
    exits 0 "sums on three ranks: $1" env "${@:2}" "$tsr" run sums.tsr --case small --steps 1 --ranks 3 --policy "$1.yaml.policy" --out "$1" --no-cache
}
add_up usual TSR_UNUSED=1
add_up by-whole TESSERA_COMM_MODEL=whole.yaml
add_up by-parts TESSERA_COMM_MODEL=parts.yaml
add_up by-probe TESSERA_COMM_MODEL=model.json
[ "$(spans by-whole.jsonl)" -eq 3 ] && pass "a costly beginning: one exchange of all" || fail "one exchange of all: $(spans by-whole.jsonl)"
[ "$(spans by-parts.jsonl)" -eq 6 ] && pass "costly bytes: two exchanges of parts" || fail "two exchanges of parts: $(spans by-parts.jsonl)"
for name in by-whole by-parts by-probe; do
    same usual/out.npy $name/out.npy "$name: the same bits"
done

# ---- sums are sent together ----
cat >several.tsr <<'END_TSR'
from tessera import *

data = mesh(4, "dp")


def summed(x, y):
    return all_reduce(x, "dp"), all_reduce(y, "dp"), all_reduce(x * y, "dp")


@cases(case("small", N=100))
@kernel
def several_sums(x: Tensor["4", "N", f32], y: Tensor["4", "N", f32]) -> tuple[Tensor["1", "N", f32], Tensor["1", "N", f32], Tensor["1", "N", f32]]:
    return shard_map(summed, data, "dp", (None, None, None))(x, y)
END_TSR
for bucket in "0 B" "896 B" "2 KiB"; do
    name=together-${bucket%% *}
    printf 'schema: tsr.policy/1\ncomm: {bucket: %s}\nprofiling: {level: launches, spans: %s.jsonl}\n' "$bucket" "$name" >bucket.yaml
    exits 0 "sums in buckets of $bucket" "$tsr" run several.tsr --case small --steps 1 --ranks 2 --policy bucket.yaml --out "$name"
    cat "$name"/*.npy >"$name.all"
done
[ "$(spans together-0.jsonl)" -eq 6 ] && pass "each sum by itself: three exchanges on two ranks" || fail "each sum by itself: $(spans together-0.jsonl)"
[ "$(spans together-896.jsonl)" -eq 4 ] && pass "two sums of 448 bytes together, and the third" || fail "two together: $(spans together-896.jsonl)"
[ "$(spans together-2.jsonl)" -eq 2 ] && pass "all three together" || fail "all three together: $(spans together-2.jsonl)"
same together-0.all together-896.all "the same bits"
same together-0.all together-2.all "in each of them"
printf 'schema: tsr.policy/1\ncomm: {model: parts.yaml}\nprofiling: {level: launches, spans: policy.jsonl}\n' >policy.yaml
exits 0 "the model of a policy" "$tsr" run sums.tsr --case small --steps 1 --ranks 3 --policy policy.yaml --out policy
[ "$(spans policy.jsonl)" -eq 6 ] && pass "is taken" || fail "is taken: $(spans policy.jsonl)"
for model in whole parts; do
    exits 0 "collectives of the corpus by $model" env TESSERA_COMM_MODEL=$model.yaml "$tsr" bench "$root/corpus/collectives/collectives.tsr" sums.tsr \
        --backend cpu --threads 1 --ranks 3 --transport threads --quick --export json=$model.json
done
cat >equal.py <<'END_PYTHON'
import json
def of(name):
    return {(r["kernel"], r["case"], r["ranks"], r["transport"]): (r["status"], r["check"]["bitwise"], r["check"]["sha256"]) for r in json.load(open(name))["results"]}
whole, parts = of("whole.json"), of("parts.json")
assert whole == parts and all(status == "ok" and bitwise for status, bitwise, _ in whole.values())
END_PYTHON
exits 0 "have the same bits as by the other" /usr/bin/python3 equal.py

# ---- what is wrong ----
refused() { # BODY PLACE-AND-WORDS NAME
    printf "$1" >wrong.yaml
    exits 3 "$3" env TESSERA_COMM_MODEL=wrong.yaml "$tsr" bench sums.tsr --ranks 2
    has err "^tsr: wrong.yaml:$2" "is told at its place"
}
fit='transport: shm, ranks: 2, alpha_ns: 1, message_ns: 0, byte_ns: 1, contention_ns: 0, sum_ns: 0'
refused 'schema: tsr.comm/2\n' '1:1: schema .*tsr.comm/1' "another schema"
refused "schema: tsr.comm/1\nfits:\n- {$fit, speed: 3}\n" '3:.*fits.0.speed is no key' "an unknown key"
refused "schema: tsr.comm/1\nfits:\n- {${fit/byte_ns: 1/byte_ns: -1}}\n" '3:.*fits.0.byte_ns wants a number from 0 on, not -1' "a negative number"
refused "schema: tsr.comm/1\nfits:\n- {${fit/shm/pigeons}}\n" '3:.*fits.0.transport wants threads, shm, ucx or mpi, not "pigeons"' "another transport"
refused "schema: tsr.comm/1\nfits:\n- {transport: shm, ranks: 2}\n" '3:3: fits.0 has no "alpha_ns"' "a number that lacks"
refused 'schema: tsr.comm/1\nfits: []\n' '2:1: fits wants a list' "no fits"
# ---- a topology ----
pod=$root/docs/examples/dgx-h100-pod.yaml
exits 0 "a pod of 256 GPUs" "$tsr" comm --simulate "$pod" --json
cp out pod.json
exits 0 "its first 8 and 16" "$tsr" comm --simulate "$pod" --ranks 8,16 --sizes 8B,8GiB --json
cp out nodes.json
exits 0 "processes of a machine" "$tsr" comm --simulate "$root/docs/examples/cpu-2-cores.yaml" --ranks 4 --sizes 8B,1MiB
has out "^all_reduce +4 +8  \\*whole .* us .* GB/s  parts" "small sums are added whole"
has out "^all_reduce +4 +1048576  whole .*  \\*parts" "large ones in parts"
sed 's/ranks: 256}/ranks: 4096}/; s/ranks: 256,/ranks: 4096,/' "$pod" >large.yaml
exits 0 "4096 ranks" "$tsr" comm --simulate large.yaml --sizes 1MiB
has out "^all_to_all +4096 +1048576  \\*direct" "have an operation"
exits 0 "a plan" "$tsr" comm --simulate "$pod" --plan "$root/corpus/models/sharded.tsr:gpt_step_sharded" --case small --layout dp=4,tp=2 --json
cp out plan.json
cat >simulated.py <<'END_PYTHON'
import json, sys
root = sys.argv[1]
documents = {name: json.load(open(name + ".json")) for name in ("pod", "nodes", "plan")}
try:
    import jsonschema
    for document in documents.values():
        jsonschema.validate(document, json.load(open(root + "/docs/simulation.schema.json")))
    import yaml
    for name in ("dgx-h100-pod", "cpu-2-cores"):
        jsonschema.validate(yaml.safe_load(open(f"{root}/docs/examples/{name}.yaml")), json.load(open(root + "/docs/topology.schema.json")))
except ImportError:
    pass
def of(name, operation, ranks, size, way):
    (one,) = [o for o in documents[name]["operations"] if (o["operation"], o["ranks"], o["bytes"]) == (operation, ranks, size)]
    return next(w for w in one["ways"] if w["name"] == way)
# Published: NCCL's ring on 8 H100 behind NVSwitch, 368.76 and 370 GB/s; 46 to 48 a NIC of 400 Gb/s, of which a node has 8 (docs/comm.md).
assert abs(of("nodes", "all_reduce", 8, 8 << 30, "ring")["bus_gbps"] / 369 - 1) < 0.02
assert 8 * 46 < of("nodes", "all_reduce", 16, 8 << 30, "ring")["bus_gbps"] < 8 * 48
for one in documents["pod"]["operations"]:
    ours = {w["name"]: w["ns"] for w in one["ways"] if w["ours"]}
    assert ours[one["chosen"]] == min(ours.values()), one
plan = documents["plan"]["plan"]
axes = {axis["axis"]: axis for axis in plan["axes"]}
assert set(axes) == {"dp", "tp"} and axes["dp"]["ranks"] == 4 and axes["tp"]["ranks"] == 2, axes
assert plan["ranks"] == 8 and abs(sum(axis["ns"] for axis in axes.values()) / plan["ns"] - 1) < 1e-9
assert all(axis["sent_bytes"] > 0 and axis["exchanges"] > 0 for axis in axes.values()) and plan["memory"]["inputs_bytes"] > 0
END_PYTHON
exits 0 "schemas, published numbers, the choice and the plan hold" /usr/bin/python3 simulated.py "$root"
exits 0 "sums of a plan" "$tsr" comm --simulate "$pod" --plan sums.tsr:sums_over_shards --case larger --layout dp=4
has out "dp +4 ranks +2 exchanges" "are two exchanges"
has out " 0.052 MiB sent by a rank" "of 3/4 of 36 kB, twice, rounded to 16 elements"

# ---- a rank that keeps its part of a sum makes no other ----
cat >kept.tsr <<'END_TSR'
from tessera import *

data = mesh(4, "dp")
rows = sharding(data, "dp")


def summed(x):
    return all_reduce(x, "dp") / axis_size("dp")


@cases(case("small", N=3000))
@kernel
def kept_rows(x: Tensor["16*N", f32], w: Tensor["4*N", f32] @ rows) -> Tensor["4*N", f32] @ rows:
    return w - shard_map(summed, data, "dp", None)(x)
END_TSR
exits 0 "a plan of it" "$tsr" comm --simulate "$pod" --plan kept.tsr:kept_rows --layout dp=4
has out "dp +4 ranks +1 exchanges +0.034 MiB" "has one exchange, of three parts of four"
for count in 1 3 4; do
    exits 0 "kept rows on $count ranks" "$tsr" run kept.tsr --case small --steps 1 --ranks $count --out "kept-$count"
    same kept-1/out.npy "kept-$count/out.npy" "have the same bits"
done

refuse_topology() { # PLACE-AND-WORDS NAME SED-SCRIPT
    sed "$3" "$pod" >bad.yaml
    exits 3 "$2" "$tsr" comm --simulate bad.yaml
    has err "^tsr: bad.yaml:$1" "is told at its place"
}
refuse_topology '8:12: links.nvlink.latency wants a time from 0 on, .*, not "-500 ns"' "a negative number" 's/500 ns/-500 ns/'
refuse_topology '8:29: links.nvlink.bandwidth wants a bandwidth above 0, .*, not "0 GB/s"' "no bandwidth" 's/370 GB/0 GB/'
refuse_topology '8:[0-9]*: links.nvlink.colour is no key of a link' "an unknown key" 's/500 ns/500 ns, colour: red/'
refuse_topology '14:[0-9]*: levels.0.path wants the links .*: its ranks have none' "ranks without a link" 's/path: .nvlink./path: []/'
refuse_topology '14:[0-9]*: levels.0.path.0 names no link: "nvlinks"' "a link that is not there" 's/path: .nvlink./path: [nvlinks]/'
refuse_topology '15:[0-9]*: levels.1.path.1 passes pcie twice' "a circle" 's/path: .pcie, nic/path: [pcie, pcie, nic/'
refuse_topology '15:[0-9]*: levels.1.ranks wants a multiple of the level before, and more: 255 of 8' "levels that do not nest" 's/ranks: 256, path/ranks: 255, path/'
refuse_topology '12:[0-9]*: links.spine is on no path' "a link without use" 's/, spine]/]/'
refuse_topology '11:[0-9]*: links.leaf.ranks wants a divisor of all ranks: 7 of 256' "instances that are not whole" 's/ranks: 8} # of/ranks: 7} # of/'
exits 2 "more ranks than there are" "$tsr" comm --simulate "$pod" --ranks 512
exits 2 "half a node and more" "$tsr" comm --simulate "$pod" --ranks 12
has err "12 ranks are no whole number of 'node', of 8 ranks each" "says why"
exits 2 "a plan without a layout" "$tsr" comm --simulate "$pod" --plan sums.tsr:sums_over_shards
exits 3 "an axis that the program has not" "$tsr" comm --simulate "$pod" --plan sums.tsr:sums_over_shards --layout tp=2
exits 2 "an option of the other" "$tsr" comm --probe --layout dp=2
exits 2 "nothing to do" "$tsr" comm
has err "probe" "says what there is"
exits 2 "one rank" "$tsr" comm --probe --ranks 1
exits 2 "an unknown transport" "$tsr" comm --probe --transport pigeons
finish
