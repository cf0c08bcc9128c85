# test_cli_localize.sh - from a failure to one operation: faults made on purpose, each found in its pass and at its line.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

cat >norm.tsr <<'END'
from tessera import *


@cases(case("some", M=5, N=70))
@kernel
def norm(x: Tensor["M", "N", f32], g: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    """Rows without their mean, by a softmax."""
    shifted = x - mean(x, axis=1, keepdims=True)
    weights = softmax(shifted)
    return weights * g


@cases(case("some", T=4, D=70))
@graph("""
"builtin.module"() ({
  "tessera.kernel"() <{inputs = ["x", "h"], name = "turns", outputs = ["y"]}> ({
  ^bb0(%x: tensor<?x?xf32, #tessera.dims<"T", "D">>, %h: tensor<?xf32, #tessera.dims<"D">>):
    %0 = "tessera.loop"(%h, %x) <{carried = 1 : i64, count = #tessera.dim<"T">, sliced = 1 : i64}> ({
    ^bb0(%turn: tensor<i32>, %state: tensor<?xf32, #tessera.dims<"D">>, %row: tensor<?xf32, #tessera.dims<"D">>):
      %1 = "tessera.sub"(%row, %state) : (tensor<?xf32, #tessera.dims<"D">>, tensor<?xf32, #tessera.dims<"D">>) -> tensor<?xf32, #tessera.dims<"D">>
      "tessera.next"(%1) : (tensor<?xf32, #tessera.dims<"D">>) -> ()
    }) : (tensor<?xf32, #tessera.dims<"D">>, tensor<?x?xf32, #tessera.dims<"T", "D">>) -> tensor<?xf32, #tessera.dims<"D">>
    "tessera.return"(%0) : (tensor<?xf32, #tessera.dims<"D">>) -> ()
  }) : () -> ()
}) : () -> ()
""")
@kernel
def turns(x: Tensor["T", "D", f32], h: Tensor["D", f32]) -> Tensor["D", f32]:
    ...
END

# found KERNEL FAULT PROFILE: the case fails with that fault, and what bisecting its pack finds is in ./out, as JSON
found() {
    rm -rf .tsr/failures
    "$tsr" bench norm.tsr --quick --backend cpu --threads 1 --profile "$3" --filter "$1/some" --inject "$2@$1" >/dev/null 2>&1
    exits 0 "$2 in $1, $3" "$tsr" replay .tsr/failures/"$1"-some-*.lz4 --bisect --json
}

# is EXPRESSION WHAT: of b, the finding
is() {
    $python -c "import json; b = json.load(open('out'))['bisect']; assert $1, b" && pass "$2" || fail "$2"
}

found norm swap-operands strict
is "b['place'] == 'pass' and b['pass'] == 'decompose' and b['level'] == 'graph'" "is of the pass decompose"
is "b['operation']['line'] in (8, 9) and b['operation']['name'] in ('tessera.sub', 'tessera.div')" "at the line of an operation with two sides"
is "b['element']['got']['bits'] != b['element']['expected']['bits'] and b['element']['differing'] > 0" "with its first wrong element"

found norm drop-last-k fast
is "b['place'] == 'pass' and b['pass'] == 'fault' and b['level'] == 'tile'" "is made behind all passes, which are right"
is "b['operation']['line'] == 8 and b['operation']['name'] == 'tessera.reduce' and b['operation']['part_of'] == 'tessera.mean'" \
    "in the sum of the mean"

found norm compiler-crash strict
is "b['place'] == 'pass' and b['pass'] == 'tile' and b['operation']['number'] == 1" "is of the pass that died, with one operation"
found norm crash strict
is "b['place'] == 'code' and b['suspects'] == ['code'] and 'element' not in b" "is of no pass"

found turns edge-off-by-one strict
is "b['run']['number'] == 1 and [t['turn'] for t in b['run']['turns']] == [0]" "is in the first turn of a loop"
is "b['element']['got']['bits'] == '0xa5a5a5a5'" "where nothing was written"
found turns zero strict
is "b['place'] == 'program' and 'run' not in b" "is in no kernel of the program, where outputs are spoiled behind it"

# Passes make a fold of a reduction with a block: what its kernels compute is held to it all the same.
rm -rf .tsr/failures
"$tsr" bench "$root/corpus/programs/combine.tsr" --quick --backend cpu --threads 1 --filter greatest/long --inject zero@greatest >/dev/null 2>&1
exits 0 "a program with a fold" "$tsr" replay .tsr/failures/greatest-long-*.lz4 --bisect --json
is "b['place'] == 'program' and 'by itself' in b['why']" "is evaluated, and right"

pack=$(ls .tsr/failures/*.lz4 | head -1)
exits 0 "words for a person" "$tsr" replay "$pack" --bisect
has out "^not known " "say what is not known"
exits 2 "--show runs nothing" "$tsr" replay "$pack" --bisect --show

# The finding goes into a pack that names the one it was made of: the same bytes each time, and the same failure.
rm -rf .tsr/failures
"$tsr" bench norm.tsr --quick --backend cpu --threads 1 --filter norm/some --inject swap-operands@norm >/dev/null 2>&1
pack=$(ls .tsr/failures/*.lz4)
for copy in one two; do
    exits 0 "a pack of the finding" "$tsr" replay "$pack" --bisect -o $copy.lz4
    has out "^pack +$copy.lz4" "is named"
done
same one.lz4 two.lz4 "has the same bytes"
exits 0 "a child" "$tsr" replay one.lz4 --show --json
$python - "$pack" <<'END' && pass "names its parent, and what was found" || fail "names its parent, and what was found"
import json, sys
m = json.load(open("out"))["manifest"]
assert m["parent"] in sys.argv[1] and m["bisect"]["pass"] == "decompose" and m["bisect"]["element"]["got"].startswith("0x"), m
END
exits 0 "a child" "$tsr" replay one.lz4
has out "^REPRODUCED_EXACT" "fails as its parent"
exits 2 "a place without a new pack" "$tsr" replay one.lz4 -o three.lz4

# Held to another golden, the graph is wrong as it is read. The interpreter has passes of derivatives as the compiler does.
mkdir -p golden/transforms/element_gradients
$python - "$root/golden/transforms/element_gradients/one.json" golden/transforms/element_gradients/one.json <<'END'
import json, sys
golden = json.load(open(sys.argv[1]))
for output in golden["outputs"]:
    output["sha256"] = "0123" + output["sha256"][4:]
    output.pop("file", None)
json.dump(golden, open(sys.argv[2], "w"))
END
rm -rf .tsr/failures
"$tsr" bench "$root/corpus/transforms/gradients.tsr" --quick --backend cpu --threads 1 --profile strict --filter element_gradients/one --golden golden >/dev/null 2>&1
pack=$(ls .tsr/failures/*.lz4)
exits 0 "another golden" "$tsr" replay "$pack" --bisect --json
is "b['place'] == 'before' and 'vjp' in b['suspects'] and b['suspects'][-1] == 'inputs'" "suspects what both have"
is "'read' not in b['suspects'] and 'interpreter' not in b['suspects']" "but not what the golden's key and the code's bits speak for"
is "'pass' not in b and 'operation' not in b" "names no pass, and no operation"
exits 0 "words for a person" "$tsr" replay "$pack" --bisect
has out "^pass +none: the graph is wrong as it is read, so .*vjp or .*inputs" "name the suspects"

# A derivative that is none is found by differences of its function: here by a rule that says it is the function's, and is not.
cat >lie.tsr <<'END'
from tessera import *


def cube(x):
    return x * x * x


@cube.vjp
def cube_back(x, y, t):
    return 2.0 * x * x * t


def loss(x):
    return sum(cube(sin(x)))


@cases(case("some", N=7))
@kernel
def slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(loss)(x)
END
exits 0 "a golden of it" "$tsr" golden record lie.tsr --golden lies
$python - lies/slope/some.json <<'END'
import json, sys
golden = json.load(open(sys.argv[1]))
for output in golden["outputs"]:
    output["sha256"] = "0123" + output["sha256"][4:]
    output.pop("file", None)
json.dump(golden, open(sys.argv[1], "w"))
END
rm -rf .tsr/failures
"$tsr" bench lie.tsr --quick --backend cpu --threads 1 --golden lies >/dev/null 2>&1
exits 0 "a rule that lies" "$tsr" replay .tsr/failures/*.lz4 --bisect --json
is "b['place'] == 'pass' and b['pass'] == 'vjp' and 'differences come to' in b['because']" "is of the pass vjp"
is "b['operation']['name'] == 'tessera.vjp' and b['operation']['line'] == 20 and 'suspects' not in b" "at the line of the derivative"

# From a module that the pack has stored.
rm -rf .tsr/failures
"$tsr" bench norm.tsr --quick --backend cpu --threads 1 --filter norm/some --inject swap-operands@norm >/dev/null 2>&1
pack=$(ls .tsr/failures/*.lz4)
for level in graph schedule tile target; do
    exits 0 "from $level" "$tsr" replay "$pack" --from $level
    has out "^REPRODUCED_EXACT .*replayed-from=$level" "is said, and has the same bits"
done
exits 0 "passes behind a level" "$tsr" replay "$pack" --from schedule --bisect --json
is "b['place'] == 'stored' and 'decompose' not in b['suspects'] and b['suspects'][-1] == 'stored'" "are right: it is the module that was stored"
exits 2 "no level" "$tsr" replay "$pack" --from machine
exits 0 "a case of no code" "$tsr" pack-repro norm --case some --backend interp norm.tsr
exits 3 "has no level" "$tsr" replay "$(cat out)" --from tile

# Another build, which does not make the fault: a program in front of this one that leaves it out of each job.
mkdir other
cat >other/tsr <<END
#!$python
import json, os, subprocess, sys
into, out = os.pipe()
os.set_inheritable(into, True)
child = subprocess.Popen(["$tsr", *sys.argv[1:]], close_fds=False, preexec_fn=lambda: (os.dup2(into, 3), os.close(out)))
for line in os.fdopen(3):
    os.write(out, (json.dumps({**json.loads(line), "fault": None}) + "\\n").encode())
os.close(out)
sys.exit(child.wait())
END
chmod +x other/tsr
exits 0 "against another build" "$tsr" replay "$pack" --bisect --against other --json
is "b['against']['differs'] == 'decompose' and b['against']['pass'] == 'decompose'" "finds the pass that differs and matters"
exits 0 "against the same build" "$tsr" replay "$pack" --bisect --against "$tsr" --json
is "b['against']['differs'] is None and 'pass' not in b['against']" "finds none"
exits 0 "against no tsr" "$tsr" replay "$pack" --bisect --against /bin/true --json
is "'why' in b['against']" "says that it lists no passes"
exits 3 "against nothing" "$tsr" replay "$pack" --bisect --against nowhere
exits 2 "against alone" "$tsr" replay "$pack" --against other

# A failure that does not happen any more has no place.
"$tsr" pack-repro norm --case some --backend cpu norm.tsr >out 2>/dev/null
exits 0 "a case that holds" "$tsr" replay "$(cat out)" --bisect --json
$python -c "import json; assert 'bisect' not in json.load(open('out'))" && pass "has nothing to find" || fail "has nothing to find"

finish
