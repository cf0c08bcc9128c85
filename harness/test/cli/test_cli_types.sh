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
exits 3 "bytes that could be either 8-bit float" "$tsr" diff f8-interp/*.npy e4/*.npy
exits 1 "are compared as the one that is named" "$tsr" diff --type f8e5m2 f8-interp/*.npy e4/*.npy
exits 0 "and are the same on both backends" "$tsr" diff --type f8e5m2 f8-interp/*.npy f8-cpu/*.npy
exits 3 "as a type that is not there" "$tsr" diff --type f8 f8-interp/*.npy e4/*.npy
has err "no type is called 'f8'; there are f64 f32 tf32" "is told with those that are"
exits 3 "a byte beyond i4" "$tsr" run $source --kernel twice --in x=wide4.npy --out o
has err "wide4.npy: element 2 of type i4 is 8, not between -8 and 7" "is told with its place"
exits 3 "f32 where i4 is expected" "$tsr" run $source --kernel twice --in x=single.npy --out o
exits 3 "bytes where bf16 is expected" "$tsr" run $source --kernel half --case c --in x=float8.npy --out o
exits 0 "f32 where tf32 is expected" "$tsr" run $source --kernel product --in x=single.npy --in y=single.npy --out tf32
exits 0 "is taken as it is" $python -c "
import numpy as np, glob
(path,) = glob.glob('tf32/*.npy')
assert (np.load(path) == np.eye(5)).all()"

exits 0 "a bench of tf32" "$tsr" bench corpus -v --quick --backend cpu --profile strict
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

# NaN, infinities and the ends of every range, through each policy: a defined result, and the same one on both backends.
cat >corpus/types/special.tsr <<'END'
"""Special values."""
from tessera import *


@cases(case("a", N=12))
@kernel
def special(x: Tensor["N", f32]) -> tuple[
    Tensor["N", f8e4m3fn], Tensor["N", f8e5m2], Tensor["N", f8e5m2 @ saturate], Tensor["N", f16 @ saturate @ loss_scale(4)],
    Tensor["N", f8e4m3fn @ stochastic_round(1)], Tensor["N", bf16 @ stochastic_round(1) @ saturate], Tensor["N", i4], Tensor["N", tf32],
]:
    return cast(x, f8e4m3fn), cast(x, f8e5m2), x, x, x, x, cast(x, i4), cast(x, tf32)


@cases(case("a", M=2, K=3, N=4))
@kernel
def scaled(x: Tensor["M", "K", i8], y: Tensor["K", "N", i4], s: Tensor["M", f32], t: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    return scaled_matmul(x, y, s, t)


@cases(case("a"))
@kernel
def fixed(x: Tensor[2147483647, 2147483647, 2147483647, i4]) -> Tensor[2147483647, 2147483647, 2147483647, i4]:
    return x + x


@cases(case("a", A=2147483647, B=2147483647, C=2147483647), case("none", A=2147483647, B=2147483647, C=0))
@kernel
def huge(x: Tensor["A", "B", "C", f8e5m2]) -> Tensor["A", "B", "C", f8e5m2]:
    return x + x
END
source=corpus/types/special.tsr
$python - <<'END'
import numpy as np
bits = [0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x80000000, 1, 0x477fefff, 0x43e88000, 0xc3e80000, 0x7fa00000]
np.save("special.npy", np.array(bits, np.uint32).view(np.float32))
np.save("x.npy", np.array([[1, -128, 3], [0, 127, -5]], np.int8))
np.save("y.npy", np.full((3, 4), -8, np.int8))
np.save("s.npy", np.array([np.inf, np.nan], np.float32))
np.save("t.npy", np.array([0, 1, -np.inf, np.nan], np.float32))
np.save("short.npy", np.zeros(3, np.float32))
END
for backend in interp cpu; do
    exits 0 "special values on $backend" "$tsr" run $source --kernel special --in x=special.npy --out special-$backend \
        --backend $backend
    exits 0 "special scales on $backend" "$tsr" run $source --kernel scaled --in x=x.npy --in y=y.npy --in s=s.npy \
        --in t=t.npy --out scaled-$backend --backend $backend
done
exits 0 "have one result" diff -r special-interp special-cpu
exits 0 "and so have scales" diff -r scaled-interp scaled-cpu
exits 0 "which is the one that is written down" $python -c "
import numpy as np, glob
first, second = (np.load(glob.glob('special-cpu/*' + name + '.npy')[0]).tolist() for name in ('out0', 'out1'))
assert first == [0x7f, 0x7f, 0x7e, 0xfe, 0x7e, 0xfe, 0x80, 0, 0x7e, 0x7e, 0xfe, 0x7f], first
assert second[:7] == [0x7e, 0x7e, 0x7c, 0xfc, 0x7c, 0xfc, 0x80], second"
exits 3 "scales that are too few" "$tsr" run $source --kernel scaled --in x=x.npy --in y=y.npy --in s=s.npy \
    --in t=short.npy --out o
has err "parameter t has shape \[N\], but the array is \[3\]: axis 0 must be N = 4" "are told with both shapes"
exits 3 "a shape beyond any memory" "$tsr" bench corpus/types/special.tsr -v --quick --backend interp,cpu --profile strict
has err '^corpus/types/special.tsr:[0-9]+:[0-9]+: error\[E[0-9]+\]: ' "is an error of its case"
has out '^special/a +cpu .* ok ' "and the others run"
finish
