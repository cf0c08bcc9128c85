# test_cli_pytest.sh - the package in pytest: a failure is the smallest example, without frames of ours, and leaves a pack that replays.
source "$(dirname "$0")/lib.sh"
package=$(dirname "$tsr")/python
if [ ! -f "$package/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
for python in python3 /usr/bin/python3; do
    "$python" -c "import pytest" 2>/dev/null && break
done
if ! "$python" -c "import pytest" 2>/dev/null; then
    echo "skipped: no Python here has pytest (python3-pytest)"
    exit 77
fi
export PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1
unset TSR TESSERA_PYTHON PYTEST_ADDOPTS
cat >ones.tsr <<'END_OF_KERNEL'
from tessera import *


@cases(case("small", N=4))
@kernel
def ones_of(x: Tensor["N", f32]) -> Tensor["N", f32]:
    """As many ones."""
    return x - x + 1
END_OF_KERNEL
mkdir lib
cat >lib/mine.py <<'END_OF_FUNCTIONS'
import helper


def right(x):
    return helper.filled(x, 1)


def knows_its_size(x):
    return helper.filled(x, x.shape[0])


def half(x):
    return helper.filled(x, 0.5)


right.tessera_arrays = knows_its_size.tessera_arrays = half.tessera_arrays = "dlpack"
END_OF_FUNCTIONS
cat >lib/helper.py <<'END_OF_FUNCTIONS'
import array


def filled(x, value):
    return array.array("f", [value] * x.shape[0])
END_OF_FUNCTIONS
cat >test_ones.py <<'END_OF_TESTS'
import tessera
import mine


def test_right(tessera_packs):
    assert tessera_packs.is_dir()
    tessera.verify(mine.right, "ones.tsr:ones_of", profile="strict", threads=1)
    tessera.check(mine.right, "ones.tsr:ones_of", relations="batch,poison", shapes=1)


def test_size():
    tessera.check(mine.knows_its_size, "ones.tsr:ones_of", relations=["batch"], shapes=1)


def test_half():
    tessera.verify(mine.half, "ones.tsr:ones_of", threads=1)
END_OF_TESTS
export PYTHONPATH=$package:$PWD/lib
pytest=("$python" -m pytest -p tessera.pytest_plugin)

exits 0 "what holds passes" "${pytest[@]}" -k right
[ -z "$(ls .pytest_cache/d/tessera-packs)" ] && pass "and leaves no pack" || fail "and leaves no pack"
exits 1 "what does not hold fails" "${pytest[@]}" -rf
has out "^=+ 2 failed, 1 passed" "two of three"
has out "^E +out\[0\] is 0x3f800000 \(1.*\) and 0x40000000 \(2|^E +out\[0\] is 0x40000000 \(2.*\) and 0x3f800000 \(1" "both bit patterns, and their values"
has out "^E +with N=2$" "in the smallest shape"
hasnt out "testing\.py|_program\.py|_commands\.py" "no frame of ours"
cp out report
while read -r line; do
    eval "typed=($line)" # as a shell reads it: a path may be quoted
    exits 0 "$(basename "${typed[0]}") happens again" "$tsr" replay "${typed[0]}" --trust
    has out "^REPRODUCED_EXACT" "with equal bits"
    again=$((${again:-0} + 1))
done < <(sed -n 's|^E .* replay \(.*/.pytest_cache/d/tessera-packs/.*\) --trust$|\1|p' report)
[ "${again:-0}" -eq 2 ] && pass "both said what to type" || fail "both said what to type"

exits 1 "a folder that is named" "${pytest[@]}" --tessera-packs=given -k half
[ "$(ls given | wc -l)" -eq 1 ] && pass "has the pack" || fail "has the pack"
exits 1 "without a cache" "${pytest[@]}" -p no:cacheprovider -k half
[ "$(ls .tsr/failures | wc -l)" -eq 1 ] && pass "it is the program's folder" || fail "it is the program's folder"
exits 0 "the option is explained" "${pytest[@]}" --help
has out "tessera-packs=DIR" "in pytest's help"
finish
