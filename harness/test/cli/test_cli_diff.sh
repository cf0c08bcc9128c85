# test_cli_diff.sh - tsr diff: tensors, runs, result files, backends of a run.
source "$(dirname "$0")/lib.sh"

# npy FILE DESCR SHAPE HEX: a .npy file with those bytes as its elements.
npy() {
    /usr/bin/python3 - "$@" <<'END'
import sys
path, descr, shape, elements = sys.argv[1:5]
header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, shape)
header = header.ljust(117).encode() + b"\n"
with open(path, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes.fromhex(elements))
END
}

exits 2 "diff of nothing" "$tsr" diff
exits 2 "diff of one thing" "$tsr" diff a.npy
exits 2 "diff of three things" "$tsr" diff a.npy a.npy a.npy

one=0000803f two=00000040 nan=0000c07f other_nan=0100c07f
npy a.npy "<f4" "2, 3" $one$two$one$two$one$nan
npy same.npy "<f4" "2, 3" $one$two$one$two$one$nan
npy bit.npy "<f4" "2, 3" $one$two$one${two}0100803f$nan
npy payload.npy "<f4" "2, 3" $one$two$one$two$one$other_nan
npy number.npy "<f4" "2, 3" $one$two$one$two$one$one
exits 0 "equal tensors" "$tsr" diff a.npy same.npy
has out "f32 \[2, 3\]: equal, all 6 elements" "equal tensors are said to be"
exits 1 "one bit" "$tsr" diff a.npy bit.npy
has out "1 of 6 elements differ" "how many differ"
has out "first difference at \[1, 1\] \(element 4\): 1 ULP apart" "the first difference has its index"
has out "A +1 +0x3f800000" "A in decimal and hex"
has out "B +1.00000012 +0x3f800001" "B in decimal and hex"
has out "^ +1 +1  #+$" "the histogram has a bar"
exits 0 "NaN equals NaN" "$tsr" diff a.npy payload.npy
has out "1 pair of NaN with other bits" "other NaN payloads are told"
exits 1 "NaN is no number" "$tsr" diff a.npy number.npy
has out "NaN against a number" "NaN against a number is told"

npy shape.npy "<f4" "3, 2" $one$two$one$two$one$nan
npy type.npy "<i4" "2, 3" $one$two$one$two$one$nan
exits 3 "other shapes" "$tsr" diff a.npy shape.npy
has err "a.npy is f32 \[2, 3\], shape.npy is f32 \[3, 2\]" "both shapes are shown"
exits 3 "other types" "$tsr" diff a.npy type.npy
has err "a.npy is f32 \[2, 3\], type.npy is i32 \[2, 3\]" "both types are shown"
exits 3 "a missing file" "$tsr" diff a.npy nosuch.npy
has err "nosuch.npy" "the missing file is named"
head -c 140 a.npy >cut.npy
exits 3 "a truncated file" "$tsr" diff a.npy cut.npy
has err "cut.npy.*24 bytes.*12" "what is missing is told"
exits 3 "a folder" "$tsr" diff a.npy .

npy empty.npy "<f8" "0, 4" ""
exits 0 "empty tensors" "$tsr" diff empty.npy empty.npy
has out "no elements" "an empty tensor is said to be empty"
npy scalar.npy "<f8" "" 9a9999999999f13f
npy scalar2.npy "<f8" "" 9b9999999999f13f
exits 1 "tensors without dimensions" "$tsr" diff scalar.npy scalar2.npy
has out "1.1000000000000001 " "f64 has 17 digits"
npy bf.npy "<u2" "1," 803f
npy bf2.npy "<u2" "1," 813f
exits 1 "u2 is taken as bf16" "$tsr" diff bf.npy bf2.npy
has out "B +1.0078125 +0x3f81" "bf16 has its value"
for type in "<f2" "|i1" "|b1" "<i8"; do
    npy x.npy "$type" "1," 0000000000000000
    npy y.npy "$type" "1," 0100000000000000
    size=${type#??}
    for f in x y; do head -c $((128 + size)) $f.npy >$f$size.npy; done
    exits 0 "equal $type" "$tsr" diff x$size.npy x$size.npy
    exits 1 "unequal $type" "$tsr" diff x$size.npy y$size.npy
done
exits 1 "a document" "$tsr" diff --json a.npy bit.npy
cp out document
exits 0 "the document is one" /usr/bin/python3 -c '
import json
d = json.load(open("document"))
assert d["schema"] == "tsr.diff/1" and d["kind"] == "tensors" and d["equal"] is False
assert d["tensor"]["first"]["index"] == [1, 1] and d["tensor"]["histogram"] == {"1": 1}'
# ---- runs ----
small_corpus
"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --export json=one.json >/dev/null 2>&1
exits 0 "a run and itself" "$tsr" diff last last
has out "8 compared: 0 differ, 8 equal; 0 only in A, 0 only in B" "everything is compared"
exits 0 "a run and the file of its results" "$tsr" diff one.json last
exits 0 "two files of results" "$tsr" diff one.json one.json
exits 0 "two backends that agree" "$tsr" diff last:interp last:cpu
has out "interp,strict,1 \| cpu,strict,1 +equal" "interp is compared with cpu"
exits 5 "no two results of a kind" "$tsr" diff last:interp last
has out "only in B" "what one side lacks is listed"
exits 3 "a run that is not there" "$tsr" diff nosuch last
exits 3 "a case that is not there" "$tsr" diff last:addition/nosuch last
has err "'addition/nosuch'" "it is named"
exits 3 "no database" "$tsr" diff --db nothere.db last last
exits 3 "a run and a tensor" "$tsr" diff a.npy last
has err "only two of a kind" "two kinds are told"
exits 3 "JSON that is no document" bash -c "echo '{}' >no.json; '$tsr' diff no.json last"
exits 3 "a file that is neither" bash -c "echo '%' >no.txt; '$tsr' diff no.txt last"
cp one.json last
exits 3 "a file that is a run, too" "$tsr" diff last last
has err "'last'" "what is ambiguous is told"
rm last

"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --filter product --inject flip-bit@product/tiny \
    --export json=two.json >/dev/null 2>&1
exits 1 "a bit that was flipped" "$tsr" diff last:interp last:cpu
has out "ok -> mismatch" "the status differs"
has out "$differs_first%0 = \"tessera.dot\" \(.*small.tsr:[0-9]+:[0-9]+\)" "the operation is named"
has out "first difference at \[2, 0\] \(element 12\): 1 ULP apart" "its index is"
has out "share of its bound: A [0-9.e-]+, B " "the error against f64 is"
exits 1 "the same of two files" "$tsr" diff one.json two.json
has out "only in A" "coverage is told, too"
exits 1 "one case of it" "$tsr" diff one.json:product/tiny@cpu last:product/tiny@cpu,strict
has out "1 compared: 1 differ" "one case is compared"
exits 1 "as a document" "$tsr" diff --json last:product/tiny@interp last:product/tiny@cpu
cp out document
exits 0 "which names the operation" /usr/bin/python3 -c '
import json
d = json.load(open("document"))
(r,) = d["results"]
assert d["kind"] == "results" and d["equal"] is False and r["bits_equal"] is False
assert r["outputs"][0]["differing"] == 1 and r["outputs"][0]["max_ulp"] == 1
f = r["first_operation"]
assert f["operation"] == "tessera.dot" and f["first"]["index"] == [2, 0]'

"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --filter product/exact --inject drop-last-k >/dev/null 2>&1
exits 1 "an operation that is compiled wrongly" "$tsr" diff last:interp last:cpu
has out "$differs_first%0 = \"tessera.dot\"" "it is found by running it"
hasnt out "run by itself no operation differs" "by itself"

# More than 64 operations.
mkdir long
{
    printf 'from tessera import *\n\n\n@cases(case("c", M=2, N=3, x=integers(1, 3), y=integers(1, 3)))\n@kernel\n'
    printf 'def long(x: Tensor["M", "N", f32], y: Tensor["N", "N", f32]) -> Tensor["M", "N", f32]:\n    z0 = x\n'
    for i in $(seq 30); do echo "    z$i = z$((i - 1)) + x"; done
    echo "    z31 = z30 @ y"
    for i in $(seq 32 70); do echo "    z$i = z$((i - 1)) + z31"; done
    echo "    return z70"
} >long/long.tsr
"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --inject drop-last-k long >/dev/null 2>&1
exits 1 "a long kernel" "$tsr" diff last:interp last:cpu
has out "$differs_first%30 = \"tessera.dot\" \(.*long.tsr:38:.*found by bisection" "its operation is found"

# ---- across: runs of any number of backends in one table ----
exits 0 "a report of goldens" "$tsr" golden record long --golden across_golden
exits 0 "verified elsewhere" "$tsr" golden verify long --backend cpu,ptx-emulated --golden across_golden --json
cp out golden.json
"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --export json=clean.json long >/dev/null 2>&1
"$tsr" bench --quick --backend interp,cpu --threads 1 --profile strict --inject drop-last-k --export json=wrong.json long >/dev/null 2>&1
exits 0 "all of them at once" "$tsr" diff --across clean.json golden.json
has out "^kernel +profile +interp +cpu@.* +ptx-emulated" "a backend of two runs says of which"
hasnt out "/[0-9]+ !" "all bits are equal"
exits 1 "with one that is wrong" "$tsr" diff --across clean.json wrong.json
has out "$differs_first%30 = \"tessera.dot\"" "the operation is found"
exits 1 "as a document" "$tsr" diff --across clean.json wrong.json --json
cp out across.json
exits 0 "has who differs" /usr/bin/python3 -c '
import json
d = json.load(open("across.json"))
assert d["schema"] == "tsr.across/1" and len(d["columns"]) == 4, d["columns"]
assert d["differences"] and all(x["first_operation"] for x in d["differences"]), d["differences"]
assert {c["reference"] for c in d["cases"]} == {"interp@" + d["columns"][0]["run"]}, d["cases"]'
exits 5 "nothing to compare with" "$tsr" diff --across clean.json:interp
exits 2 "of what" "$tsr" diff --across
exits 3 "a tensor" "$tsr" diff --across clean.json a.npy

# Results that crash or hang when they are made again are told.
for fault in crash hang; do
    /usr/bin/python3 - $fault <<'END'
import json, sys
d = json.load(open("two.json"))
for r in d["results"]:
    if r["fault"]:
        r["fault"] = sys.argv[1]
json.dump(d, open("broken.json", "w"))
END
    exits 1 "a $fault" "$tsr" diff --timeout 1 one.json broken.json
done
has out "B.*product on cpu .* 1 s" "a hang is told"
sed -i 's/"hang"/"crash"/' broken.json
exits 1 "a crash again" "$tsr" diff one.json broken.json
has out "B.*product on cpu: .*SIG" "a crash is told"

sed -i 's/return x @ y/return (x @ y) + 1.0/' corpus/small/small.tsr
exits 1 "a source that changed" "$tsr" diff one.json:product/tiny@cpu two.json:product/tiny@cpu
has out "small.tsr .*changed" "is told"
rm -r corpus
exits 1 "a source that is gone" "$tsr" diff one.json:product/tiny@cpu two.json:product/tiny@cpu
has out "corpus.*No such file" "is told"
finish
