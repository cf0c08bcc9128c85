# test_cli_numerics.sh - @verify.numerics: results that break a promise are a mismatch of their own, with the first element; no golden is
# recorded of them, and tsr check finds them on shapes that are drawn.
source "$(dirname "$0")/lib.sh"

cat >kernels.tsr <<'END'
from tessera import *

LIMIT = 1


@verify.numerics(stable=True, bounded=[-LIMIT, 1])
@cases(case("a", M=100), case("wide", M=100, x=normal(0, 1000)))
@kernel
def kept(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return tanh(x)


@verify.numerics(bounded=[-1, 1.5])
@cases(case("a", M=100))
@kernel
def beyond(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 2.0


@verify.numerics(bounded=[-1000, 1000])
@cases(case("a", M=100, x=special()))
@kernel
def no_number(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 0.0


@verify.numerics(stable=True)
@cases(case("small", M=100), case("great", M=100, x=constant(200)))
@kernel
def overflows(x: Tensor["M", f32]) -> Tensor["M", f32]:
    e = exp(x)
    return e / sum(e)


@verify.numerics(stable=True)
@cases(case("special", M=100, x=special()))
@kernel
def as_infinite_as_f64(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 0.5


@verify.numerics(stable=True)
@cases(case("usual", M=2), case("great", M=2, x=constant(1e30)))
@kernel
def unit(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x / maximum(sqrt(sum(x * x)), 1e-12)


@verify.numerics(stable=True)
@cases(case("great", M=4, x=constant(3e38)))
@kernel
def average(x: Tensor["M", f32]) -> Tensor[f32]:
    return 1.0 / mean(x)


@verify.numerics(stable=True)
@cases(case("hot", M=4, x=constant(200.0)), case("cold", M=4, x=constant(-200.0)))
@kernel
def gate(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return 1.0 / (exp(x) * exp(x))


@verify.numerics(stable=True)
@cases(case("great", M=2, N=8, x=normal(0, 1e30), g=ones(), b=zeros()), case("usual", M=2, N=8))
@kernel
def normalised(x: Tensor["M", "N", f32], g: Tensor["N", f32], b: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    return layernorm(x, g, b)


@cases(case("a", M=100))
@kernel
def says_nothing(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x
END
exits 1 "promises are held to" "$tsr" bench kernels.tsr --backend interp,cpu --profile strict,fast --quick --db r.db --failures packs --json
python3 - >found <<'END'
import json
for r in json.load(open("out"))["results"]:
    print(r["kernel"], r["case"], r["backend"], r["status"], r["check"].get("numerics"), r["why"])
END
while read -r pattern; do
    has found "^$pattern" "$pattern"
done <<'END'
kept a interp ok holds
kept wide cpu ok holds
beyond a interp mismatch violated verify.numerics: output out\[2\] is 2.00800157
beyond a cpu mismatch violated verify.numerics: output out\[2\] is 2.00800157
no_number a cpu mismatch violated verify.numerics: output out.* is nan
overflows small cpu ok holds
overflows great interp mismatch violated verify.numerics: output out\[0\] is nan
overflows great cpu mismatch violated verify.numerics: output out\[0\] is nan
as_infinite_as_f64 special cpu ok holds
unit usual cpu ok holds
unit great interp mismatch violated verify.numerics: on the way 'tessera.mul' in line [0-9]+ gives inf .*; 2 of 2
unit great cpu mismatch violated verify.numerics: on the way
average great cpu mismatch violated verify.numerics: on the way
gate hot cpu mismatch violated verify.numerics: on the way
normalised great cpu mismatch violated verify.numerics: on the way
normalised usual cpu ok holds
says_nothing a cpu ok None
END
hasnt found "beyond a .* (ok|holds)" "what is broken holds nowhere"

exits 1 "goldens" "$tsr" golden record kernels.tsr --golden golden
for kernel in kept beyond overflows unit; do
    ls golden/"$kernel" golden/*/"$kernel" 2>/dev/null
done >recorded
has recorded "^wide.json" "of what holds are recorded"
hasnt recorded "great.json" "of what does not are not"

exits 1 "shapes that are drawn" "$tsr" check kernels.tsr --relation numerics --failures packs
has out "^kept" "are tried"
has out "numerics +holds" "where a promise is kept"
has out "numerics +violated" "and where it is broken"
has out "between the result and the upper bound, 1.5" "which is told"
has out "numerics +not verified: the kernel has no @verify.numerics" "and where there is none"
exits 1 "what overflows on the way to 0" "$tsr" check kernels.tsr --relation numerics --filter average --failures packs
has out "on the way 'tessera.reduce' in line [0-9]+ gives inf" "is told, too"
finish
