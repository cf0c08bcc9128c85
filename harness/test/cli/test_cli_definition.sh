# test_cli_definition.sh - files of flashinfer-bench: a Definition becomes a kernel without a formula, its Workloads cases, its
# reference and a Solution code of others.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
for python in /usr/bin/python3 python3; do
    "$python" -c "import numpy" 2>/dev/null && break
done
export TESSERA_PYTHON=$python
"$python" - <<'END'
import json
axes = {"rows": {"type": "var"}, "hidden": {"type": "const", "value": 24}}
matrix = {"shape": ["rows", "hidden"], "dtype": "float32"}
reference = """import numpy

def run(x, weight, eps):
    mean = (x * x).mean(-1, keepdims=True)
    return {"out": x / numpy.sqrt(mean + numpy.float32(eps)) * weight, "count": len(x)}
"""
definition = {
    "name": "rms-norm.h24", "op_type": "rmsnorm", "description": 'Says "RMS".', "axes": axes,
    "inputs": {"x": matrix, "weight": {"shape": ["hidden"], "dtype": "float32"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"out": matrix, "count": {"shape": None, "dtype": "int32"}}, "reference": reference,
}
def write(name, content):
    with open(name, "w") as out:
        out.write(content if isinstance(content, str) else json.dumps(content))
write("definition.json", definition)
write("two.json", {**definition, "inputs": {"x": {"shape": ["rows"], "dtype": "float4_e2m1"}}})
write("axis.json", {**definition, "axes": {**axes, "rows": {"type": "some"}}})
def workload(uuid, rows, weight):
    inputs = {"x": {"type": "random"}, "weight": weight, "eps": {"type": "scalar", "value": 1e-6}}
    return json.dumps({"definition": "rms-norm.h24", "workload": {"uuid": uuid, "axes": {"rows": rows}, "inputs": inputs},
                       "solution": None, "evaluation": None}) + "\n"
from_file = {"type": "safetensors", "path": "w.safetensors", "tensor_key": "w"}
other = json.dumps({"definition": "another", "workload": {"uuid": "x", "axes": {}, "inputs": {}}}) + "\n"
write("workloads.jsonl", workload("6120f144-b973-4bd9", 5, {"type": "random"}) + other + workload("second", 9, from_file))
write("bad.jsonl", '{"workload": {}}\n[]\n')
write("list.jsonl", '{"workload": {"uuid": "x", "axes": {}, "inputs": ["x"]}}\n')
main = """from parts.helper import scale  # \u00e9 \U0001f600

def run(x, weight, eps, out, count):
    import inspect
    assert "def scale" in inspect.getsource(scale)
    out[:] = scale(x, eps) * weight
    count[...] = len(x)
"""
helper = "import numpy\n\ndef scale(x, eps):\n    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + numpy.float32(eps))\n"
spec = {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run", "destination_passing_style": True}
solution = {"name": "mine v1", "definition": "rms-norm.h24", "author": "me", "spec": spec,
            "sources": [{"path": "main.py", "content": main}, {"path": "parts/helper.py", "content": helper}]}
write("solution.json", solution)
write("cuda.json", {**solution, "spec": {**spec, "language": "cuda"}})
END

exits 0 "a Definition, Workloads, a Solution" "$tsr" new --from definition.json --from workloads.jsonl --from solution.json --dir made
has err "second: 'weight' is safetensors w.safetensors there, and generated here" "what is not taken over is said"
has err "^now: tsr bench made/rms_norm_h24.tsr --with made/rms_norm_h24_reference.py --with made/rms_norm_h24_mine_v1.py" "what to do with them"
has made/rms_norm_h24.tsr 'case\("6120f144-b973-4bd9", rows=5, eps=constant\(' "a workload is a case"
has made/rms_norm_h24.tsr 'x: Tensor\["rows", 24, f32\]' "constant axes are numbers"
has made/rms_norm_h24.tsr 'tuple\[Tensor\["rows", 24, f32\], Tensor\[i32\]\]' "several outputs, and a scalar"
exits 0 "the kernel is one" "$tsr" compile made/rms_norm_h24.tsr --case second
exits 3 "nothing is overwritten" "$tsr" new --from definition.json --dir made
exits 0 "without Workloads, under another name" "$tsr" new --from definition.json norm
has norm.tsr 'case\("small", rows=3\)' "it has cases to begin with"
exits 3 "no Definition" "$tsr" new --from solution.json
exits 3 "two Definitions" "$tsr" new --from definition.json --from definition.json
exits 4 "a type that no kernel has" "$tsr" new --from two.json
exits 3 "an axis of no kind" "$tsr" new --from axis.json
exits 3 "lines of something else" "$tsr" new --from definition.json --from bad.jsonl
has err "bad.jsonl, line 2" "are named"
exits 3 "a list of inputs" "$tsr" new --from definition.json --from list.jsonl
exits 4 "a Solution that is not Python" "$tsr" new --from definition.json --from cuda.json --dir cuda
has err "python and triton are read" "says so"

if [ ! -f "$(dirname "$tsr")/python/tessera/_tessera.abi3.so" ] || ! "$python" -c "import numpy" 2>/dev/null; then
    echo "skipped: running them: NumPy, or the Python package, is missing"
    finish
fi
if "$python" -c "import torch" 2>/dev/null; then
    echo "skipped: running them: this Python has torch, and these functions are NumPy's"
    finish
fi
exits 0 "both run" "$tsr" bench made/rms_norm_h24.tsr --with made/rms_norm_h24_reference.py --with made/rms_norm_h24_mine_v1.py --quick --json
"$python" - <<'END' && pass "the solution has the reference's bits" || fail "the solution has the reference's bits"
import json
results = json.load(open("out"))["results"]
assert len(results) == 4 and {r["status"] for r in results} == {"ok"}
agrees = [r["check"]["agrees"]["bitwise"] for r in results if "mine" in r["backend"]]
assert agrees == [True, True], agrees
END
finish
