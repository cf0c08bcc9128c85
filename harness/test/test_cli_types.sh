# test_cli_types.sh - element types at the edge of the program: arrays of types that NumPy lacks, and what a result says
# of a type that the backend lacks.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3

mkdir -p corpus/types
cat >corpus/types/types.tsr <<'END'
"""Types that NumPy lacks."""
from tessera import *


@cases(case("a", N=5, T=f8e5m2), case("b", N=5, T=f8e4m3fn), case("c", N=5, T=bf16))
@kernel
def half(x: Tensor["N", "T"]) -> Tensor["N", "T"]:
    return x * 0.5


@cases(case("a", N=5))
@kernel
def twice(x: Tensor["N", i4]) -> Tensor["N", i4]:
    return x + x


@cases(case("a", M=5, N=5, K=5))
@kernel
def product(x: Tensor["M", "K", tf32], y: Tensor["K", "N", tf32]) -> Tensor["M", "N", tf32]:
    return x @ y
END
source=corpus/types/types.tsr
$python - <<'END'
import numpy as np
np.save("float8.npy", np.array([0x3c, 0x40, 0x7b, 0xbc, 0x7e], np.uint8))
raw = np.array([0x3c, 0x40, 0x7b, 0xbc, 0x7e], np.uint8).view("V1")
np.save("raw.npy", raw)
np.save("int4.npy", np.array([-8, 7, 3, -1, 0], np.int8))
np.save("wide4.npy", np.array([0, 1, 8, -9, 0], np.int8))
np.save("single.npy", np.eye(5, dtype=np.float32))
END
for backend in interp cpu; do
    exits 0 "f8e5m2 on $backend" "$tsr" run $source --kernel half --case a --in x=float8.npy --out f8-$backend \
        --backend $backend
    exits 0 "is halved" $python -c "
import numpy as np, glob
(path,) = glob.glob('f8-$backend/*.npy')
assert np.load(path).tolist() == [0x38, 0x3c, 0x77, 0xb8, 0x7e]"
    exits 0 "i4 on $backend" "$tsr" run $source --kernel twice --in x=int4.npy --out i4-$backend --backend $backend
    exits 0 "wraps" $python -c "
import numpy as np, glob
(path,) = glob.glob('i4-$backend/*.npy')
assert np.load(path).tolist() == [0, -2, 6, -2, 0]"
done
exits 0 "f8e4m3fn from the same bytes" "$tsr" run $source --kernel half --case b --in x=float8.npy --out e4
exits 0 "is another number" $python -c "
import numpy as np, glob
(path,) = glob.glob('e4/*.npy')
assert np.load(path).tolist() == [0x34, 0x38, 0x73, 0xb4, 0x76]"
exits 0 "raw bytes, as ml_dtypes writes them" "$tsr" run $source --kernel half --case a --in x=raw.npy --out raw
exits 0 "are the same array" diff -r raw f8-cpu
exits 3 "a byte beyond i4" "$tsr" run $source --kernel twice --in x=wide4.npy --out o
has err "wide4.npy: element 2 of type i4 is 8, not between -8 and 7" "is told with its place"
exits 3 "f32 where i4 is expected" "$tsr" run $source --kernel twice --in x=single.npy --out o
exits 3 "bytes where bf16 is expected" "$tsr" run $source --kernel half --case c --in x=float8.npy --out o
exits 0 "f32 where tf32 is expected" "$tsr" run $source --kernel product --in x=single.npy --in y=single.npy --out tf32
exits 0 "is taken as it is" $python -c "
import numpy as np, glob
(path,) = glob.glob('tf32/*.npy')
assert (np.load(path) == np.eye(5)).all()"

exits 0 "a bench of tf32" "$tsr" bench corpus --quick --backend cpu --profile strict
has out "product/a .*same bits; tf32 as f32)" "says in the table what took its place"
exits 0 "in JSON too" "$tsr" bench corpus --quick --backend interp,cpu --profile strict --json
cp out result.json
exits 0 "with the reason, and nothing for types that are there" $python -c "
import json
for r in json.load(open('result.json'))['results']:
    if r['kernel'] == 'product':
        (f,) = r['fallbacks']
        assert (f['type'], f['as']) == ('tf32', 'f32') and 'tf32' in f['why'], f
    else:
        assert r['fallbacks'] == [], r"
finish
