# test_cli_diff.sh - tsr diff: tensors, runs, result files, backends of a run.
source "$(dirname "$0")/lib.sh"

# npy FILE DESCR SHAPE HEX: a .npy file with those bytes as its elements.
npy() {
    python3 - "$@" <<'END'
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
exits 0 "the document is one" python3 -c '
import json
d = json.load(open("document"))
assert d["schema"] == "tsr.diff/1" and d["kind"] == "tensors" and d["equal"] is False
assert d["tensor"]["first"]["index"] == [1, 1] and d["tensor"]["histogram"] == {"1": 1}'
finish
