# test_cli_lint.sh - tsr lint: every check finds the kernel that is made for it and leaves its neighbour alone; SARIF.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
cp "$root"/harness/test/cli/lint/*.tsr .
sources=(kernel.tsr case.tsr sum.tsr layout.tsr source.tsr misfit.tsr tile.tsr)

exits 1 "kernels with everything" "$tsr" lint "${sources[@]}" --json --export sarif=lint.sarif --export json=again.json
cp out lint.json
exits 0 "each check finds its kernel, and no other" /usr/bin/python3 "$root/harness/test/cli/check_lint.py" \
    "$root/harness/test/schemas" lint.json lint.sarif "${sources[@]}"
same lint.json again.json "the export is the document"
exits 1 "the same for people" "$tsr" lint "${sources[@]}"
has out '^kernel.tsr:[0-9]+:5: warning: .*ignoring.*other.* \[unused-parameter\]$' "a place and a name"
has out '^   [0-9]+ \|     other: Tensor' "the line"
has out '^      \|     \^~~~~$' "carets"
has out '^      = help: Remove it, or use it' "and what to do"
has out '^source.tsr:9:13: error\[E0301\]: ' "the compiler's own"
has out "^      = help: did you mean 'softmax'" "with its help"
has out '^[0-9]+ kernels with [0-9]+ cases in 7 files: 5 errors, [0-9]+ warnings, 9 notes' "a sum"
hasnt out $'\x1b' "no colour in a file"
exits 1 "with colour" "$tsr" lint source.tsr --color always
has out $'\x1b\\[1;31merror' "errors are red"

exits 0 "warnings alone" "$tsr" lint sum.tsr
exits 1 "under --strict" "$tsr" lint sum.tsr --strict
exits 0 "notes under --strict" "$tsr" lint layout.tsr --strict --json
/usr/bin/python3 -c 'import json; assert json.load(open("out"))["summary"]["warnings"] == 0' ||
    fail "layout.tsr has no warning"
exits 0 "the corpus under --strict" "$tsr" lint "$root/corpus" --strict
has out " 0 errors, 0 warnings" "has nothing to complain of"

# Warnings that depend on this machine: the size of its second cache, and the code for its registers.
size=$("$tsr" devices --json | /usr/bin/python3 -c '
import json, sys
caches = {c["level"]: c["bytes"] for c in json.load(sys.stdin)["host"]["caches"]}
print(caches["L2"])')
cat >edge.tsr <<END
"""About the size of a cache."""
from tessera import *


@cases(
    case("prime", N=13),
    case("above", N=$((size / 8 + 100)), large=True),
    case("within", N=$((size / 8 - 100)), large=True),
    case("beyond", N=$((size / 8 * 2)), large=True),
)
@kernel
def negated(x: Tensor["N", f32]) -> Tensor["N", f32]:
    """Two tensors."""
    return -x
END
exits 0 "sizes about a cache" "$tsr" lint edge.tsr
has out '^edge.tsr:7:.*note: case above has .* L2 holds .*\[cache-edge\]' "the one just above is found"
[ "$(grep -c cache-edge out)" -eq 1 ] && pass "and no other" || fail "and no other"
exits 0 "machine code" "$tsr" lint "$root/corpus/types/float8.tsr" "$root/corpus/elementwise/saxpy.tsr" --code
has out 'float8.tsr:.* of [0-9]+ instructions of case prime read or write the stack \[stack-traffic\]' "spills are found"
hasnt out 'saxpy.tsr:.*stack-traffic' "and not where there are none"
exits 0 "without --code" "$tsr" lint "$root/corpus/types/float8.tsr"
hasnt out 'stack-traffic' "nothing is compiled"

exits 0 "a case of --dims" "$tsr" lint edge.tsr --dims N=4096
has out '^1 kernel with 1 case in 1 file' "takes the place of those of the source"
hasnt out 'cache-edge|-case\]' "which are not looked at, and not asked for"
exits 1 "a dimension that is too large" "$tsr" lint edge.tsr --dims N=1099511627776
has out 'E0706' "is found"
exits 2 "names that no kernel has" "$tsr" lint edge.tsr --dims M=4
has err '^    tsr lint edge.tsr --dims N=\.\.\.$' "says what to type, on a line of its own"
exits 2 "--dims without a value" "$tsr" lint edge.tsr --dims N

exits 1 "under GitHub Actions" env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$scratch/summary.md" "$tsr" lint "${sources[@]}" --json
has err '^::error file=source.tsr,line=9,col=13,title=E0301::' "errors are annotated"
has err '^::warning file=kernel.tsr,line=6,col=5,title=no-case::' "and warnings"
[ "$(grep -c '^::' err)" -eq 10 ] && pass "ten at most" || fail "ten at most"
has summary.md '^\| case.tsr:[0-9]+ \| error \| too-big \|' "and summed up"
/usr/bin/python3 -m json.tool out /dev/null && pass "the document stays one" || fail "the document stays one"

exits 0 "the page of checks" "$tsr" lint --markdown
same out "$root/docs/lint.md" "is docs/lint.md"
exits 3 "a path that is not there" "$tsr" lint nowhere.tsr
mkdir empty
exits 3 "a folder without kernels" "$tsr" lint empty
exits 2 "a format that has no findings" "$tsr" lint sum.tsr --export csv=x
has err 'formats here: json, sarif' "names those that have"
exits 3 "a file that cannot be" "$tsr" lint sum.tsr --export sarif=nowhere/x
finish
