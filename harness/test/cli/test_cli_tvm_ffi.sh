# test_cli_tvm_ffi.sh - --with a shared object that is built with the real TVM FFI: views, tensors, results, and errors.
source "$(dirname "$0")/lib.sh"
if ! command -v tvm-ffi-config >/dev/null; then
    echo "skipped: tvm-ffi-config is not on PATH: pip install apache-tvm-ffi, in a virtual environment, has it"
    exit 77
fi
cxx=$(command -v c++) || { echo "skipped: no C++ compiler"; exit 77; }
libraries=$(tvm-ffi-config --libdir)
# shellcheck disable=SC2046
exits 0 "compiled" "$cxx" -O1 -fPIC -shared $(tvm-ffi-config --cxxflags) "$root/harness/test/cli/implementations/tvm_ffi.cc" -o functions.so \
    $(tvm-ffi-config --ldflags) $(tvm-ffi-config --libs) "-Wl,-rpath,$libraries"
cat >k.tsr <<'END'
from tessera import *


@cases(case("small", M=5, N=7, T=f32), case("none", M=0, N=7, T=f32), case("narrow", M=5, N=7, T=bf16))
@kernel
def twice(x: Tensor["M", "N", "T"]) -> Tensor["M", "N", "T"]:
    """Two times x."""
    return x * 2
END
cat >pick.py <<'END'
import json
for r in json.load(open("out"))["results"]:
    if r["backend"] != "cpu":
        print(f"{r['backend'].split(':')[1]} {r['case']}", r["status"], "bitwise" if r["check"]["bitwise"] else "other", r.get("why"))
END
columns=()
for name in twice strided tensors counted refuses; do
    columns+=(--with "functions.so:$name=twice")
done
exits 1 "all functions of it" "$tsr" bench k.tsr --quick --threads 1 --db r.db --failures packs --json "${columns[@]}"
python3 pick.py >picked
for name in twice strided tensors counted; do
    for case in small none; do
        has picked "^$name $case ok bitwise" "$name of $case"
    done
done
has picked "^twice narrow unsupported .*NotImplementedError: f32 alone" "what it does not take"
has picked "^refuses small error .*ValueError: no such luck" "what it throws"
finish
