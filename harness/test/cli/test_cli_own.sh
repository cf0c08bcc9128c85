# test_cli_own.sh - a kernel that somebody just typed: --dims in every command that takes a kernel, tsr new, and compile of a
# whole file.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
export TSR_DB=$scratch/results.db TSR_TUNED=$scratch/tuned.jsonl

cat >my.tsr <<'END'
@kernel
def scale(x: Tensor["M", "N", f32], s: Tensor["M", f32]) -> Tensor["M", "N", f32]:
    return x * s[:, None]
END
cat >several.tsr <<'END'
@kernel
def twice(x: Tensor["N", "T"]) -> Tensor["N", "T"]:
    return x + x


@kernel
def halves(x: Tensor["2*N", f32]) -> Tensor["N", f32]:
    return x[:N] + x[N:]


@cases(case("one", N=3), case("N8", N=9))
@kernel
def thrice(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x + x + x


@kernel
def four(x: Tensor[4, f32]) -> Tensor[4, f32]:
    return x + x


@kernel
def turned(x: Tensor["M", "K", f32], y: Tensor["D2", f32]) -> tuple[Tensor["M", "K", f32], Tensor["D2", f32]]:
    return concat([x[:, 3:], x[:, :3]], axis=1), y + y
END

lists() { # WANTED WHAT: the kernel/case@backend that --list printed
    local names
    names=$(sed 's/,.*//' out | sort | tr '\n' ' ')
    [ "$names" = "$1" ] && pass "$2" || fail "$2: $names"
}

# Without --dims, the line to type.
for command in bench "golden verify" tune "compile --emit tile"; do
    # shellcheck disable=SC2086
    exits 3 "$command without dimensions" "$tsr" $command my.tsr
    has err "^ +tsr ${command% --emit*} my.tsr --dims M=...,N=...$" "says what to type"
done
exits 3 "pack-repro without dimensions" "$tsr" pack-repro scale --case none my.tsr
has err '^ +tsr pack-repro scale my.tsr --dims M=...,N=...$' "says what to type"
exits 3 "a type variable" "$tsr" bench several.tsr --filter twice
has err '^ +tsr bench several.tsr --dims N=...,T=f32$' "is in the line"

# Kernels that are meant, and the name of their case.
exits 0 "all that have these names" "$tsr" bench several.tsr --dims N=8 --backend cpu --threads 1 --list
lists "halves/N8@cpu thrice/N8@cpu " "are those"
has err '^ +tsr bench several.tsr --dims N=8,T=f32$' "and the others are told"
exits 0 "a type" "$tsr" bench several.tsr --dims 'T=bf16, N=8' --backend cpu --threads 1 --list
lists "twice/N8-T_bf16@cpu " "is in the name"
exits 0 "a name that ends in a digit" "$tsr" bench several.tsr --dims D2=7,K=5,M=2 --backend cpu --threads 1 --list
lists "turned/M2-K5-D2_7@cpu " "does not run into its value"
exits 0 "a kernel that has only one case" "$tsr" bench several.tsr --filter four,thrice --backend cpu --threads 1 --list
lists "four/fixed@cpu thrice/N8@cpu thrice/one@cpu " "has it without more"
cat >free.tsr <<'END'
@kernel
def counting() -> Tensor["N", i32]:
    return arange(N)


@kernel
def table(x: Tensor["N", f32]) -> tuple[Tensor["N", "P", f32], Tensor["2*P", f32]]:
    return broadcast_to(x[:, None], (N, P)), zeros((2 * P,), f32)


@kernel
def pair(x: Tensor[2, f32]) -> Tensor[2, f32]:
    return x * x
END
for dims in N=5 N=5,P=3; do
    for how in "" --generic --unoptimised; do
        exits 0 "a dimension of results alone, $dims $how" "$tsr" bench free.tsr --dims $dims --backend cpu --quick --threads 1 $how --json
        [ "$(grep -c '"status": *"ok"' out)" -eq 1 ] && pass "has its kernel" || fail "has its kernel"
    done
done
exits 0 "lint" "$tsr" lint free.tsr --json
has out '"warnings": 2,?$' "knows what has only one case"
long=$($python -c "
names = [c + 'x' * 20 for c in 'abcdef']
shape = ', '.join('\"%s\"' % n for n in names)
print('@kernel\ndef f(x: Tensor[%s, f32]) -> Tensor[%s, f32]:\n    return x + x' % (shape, shape), file=open('long.tsr', 'w'))
print(','.join('%s=2' % n for n in names))")
exits 0 "long names" "$tsr" bench long.tsr --dims "$long" --backend cpu --threads 1 --list
has out '^f/[A-Za-z0-9_-]{51}\.[0-9a-f]{12}@' "are cut"

# Exit code, identifier or word, --dims, file.
while read -r code word dims file; do
    exits "$code" "--dims $dims" "$tsr" bench "$file" --dims "$dims" --list
    has err "$word" "is told why"
    [ -s out ] && fail "and nothing runs" || pass "and nothing runs"
done <<'END'
2 NAME=NUMBER M= my.tsr
2 NAME=NUMBER M=12,N my.tsr
2 NAME=NUMBER M=12,N=x my.tsr
2 NAME=NUMBER M=12,N=-1 my.tsr
2 NAME=NUMBER M=12,,N=1 my.tsr
2 NAME=NUMBER 1M=12 my.tsr
2 NAME=NUMBER N=99999999999999999999 my.tsr
2 twice M=1,M=2 my.tsr
3 --dims.M=12,N=[.]+$ M=12 my.tsr
3 --dims.M=12,N=3$ M=12,N=3,K=4 my.tsr
3 --dims.M=12,N=[.]+$ M=12,K=3 my.tsr
3 E0706 M=12,N=f32 my.tsr
3 E0706 M=12,N=2147483649 my.tsr
3 E0903 M=2147483648,N=2147483648 my.tsr
3 E0705 N=12,T=12 several.tsr
3 E05 M=2,K=2,D2=1 several.tsr
3 nosuch.tsr N=1 nosuch.tsr
END
exits 2 "an empty --dims" "$tsr" bench my.tsr --dims=
exits 3 "a type that the kernel cannot have" "$tsr" bench several.tsr --filter twice --dims N=8,T=bool --list
has err 'error\[E[0-9]+\]' "is a diagnostic"
exits 2 "beside --case" "$tsr" compile my.tsr --dims M=1,N=2 --case one
exits 2 "beside --case, in run" "$tsr" run my.tsr --dims M=1,N=2 --case one --in x.npy --in x.npy
exits 2 "beside --case, in pack-repro" "$tsr" pack-repro scale --dims M=1,N=2 --case one my.tsr
exits 2 "of a result" "$tsr" pack-repro last:scale/M1-N2 --dims M=1,N=2
exits 2 "of random kernels" "$tsr" fuzz --kernels 1 --dims M=1

# A run: stored, gone on with, compared, tuned, gated, packed.
dims=M=16,N=32
quick=(--dims $dims --quick --threads 1)
exits 0 "bench" "$tsr" bench my.tsr --dims $dims --quick --backend cpu,interp --json
cp out first.json
exits 0 "has the case" $python -c "
import json
d = json.load(open('first.json'))
assert sorted((r['kernel'], r['case'], r['backend'], r['status']) for r in d['results']) == [
    ('scale', 'M16-N32', 'cpu', 'ok'), ('scale', 'M16-N32', 'interp', 'ok')], d['results']"
exits 0 "other values" "$tsr" bench my.tsr --dims M=5,N=3 --quick --backend cpu --json
has out '"case": ?"M5-N3"' "are another case"
exits 0 "going on" "$tsr" bench my.tsr "${quick[@]}" --backend cpu --resume
exits 0 "diff of two backends" "$tsr" diff first.json:interp first.json:cpu
exits 0 "tune" "$tsr" tune my.tsr --dims $dims --quick --threads 1 --budget 5
exits 0 "what was found" "$tsr" tune --show scale/M16-N32
exits 2 "gate of two records" "$tsr" gate --baseline file:first.json --against file:first.json --dims $dims
mkdir modules
exits 0 "a module of it" "$tsr" compile my.tsr --dims $dims --no-tuned --threads 1 --emit module -o modules/scale-M16-N32.tsrm
exits 0 "and of another" "$tsr" compile my.tsr --dims M=1,N=2 --threads 1 --emit module -o modules/scale-M1-N2.tsrm
for baseline in modules "$tsr"; do
    exits 0 "gate, baseline ${baseline##*/}" "$tsr" gate --baseline "$baseline" my.tsr --dims $dims --no-timing --json
    has out '"case": ?"M16-N32"' "has the case"
done
exits 0 "golden record" "$tsr" golden record my.tsr --dims $dims --golden golden
[ -e golden/scale/M16-N32.json ] && pass "has a golden for it" || fail "has a golden for it"
exits 0 "golden verify" "$tsr" golden verify my.tsr --dims $dims --golden golden --backend cpu
exits 0 "golden list" "$tsr" golden list my.tsr --dims $dims --golden golden
has out 'present .*scale/M16-N32' "finds it"
exits 0 "random schedules" "$tsr" fuzz --schedules 2 my.tsr --dims $dims
exits 0 "negative controls" "$tsr" bench my.tsr --dims $dims --negative-controls --backend cpu --quick
exits 0 "report" "$tsr" report first.json -o report.html --inspect scale

exits 0 "pack-repro" "$tsr" pack-repro scale --dims $dims my.tsr -o fine.repro.tar.lz4
exits 0 "its replay" "$tsr" replay fine.repro.tar.lz4 --json
has out '"REPRODUCED_EXACT"' "is exact"
exits 0 "pack-repro of a run" "$tsr" pack-repro last:scale/M16-N32 -o again.repro.tar.lz4
exits 1 "a failure" "$tsr" bench my.tsr "${quick[@]}" --backend cpu --inject flip-bit --failures failures
for pack in failures/scale-M16-N32-*.repro.tar.lz4 again.repro.tar.lz4; do
    exits 0 "replay of ${pack%%/*}" "$tsr" replay "$pack"
done
exits 0 "the last failure" "$tsr" pack-repro --last-failure -o failure.repro.tar.lz4
exits 1 "failed ones again" "$tsr" bench my.tsr "${quick[@]}" --backend cpu --inject flip-bit --last-failed
exits 1 "what differs" "$tsr" diff first.json:scale/M16-N32@cpu last:scale/M16-N32@cpu --json
has out '"first"' "is computed again"

# compile: every kernel of a file.
shows() { # WANTED WHAT: the headings that begin with what a comment begins with
    local names
    names=$(grep -E '^(//|#|;) [a-z]+(/|$)' out | tr '\n' ' ')
    [ "$names" = "$1" ] && pass "$2" || fail "$2: $names"
}
exits 3 "a file whose kernels lack cases" "$tsr" compile several.tsr --emit tile
shows "// thrice/one // four/fixed " "shows the others"
exits 0 "compile with dimensions" "$tsr" compile several.tsr --dims N=8 --emit llvm --threads 1
shows "; halves/N8 ; thrice/N8 " "shows those that fit"
exits 0 "one of them" "$tsr" compile several.tsr --dims N=8 --kernel halves --emit asm
shows "" "needs no heading"
exits 0 "a case" "$tsr" compile several.tsr --case N8 --emit tile
exits 3 "a case that none has" "$tsr" compile several.tsr --case nosuch
exits 3 "several into a module" "$tsr" compile several.tsr --dims N=8 --emit module -o o.tsrm
[ -e o.tsrm ] && fail "is refused" || pass "is refused"
exits 0 "one into a module" "$tsr" compile my.tsr --dims $dims --emit module -o my.tsrm
exits 0 "a graph needs no dimensions" "$tsr" compile my.tsr
exits 0 "nor does code for any" "$tsr" compile my.tsr --generic --emit module -o any.tsrm

# A kernel to begin with.
exits 0 "new" "$tsr" new acme --dir made/here
[ "$(cat out)" = made/here/acme.tsr ] && pass "prints the path" || fail "prints the path"
exits 0 "it benches at once" "$tsr" bench made/here/acme.tsr --quick --backend cpu --threads 1 --json
[ "$(grep -c '"status": *"ok"' out)" -eq 3 ] && pass "three cases" || fail "three cases"
exits 0 "and lint has nothing to say" "$tsr" lint made/here/acme.tsr --strict
cp made/here/acme.tsr before
exits 3 "new, again" "$tsr" new acme --dir made/here
same before made/here/acme.tsr "leaves the file alone"
ln -s nowhere.tsr made/here/link.tsr
exits 3 "new over a link" "$tsr" new link --dir made/here
[ -e made/here/nowhere.tsr ] && fail "does not follow it" || pass "does not follow it"
for wrong in 9a a-b ../a a.b '' def "$(printf 'a%.0s' {1..200})" $'a\nb'; do
    exits 2 "new $(printf %q "${wrong:0:8}")" "$tsr" new "$wrong"
done
exits 2 "new without a name" "$tsr" new
exits 2 "new with two" "$tsr" new a b
exits 4 "new below a file" "$tsr" new a --dir my.tsr
[ "$(find . -name '*.tsr' -type f | wc -l)" -eq 5 ] && pass "nothing else was written" || fail "nothing else was written"

# Arrays of one's own, which make the case; no dimensions are typed.
cat >arrays.py <<'END'
import struct
for name, descr, shape, form in (("x", "<f4", (5, 7), "f"), ("s", "<f4", (5,), "f"), ("d", "<f8", (5, 7), "d"), ("short", "<f4", (4,), "f")):
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{count}{form}", *(0.5 + i for i in range(count))))
END
$python arrays.py
own=(my.tsr several.tsr --quick --backend cpu --threads 1)
exits 0 "arrays of one's own" "$tsr" bench "${own[@]}" --inputs x=x.npy --inputs s=s.npy --json
has out '"case": "M5-N7"' "are the case"
has out '"case_key": null' "which is not that of generated inputs"
has out "\"x\": \"[0-9a-f]{64}\"" "and is known by its digests"
has out '"against": "reference"' "and is checked"
exits 0 "of one kernel of several" "$tsr" bench several.tsr --inputs x=s.npy --filter twice --quick --list
has out '^twice/' "is that of --filter"
exits 1 "a failure on them" "$tsr" bench "${own[@]}" --inputs x=x.npy --inputs s=s.npy --inject flip-bit --failures own_packs
mkdir elsewhere && mv own_packs/*.repro.tar.lz4 elsewhere/p.tar.lz4
mv x.npy moved.npy
exits 0 "is replayed without them" "$tsr" replay elsewhere/p.tar.lz4
mv moved.npy x.npy
exits 0 "a pack of them" "$tsr" pack-repro scale --dims M=5,N=7 --inputs x=x.npy --inputs s=s.npy -o own.tar.lz4 my.tsr
exits 0 "holds them" "$tsr" replay own.tar.lz4
exits 4 "a result of them" "$tsr" pack-repro last:scale/M5-N7
has err "--inputs NAME=FILE.npy" "says what to give"
exits 3 "an array too few" "$tsr" bench my.tsr --inputs x=x.npy
exits 3 "an array that is not there" "$tsr" bench my.tsr --inputs x=x.npy --inputs s=absent.npy
has err "s=absent.npy" "is named"
exits 3 "a type that is another" "$tsr" bench my.tsr --inputs x=d.npy --inputs s=s.npy
has err "x of kernel scale is f32, but .*d.npy holds f64" "is told"
exits 3 "shapes that contradict each other" "$tsr" bench my.tsr --inputs x=x.npy --inputs s=short.npy
exits 3 "an array given twice" "$tsr" bench my.tsr --inputs x=x.npy --inputs x=s.npy
exits 3 "kernels that cannot be told apart" "$tsr" bench several.tsr --inputs x=s.npy
has err "several kernels have just these parameters: twice, " "are named"

# The same arrays in one file, beside others; and what is wrong with a file.
cat >tensors.py <<'END'
import json, struct
def write(name, tensors, data, length=None, header=None):
    text = header or json.dumps({key: {"dtype": dtype, "shape": shape, "data_offsets": place} for key, dtype, shape, place in tensors})
    text = text.encode()
    with open(name + ".safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text) if length is None else length) + text + data)
x, s = (struct.pack(f"<{n}f", *(0.5 + i for i in range(n))) for n in (35, 5))
half = struct.pack("<5H", *range(0x3F80, 0x3F85))
good = [("weight", "F8_E8M0", [3], [0, 3]), ("x", "F32", [5, 7], [3, 143]), ("s", "F32", [5], [143, 163]), ("half", "BF16", [5], [163, 173])]
write("good", good, bytes(3) + x + s + half)
write("cut", good, bytes(3) + x)
write("shared", [("x", "F32", [5, 7], [0, 140]), ("s", "F32", [5], [136, 156])], x + s[4:])
write("gap", [("x", "F32", [5, 7], [0, 140]), ("s", "F32", [5], [144, 164])], x + bytes(4) + s)
write("behind", [("x", "F32", [5, 7], [0, 140])], x + b"z")
write("unknown", [("x", "F31", [5, 7], [0, 140])], x)
write("short", [("x", "F32", [5, 8], [0, 140])], x)
write("great", [("x", "F32", [1 << 40, 1 << 40], [0, 140])], x)
write("below", [("x", "F32", [-5, -7], [0, 140])], x)
write("turned", [("x", "F32", [5, 7], [140, 0])], x)
write("long", good, x, length=100_000_001)
write("longer", good, b"", length=1000)
write("twice", [], x, header='{"x": {"dtype": "F32", "shape": [35], "data_offsets": [0, 140]}, "x": 1}')
write("list", [], b"", header="[]")
write("words", [], b"", header="{")
open("tiny.safetensors", "wb").write(b"1234567")
END
$python tensors.py
exits 0 "arrays" "$tsr" bench "${own[@]}" --inputs x=x.npy --inputs s=s.npy --json
grep -E '^ +"(x|s)": "[0-9a-f]{64}"' out >digests
exits 0 "tensors of one file" "$tsr" bench "${own[@]:0:1}" "${own[@]:2}" --inputs good.safetensors --json
grep -E '^ +"(x|s)": "[0-9a-f]{64}"' out >found
same digests found "are the same arrays"
exits 0 "one of a file, by its name there" "$tsr" bench "${own[@]}" --inputs x=x.npy --inputs s=good.safetensors:s --json
grep -E '^ +"(x|s)": "[0-9a-f]{64}"' out >found
same digests found "is the same array"
exits 0 "a type that NumPy lacks" "$tsr" bench several.tsr --filter twice --quick --backend cpu --threads 1 --inputs x=good.safetensors:half --json
has out '"case": "N5-T_bf16"' "is known by the file"
exits 0 "a pack of tensors" "$tsr" pack-repro scale --dims M=5,N=7 --inputs good.safetensors -o tensors.tar.lz4 my.tsr
mv good.safetensors moved.safetensors
exits 0 "holds them" "$tsr" replay tensors.tar.lz4
mv moved.safetensors good.safetensors
while IFS='|' read -r word message; do
    exits 3 "--inputs $word" "$tsr" bench my.tsr --inputs "$word" --inputs s=good.safetensors:s
    has err "$message" "says what is wrong"
done <<'END'
x=cut.safetensors|cut.safetensors: tensor 's' ends at byte 163 of the elements, and the file has 143
x=shared.safetensors|tensors 'x' and 's' share byte 136
x=gap.safetensors|bytes 140 to 144 of the elements, before tensor 's', are of no tensor
x=behind.safetensors|the last 1 bytes are of no tensor
x=unknown.safetensors|tensor 'x': its "dtype" is F31
x=short.safetensors|tensor 'x' has 140 bytes, and its shape of F32 needs 160
x=great.safetensors|tensor 'x': its shape has more than
x=below.safetensors|tensor 'x': an extent of its shape
x=turned.safetensors|tensor 'x': it has no "data_offsets"
x=long.safetensors|a header of 100000001 bytes; at most 100000000
x=longer.safetensors|its header has 1000 bytes, and the file only
x=twice.safetensors|at byte [0-9]+: duplicate object key
x=list.safetensors|is no JSON object
x=words.safetensors|its header is no JSON
x=tiny.safetensors|fewer than 8 bytes
x=good.safetensors:weight|tensor 'weight' is of F8_E8M0, which no kernel takes
x=good.safetensors:X|no tensor 'X' in it; it has weight, x, s, half
x.npy|wants NAME=FILE.npy, NAME=FILE.safetensors:TENSOR or FILE.safetensors
gone.safetensors|no such file
END
exits 3 "a file that lacks one" "$tsr" bench my.tsr --inputs behind.safetensors
finish
