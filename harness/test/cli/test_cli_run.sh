# test_cli_run.sh - tsr run on arrays from NumPy, and tsr compile at every level.
source "$(dirname "$0")/lib.sh"
small_corpus
source=corpus/small/small.tsr
python=/usr/bin/python3

$python - <<'END'
import numpy as np
rng = np.random.default_rng(1)
x = rng.standard_normal((4, 3)).astype(np.float32)
y = rng.standard_normal((3, 5)).astype(np.float32)
np.save("x.npy", x)
np.save("y.npy", y)
np.save("wide.npy", np.zeros((7, 5), np.float32))
np.save("double.npy", x.astype(np.float64))
np.save("flat.npy", x.ravel())
END
for backend in interp cpu; do
    exits 0 "run on $backend" "$tsr" run $source --kernel product --in x=x.npy --in y=y.npy --out $backend \
        --backend $backend
    exits 0 "the product is right" $python -c "
import numpy as np, glob
(path,) = glob.glob('$backend/*.npy')
assert np.allclose(np.load(path), np.load('x.npy') @ np.load('y.npy'), rtol=1e-6)"
done
exits 0 "both have the same bits" diff -r interp cpu
exits 0 "arrays without names go in order" "$tsr" run $source --kernel product --in x.npy --in y.npy --out unnamed
exits 0 "and give the same" diff -r unnamed cpu
exits 3 "shapes that do not fit" "$tsr" run $source --kernel product --in x=x.npy --in y=wide.npy --out o
has err "parameter y has shape \[K, N\], but the array is \[7, 5\]" "are told by name"
exits 3 "ranks that do not fit" "$tsr" run $source --kernel product --in x=flat.npy --in y=y.npy --out o
exits 3 "types that do not fit" "$tsr" run $source --kernel product --in x=double.npy --in y=y.npy --out o
has err "parameter x of kernel product is f32, but double.npy holds f64" "are told by name"
cat >variables.tsr <<'END'
from tessera import *


@kernel
def low_bit(x: Tensor["N", "T"]) -> Tensor["N", "T"]:
    return x & 1


@kernel
def product(x: Tensor["M", "K", "T"], y: Tensor["K", "N", "T"]) -> Tensor["M", "N", i32]:
    return x @ y
END
$python -c "
import numpy as np
np.save('whole.npy', np.arange(5, dtype=np.int32))
np.save('bytes.npy', np.ones((2, 2), np.int8))"
exits 0 "a type variable is what its array holds" "$tsr" run variables.tsr --kernel low_bit --in x=whole.npy --out bits
exits 0 "and the values are right" $python -c "
import numpy as np
assert np.load('bits/out.npy').tolist() == [0, 1, 0, 1, 0]"
exits 0 "of each kernel by itself" "$tsr" run variables.tsr --kernel product --in x=bytes.npy --in y=bytes.npy --out typed
exits 3 "two types for one variable" "$tsr" run variables.tsr --kernel product --in x=bytes.npy --in y=x.npy --out typed
has err "\"T\".*bytes.npy holds i8.*x.npy holds f32" "are told with their arrays"
exits 3 "a type that the kernel does not take" "$tsr" run variables.tsr --kernel low_bit --in x=flat.npy --out typed
has err "E0409" "is a diagnostic of the kernel"
exits 3 "an array of another type than --dims says" "$tsr" run variables.tsr --kernel low_bit --dims T=i32 --in x=flat.npy --out typed

exits 3 "an array that is missing" "$tsr" run $source --kernel product --in x=x.npy --out o
exits 3 "a parameter that is not there" "$tsr" run $source --kernel product --in z=x.npy --in y=y.npy --out o
has err "no parameter z; it has x, y$" "is told with those that are"
exits 3 "a case that is not there" "$tsr" compile $source --kernel product --case nosuch
has err "no case nosuch; it has .*tiny" "is told with those that are"
exits 3 "a parameter that is given twice" "$tsr" run $source --kernel product --in x=x.npy --in x=y.npy --out o
has err "parameter x is given twice: x.npy and y.npy" "is told"
$python - <<'END'
import numpy as np
x = np.load("x.npy")
np.save("fortran.npy", np.asfortranarray(x))
np.save("big.npy", x.astype(">f4"))
np.save("object.npy", np.array([{}], dtype=object))
np.save("empty_rows.npy", np.zeros((0, 3), np.float32))
open("cut.npy", "wb").write(open("x.npy", "rb").read()[:-4])
open("no_array.npy", "wb").write(b"hello")
END
exits 0 "an array in Fortran order" "$tsr" run $source --kernel product --in x=fortran.npy --in y=y.npy --out fortran
exits 0 "is the same array" diff -r fortran cpu
exits 0 "an array without rows" "$tsr" run $source --kernel product --in x=empty_rows.npy --in y=y.npy --out rows
exits 0 "gives none" $python -c "
import numpy as np, glob
(path,) = glob.glob('rows/*.npy')
assert np.load(path).shape == (0, 5)"
for wrong in "big:big endian" "object:not supported" "cut:its shape needs 48 bytes" "no_array:not a .npy file"; do
    exits 3 "an array that cannot be read: ${wrong%%:*}" "$tsr" run $source --kernel product --in x=${wrong%%:*}.npy \
        --in y=y.npy --out o
    has err "${wrong%%:*}.npy.*${wrong#*:}" "is told"
done
exits 3 "a file where the folder should be" "$tsr" run $source --kernel product --in x=x.npy --in y=y.npy --out x.npy
has err "x.npy: it is no folder" "is told"
exits 3 "a file that is not there" "$tsr" run $source --kernel product --in x=no.npy --in y=y.npy --out o
[ ! -e o ] && pass "nothing was written" || fail "nothing was written"

cat > loss.tsr <<'END'
@kernel
def loss(x: Tensor["M", "N", f32], target: Tensor["M", i32]) -> Tensor[f32]:
    return cross_entropy(x, target)
END
$python -c "
import numpy as np
np.save('logits.npy', np.zeros((3, 4), np.float32))
np.save('far.npy', np.array([0, 4, 1], np.int32))
np.save('near.npy', np.array([0, 3, 1], np.int32))"
exits 3 "a target outside its row" "$tsr" run loss.tsr --in x=logits.npy --in target=far.npy --out o
has err "input 'target': element 1 is 4, .* a row of 4" "is told"
exits 0 "targets inside it" "$tsr" run loss.tsr --in x=logits.npy --in target=near.npy --out loss

cat >solved.tsr <<'END'
@kernel
def halves(x: Tensor["2*N", f32], y: Tensor["N + 1", f32]) -> Tensor["N", f32]:
    return x[:N] + x[N:] + y[1:]


@cases(case("five", N=5, P=2))
@kernel
def copies(x: Tensor["N", f32]) -> Tensor["N", "P", f32]:
    return broadcast_to(x[:, None], (N, P))


@kernel
def groups(x: Tensor["G*R", f32], g: Tensor["G", f32]) -> Tensor["G", f32]:
    return sum(reshape(x, (G, R)), axis=1) + g


@kernel
def square(x: Tensor["N*N", f32]) -> Tensor["N", "N", f32]:
    return reshape(x, (N, N))


@kernel
def spread(x: Tensor["N // 2", f32], y: Tensor["(N + 1) // 2", f32]) -> tuple[Tensor["N", f32], Tensor["N // 2", f32]]:
    return zeros((N,), f32), x + x


@kernel
def half(x: Tensor["N // 2", f32]) -> tuple[Tensor["N", f32], Tensor["N // 2", f32]]:
    return zeros((N,), f32), x + x


@kernel
def double(x: Tensor["N", "T"]) -> Tensor["N", "T"]:
    return x + x
END
$python -c "
import numpy as np
for n in range(4, 10):
    np.save('v%d.npy' % n, np.arange(n, dtype=np.float32))
np.save('i5.npy', np.arange(5, dtype=np.int32))
np.save('h5.npy', np.arange(5, dtype=np.uint16))"
for kernel in halves copies groups square spread half; do
    exits 0 "$kernel for any dimensions" "$tsr" compile solved.tsr --kernel $kernel --generic --emit module -o $kernel.tsrm
done

# Exit code, "both" where it holds of a module, too, the word, the kernel, its other arguments.
while read -r code of word kernel arguments; do
    for file in solved.tsr $kernel.tsrm; do
        choice=(--kernel "$kernel")
        [ $file = solved.tsr ] || choice=()
        [ $file = solved.tsr ] || [ "$of" = both ] || continue
        # shellcheck disable=SC2086
        exits "$code" "$kernel of ${file#*.}: $arguments" "$tsr" run $file "${choice[@]}" $arguments --out o-$kernel
        [ "$word" = - ] || has err "$word" "is told why"
    done
done <<'END'
0 both - halves --in v8.npy --in v5.npy
0 both - halves --in v8.npy --in v5.npy --dims N=4
3 both no.N.makes.2.N.=.7 halves --in v7.npy --in v5.npy
3 both axis.0.must.be.N...1.=.5 halves --in v8.npy --in v6.npy
3 both by.--dims halves --in v8.npy --in v5.npy --dims N=3
3 both no.dimension.K.*has.N halves --in v8.npy --in v5.npy --dims K=3
0 both - groups --in v8.npy --in v4.npy
3 both no.R.makes groups --in v9.npy --in v4.npy
3 both --dims.P= copies --in v7.npy
0 both - copies --in v7.npy --dims P=3
0 source - copies --in v5.npy --case five
3 source by.--case copies --in v7.npy --case five
0 both - square --in v9.npy
3 both no.N.makes.N.N.=.8 square --in v8.npy
0 both - square --in v9.npy --dims N=3
0 both - spread --in v4.npy --in v5.npy
0 both - spread --in v4.npy --in v4.npy
3 both no.N.of.8.to.9 spread --in v4.npy --in v6.npy
3 both N.may.be.8.or.9.*--dims.N=8 half --in v4.npy
0 both - half --in v4.npy --dims N=9
3 both =.5,.by.--dims half --in v4.npy --dims N=10
2 both NAME=NUMBER square --in v9.npy --dims N
3 source variable.T square --in v9.npy --dims N=3,T=f32
0 source - double --in i5.npy
0 source - double --in h5.npy --dims T=bf16
3 source is.i64,.but double --in i5.npy --dims T=i64
END
exits 0 "the values" $python -c "
import glob, numpy as np
one = lambda kernel: np.load(*glob.glob('o-%s/*.npy' % kernel))
v = lambda n: np.arange(n, dtype=np.float32)
assert (one('halves') == v(8)[:4] + v(8)[4:] + v(5)[1:]).all()
assert (one('groups') == v(8).reshape(4, 2).sum(1) + v(4)).all()
assert (one('copies') == np.repeat(v(5)[:, None], 2, 1)).all()
assert (one('square') == v(9).reshape(3, 3)).all()"

$python -c "import numpy as np; np.save('v5.npy', np.ones(5, np.float32))"

# Constants of the command line; those of a case count where it is asked for.
cat >constants.tsr <<'END'
from tessera import *


@cases(case("four", N=5, factor=4.0))
@kernel
def times(x: Tensor["N", f32], *, factor: float, shift: float = 1.0) -> Tensor["N", f32]:
    return x * factor + shift
END
while read -r wanted name words; do
    exits 0 "constants: ${words:-none}" "$tsr" run constants.tsr --in v5.npy --out "c-$name" $words
    exits 0 "give $wanted" $python -c "import numpy as np; assert np.load('c-$name/out.npy')[1] == $wanted"
done <<'END'
3 two --constants factor=2.0
2 both --constants factor=2.0,shift=0.0
5 case --case four
6 one --case four --constants shift=2.0
END
exits 3 "a constant without a value" "$tsr" run constants.tsr --in v5.npy --out c-none --constants shift=2.0
has err "E0315" "which is told"

for level in graph schedule tile llvm asm; do
    exits 0 "compile to $level" "$tsr" compile $source --kernel product --emit $level
    has out "." "prints something"
done
exits 0 "compile to an object" "$tsr" compile $source --kernel product --emit obj -o product.o
exits 0 "which is ELF" readelf -h product.o
exits 0 "compile to a module" "$tsr" compile $source --kernel product --emit module -o product.tsrm
has err "product/tiny.* of 2 cases" "which says for which case"
cp product.tsrm first.tsrm
exits 0 "compile again" "$tsr" compile $source --kernel product --emit module -o product.tsrm
same first.tsrm product.tsrm "gives the same bytes"
exits 3 "output where no file can be" "$tsr" compile $source --kernel product --emit obj -o nosuch/dir/x.o
for pass_name in $("$tsr" compile --emit-after list); do
    exits 0 "the IR after $pass_name" "$tsr" compile $source --kernel product --emit-after "$pass_name"
    has out "." "is there"
done

exits 0 "devices" "$tsr" devices
has out "^cpu" "names the cpu"
exits 0 "devices as JSON" "$tsr" devices --json
cp out devices.json
exits 0 "is JSON" $python -m json.tool devices.json
exits 0 "roofline" "$tsr" roofline --quick --threads 1
has out "memory.DRAM.read.t1" "has a memory roof"
exits 0 "roofline as JSON" "$tsr" roofline --quick --threads 1 --json
cp out roofline.json
exits 0 "is JSON, too" $python -m json.tool roofline.json
finish
