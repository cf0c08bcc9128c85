#!/usr/bin/env bash
# test_cli_fallbacks.sh - each backend either has a type or takes one that holds all of its values, under each profile, and its results
# say so: what they say is what its capabilities say.
. "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db LSAN_OPTIONS=suppressions=$root/ci/leaks-of-others POCL_CACHE_DIR=$scratch/pocl
python=/usr/bin/python3

{
    printf 'from tessera import *\n\n\n@cases(\n'
    for type in f64 f32 tf32 f16 bf16 f8e4m3fn f8e5m2 i64 i32 i8 i4 bool; do
        echo "    case(\"$type\", T=$type),"
    done
    cat <<'END'
)
@kernel
def chosen(m: Tensor[40, bool], x: Tensor[40, "T"], y: Tensor[40, "T"]) -> Tensor[40, "T"]:
    return where(m, x, y)


@cases(case("square", M=64, K=64, N=48))
@kernel
def product(x: Tensor["M", "K", tf32], y: Tensor["K", "N", tf32]) -> Tensor["M", "N", tf32]:
    return x @ y


@cases(case("a_row", M=1, K=64, N=48))
@kernel
def row(x: Tensor["M", "K", tf32], y: Tensor["K", "N", tf32]) -> Tensor["M", "N", tf32]:
    return x @ y
END
} >types.tsr

cat >check.py <<'END'
import json, sys
_, backend, profile, unit = sys.argv
(c,) = [b["capabilities"] for b in json.load(open("devices.json"))["backends"] if b["backend"] == backend]
holds = {"f64": 52, "f32": 23, "tf32": 10}  # bits of significands
results = json.load(open("run.json"))["results"]
assert len(results) == 14, [(r["kernel"], r["case"]) for r in results]
for r in results:
    said = {f["type"]: f for f in r["fallbacks"]}
    if backend == "opencl" and r["status"] == "unsupported" and "PoCL up to 3.1" in r["why"]:
        continue
    assert r["status"] == "ok", (r["case"], r["status"], r["why"])
    types = {"bool", r["case"]} if r["kernel"] == "chosen" else {"tf32"}
    on_unit = {"tf32"} if r["kernel"] == "product" and unit == "unit" else set()
    assert set(said) == {t for t in types if c["types"][t] != "native"} - on_unit, (r["kernel"], r["case"], said)
    for t, f in said.items():
        assert (f["as"], f["why"]) == (c["types"][t]["as"], c["types"][t]["why"]) and holds[f["as"]] >= holds[t], f
    if r["kernel"] == "product" and "tf32" in said and c["isa"]:
        assert profile in c["types"]["tf32"]["profiles"] or "+" in c["isa"], (profile, c["types"]["tf32"])
    assert not on_unit or profile not in c["types"]["tf32"]["profiles"], c["types"]["tf32"]
END

# Backend, profile, whether products of tf32 are a matrix unit's, what else is said.
while read -r backend profile unit more; do
    name="$backend $profile $more"
    set -- env TESSERA_SOFTWARE_DEVICES=1 "$tsr"
    "$@" devices --json >devices.json 2>/dev/null
    if ! $python -c "
import json, sys
sys.exit(not [b for b in json.load(open('devices.json'))['backends'] if b['backend'] == '$backend' and b['usable']])"; then
        pass "$name: not here"
        continue
    fi
    # shellcheck disable=SC2086
    exits 0 "$name" "$@" bench types.tsr --quick --backend "$backend" --profile "$profile" $more --json
    cp out run.json
    exits 0 "$name: results say what took the place" $python check.py "$backend" "$profile" "$unit"
done <<'END_OF_ROWS'
interp strict none
cpu strict none
cpu deterministic none
cpu fast none
ptx-emulated strict none
ptx-emulated deterministic unit
ptx-emulated fast unit --isa sm_90a
ptx-emulated deterministic none --isa sm_75
rocm-emulated strict none
rocm-emulated deterministic none
vulkan strict none
vulkan deterministic none
opencl strict none
mlir strict none
END_OF_ROWS

# The module says which units multiply.
exits 0 "a module beyond strict" "$tsr" compile types.tsr --kernel product --isa sm_80 --profile deterministic --emit metadata
has out '"mma.sm80.tf32"' "names its unit"
exits 0 "a strict one" "$tsr" compile types.tsr --kernel product --isa sm_80 --emit metadata
hasnt out "matrix_units" "has none"
finish
