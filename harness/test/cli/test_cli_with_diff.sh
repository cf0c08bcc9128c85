# test_cli_with_diff.sh - where the outputs of others differ from ours: their file is run again.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_functions.so
cat >k.tsr <<'K'
from tessera import *


@cases(case("small", M=5, N=7))
@kernel
def twice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Two times x."""
    return x * 2
K
cat >program <<'PYTHON'
#!/usr/bin/python3
import sys, pathlib
inputs, outputs = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
(outputs / "out.npy").write_bytes((inputs / "x.npy").read_bytes())
PYTHON
chmod +x program
cp "$functions" lib.so
export TSR_DB=$scratch/results.db
exits 1 "a run of four columns" "$tsr" bench k.tsr --quick --with lib.so --with lib.so:half_of_it=twice --with program --filter twice \
    --export json=run.json

exits 0 "what agrees with ours" "$tsr" diff last:twice/small@cpu last:twice/small@lib.so
has out "cpu,strict,[0-9]+ \| lib.so,fast.* equal" "though it is held to another profile"
exits 1 "what does not" "$tsr" diff last:twice/small@cpu last:twice/small@lib.so:half_of_it
has out "output out, .*1 of 35 elements differ" "is run again"
has out "first difference at \[4, 6\] \(element 34\)" "and the place is told"
exits 1 "two of others" "$tsr" diff last:lib.so last:program
has out "35 of 35 elements differ" "by their columns alone"
exits 1 "from a file of results" "$tsr" diff run.json:twice/small@cpu run.json:twice/small@lib.so:half_of_it --json
cp out document.json
exits 0 "as a document" /usr/bin/python3 -c '
import json
(r,) = json.load(open("document.json"))["results"]
assert r["b"]["backend"] == "lib.so:half_of_it" and r["outputs"][0]["first"]["index"] == [4, 6], r
assert r.get("first_operation") is None, r'
exits 3 "a column that the run has not" "$tsr" diff last:cpu last:other.so

# The code that ran then is not the code that would run now.
echo >>lib.so
exits 1 "a file that was changed" "$tsr" diff last:cpu last:lib.so:half_of_it
has out "B's tensors cannot be shown: its file .*/lib.so was changed" "is not run"
rm lib.so
exits 1 "a file that is gone" "$tsr" diff last:cpu last:lib.so:half_of_it
has out "B's tensors cannot be shown: its file .*/lib.so is gone" "is named"
finish
