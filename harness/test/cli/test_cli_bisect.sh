# test_cli_bisect.sh - tsr bisect-perf on repositories of its own: the commit is found around builds that fail and
# candidates that cannot be judged, an interrupted search goes on, and nothing of the user's is touched.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export FAKE_GATE_LOG=$scratch/asked
unset GIT_DIR GIT_WORK_TREE
cat >fake_gate <<END
#!/bin/sh
exec /usr/bin/python3 "$root/harness/test/cli/fake_gate.py" "\$@"
END
chmod +x fake_gate
fake=$scratch/fake_gate

# repository NAME SPEED...: a commit for each speed; "broken" does not build.
repository() {
    mkdir "$1" && cd "$1" || exit 1
    git init -q -b main
    printf '.tsr/\nout\nerr\nbuilding\nslow_build\n' >.gitignore
    local number=0
    for speed in "${@:2}"; do
        echo "$speed" >speed
        echo "$number" >number
        echo 'test "$(cat speed)" != broken && mkdir -p build && cp speed build/tsr && chmod +x build/tsr' >build.sh
        git add -A
        git commit -qm "commit $number: $speed"
        number=$((number + 1))
    done
}
hash_of() { git rev-parse "main~$1"; }

repository plain 100 100 100.2 99 100 105 105 106 105
echo "mine" >number
git branch other
before=$(git status --porcelain; git rev-parse HEAD; git branch -a; git worktree list; cat number)
exits 0 "a search" "$tsr" bisect-perf --judge "$fake" main~8 main --case 'k/*' --margin 0.7 -- sh build.sh
has out "^$(hash_of 3) .* commit 5: 105" "finds the commit"
has out '^    bad: k/c is slower' "says why"
has out '^    \+5\.00 % against' "and by how much"
has err 'commits left, about' "and how far it is"
[ "$(wc -l <"$FAKE_GATE_LOG")" -le 4 ] && pass "in as few gates as a binary search needs" || fail "too many gates"
has "$FAKE_GATE_LOG" '--build sh build.sh .*--filter k/\* --margin 0.7$' "the gate is asked for what was asked for"
after=$(git status --porcelain; git rev-parse HEAD; git branch -a; git worktree list; cat number)
[ "$before" = "$after" ] && pass "the user's tree is as it was" || fail "the user's tree is as it was"
[ -z "$(ls .tsr/checkouts 2>/dev/null)" ] && [ ! -e .tsr/bisect.json ] && pass "nothing is left behind" ||
    fail "nothing is left behind"
exits 0 "as JSON" "$tsr" bisect-perf --judge "$fake" main~8 main --json -- sh build.sh
/usr/bin/python3 - "$(hash_of 3)" <<'END' && pass "one document" || fail "one document"
import json, sys
document = json.load(open("out"))
assert document["schema"] == "tsr.bisect/1" and document["first_bad"] == sys.argv[1] == document["suspects"][0]
marks = [c["mark"] for c in document["commits"]]
assert len(marks) == 8 and marks[4] == marks[7] == "bad" and marks[3] == "good" and "skipped" not in marks
END
exits 0 "from a folder below" sh -c 'mkdir -p sub && cd sub && exec "$2" bisect-perf --judge "$1" main~8 main -- sh build.sh' \
    sh "$fake" "$tsr"
has out "^$(hash_of 3) " "finds the same"
exits 5 "a search for nothing" "$tsr" bisect-perf --judge "$fake" main~8 main~5 -- sh build.sh
has err "$(git rev-parse --short=8 main~5)" "names the commit that is no slower"
exits 3 "a commit that is not there" "$tsr" bisect-perf nothing main -- sh build.sh
has err "[^a-z]nothing[^a-z]" "is named"
exits 3 "good and bad exchanged" "$tsr" bisect-perf main main~8 -- sh build.sh
has err 'does not come from' "are told"
exits 3 "one commit" "$tsr" bisect-perf main main -- sh build.sh
exits 2 "too few commits" "$tsr" bisect-perf main
exits 2 "a commit too few before the build" "$tsr" bisect-perf main -- sh build.sh
exits 2 "a build command without --" "$tsr" bisect-perf main~8 main make
has err "behind --" "is told where it stands"
mkdir kernels
exits 0 "paths" "$tsr" bisect-perf --judge "$fake" main~8 main kernels -- sh build.sh
has "$FAKE_GATE_LOG" '--build sh build.sh .*kernels$' "are the gate's"
exits 3 "nothing to go on with" "$tsr" bisect-perf --resume
exits 3 "a build command that is not there" "$tsr" bisect-perf --judge "$fake" main~2 main -- absent-build-program
has err "ended with code 127" "is not taken for a shell that is not there"
cd ..

repository rough 100 broken noise 100 gone later wrong broken 104 broken 104
exits 5 "a search around what cannot be judged" "$tsr" bisect-perf --judge "$fake" main~10 main -- sh build.sh
has out " 3;" "ends with what it could not judge"
has out "^$(hash_of 4) commit 6: wrong" "wrong outputs"
has out "^$(hash_of 3) commit 7: broken" "no build"
has out "^$(hash_of 2) commit 8: 104" "and the first that is slower"
cd ..
repository skips 100 100 broken 104 104 104
exits 5 "where what is left was skipped" "$tsr" bisect-perf --judge "$fake" main~5 main -- sh build.sh
has out 'one of these 2' "the suspects are named"
has out "^$(hash_of 3) commit 2: broken" "the one that does not build"
has out 'does not build' "with its reason"
has out "^$(hash_of 2) commit 3: 104" "and the first that is bad"
cd ..
repository later 100 100 later 104
: >"$FAKE_GATE_LOG"
exits 0 "a candidate that needs more pairs" "$tsr" bisect-perf --judge "$fake" main~3 main -- sh build.sh
has out "^$(hash_of 0) " "is judged in the end"
has "$FAKE_GATE_LOG" ' later .*--pairs 96' "with as many as a gate has"
cd ..
repository crash 100 100 crash 104
exits 3 "a gate that ends without a document" "$tsr" bisect-perf --judge "$fake" main~3 main -- sh build.sh
has err 'ended with code 70' "is no verdict on the commit"
has err 'tsr bisect-perf --resume' "and the search is kept"
sed "s/if speed == \"crash\"/if speed == \"never\"/; s/float(speed if/float(100 if speed == \"crash\" else speed if/" \
    "$root/harness/test/cli/fake_gate.py" >"$scratch/mended.py"
printf '#!/bin/sh\nexec /usr/bin/python3 "%s" "$@"\n' "$scratch/mended.py" >"$scratch/mended"
chmod +x "$scratch/mended"
: >"$FAKE_GATE_LOG"
exits 0 "it goes on" "$tsr" bisect-perf --judge "$scratch/mended" --resume
has out "^$(hash_of 0) " "and finds it"
hasnt "$FAKE_GATE_LOG" " 104 " "without judging again what was judged"
exits 3 "a search that is given up" "$tsr" bisect-perf --judge "$fake" main~3 main -- sh build.sh
[ -n "$(ls .tsr/checkouts)" ] && pass "leaves its checkouts" || fail "leaves its checkouts"
exits 0 "another" "$tsr" bisect-perf --judge "$fake" main~1 main -- sh build.sh
[ -z "$(ls .tsr/checkouts)" ] && pass "takes them away with its own" || fail "takes them away with its own"
cd ..

# Ctrl-C while a candidate is built.
repository slow 100 100 100 105 105
cat >slow_build <<'END'
test -e ../interrupted && sh build.sh && exit
test "$(cat number)" = 4 || test "$(cat number)" = 0 || { touch ../../../building; sleep 20; }
sh build.sh
END
setsid "$tsr" bisect-perf --judge "$fake" main~4 main -- sh "$PWD/slow_build" >out 2>err &
pid=$!
for _ in $(seq 100); do
    [ -e building ] && break
    sleep 0.1
done
kill -INT -- -$pid
code=0
wait $pid || code=$?
[ "$code" -eq 130 ] && pass "an interrupted search ends with 130" || fail "an interrupted search ends with $code"
touch .tsr/interrupted .tsr/checkouts/interrupted
exits 0 "and goes on" "$tsr" bisect-perf --judge "$fake" --resume
has out "^$(hash_of 1) " "to its end"
printf '{"good": 1' >.tsr/bisect.json
exits 3 "a state that is damaged" "$tsr" bisect-perf --resume
cd ..

# A repository of kernels, and the gate itself: the third commit gives a kernel a worse schedule.
mkdir kernels && cd kernels || exit 1
git init -q -b main
printf '.tsr/\nout\nerr\n' >.gitignore
mkdir corpus
source_of() {
    cat <<END
"""$1"""
from tessera import *


@schedule($2)
@cases(case("square", M=96, K=96, N=96))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """A product."""
    return x @ y
END
}
for version in "One.|tile=(6, 2)" "Two.|tile=(6, 2)" "Three.|tile=(1, 1)" "Four.|tile=(1, 1)"; do
    source_of "${version%%|*}" "${version##*|}" >corpus/product.tsr
    git add -A && git commit -qm "${version%%|*}"
done
exits 0 "kernels of a repository, judged by the gate" "$tsr" bisect-perf main~3 main corpus/product.tsr --threads 1
has out "^$(hash_of 1) .*Three\." "the schedule is found"
has out '^    bad: product/square is slower' "by its kernel"
for changed in false true; do
    exits 0 "a run of them, changed: $changed" "$tsr" bench corpus --quick --threads 1 --json
    has out "\"commit\": \"$(git rev-parse HEAD)\"" "says of which commit they are"
    has out "\"repository\": \"$PWD\"" "and of which repository"
    has out "\"changed\": $changed" "and whether they are as there"
    echo "# more" >>corpus/product.tsr
done
cd ..
finish
