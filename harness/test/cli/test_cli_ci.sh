# test_cli_ci.sh - the pipelines of ci/examples: their shell, taken out of the YAML, gates two commits of a repository.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
    echo "skipped: the example pipelines: python3-yaml is not installed"
    exit 77
fi
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE
here=$scratch # exits leaves out and err in the current folder

for name in github gitlab kernels; do
    exits 0 "$name.yml is sound" /usr/bin/python3 "$root/harness/test/cli/ci_steps.py" "$root/ci/examples/$name.yml" "$here/$name"
    cp out "$here/$name.artifacts"
done
[ "$(ls "$here/github" | wc -l)" -eq 5 ] && pass "five steps of GitHub's" || fail "five steps of GitHub's"

# The action that installs a release, with one that is this program alone.
mkdir -p release/tessera-1/bin runner && ln -s "$tsr" release/tessera-1/bin/tsr
tar -C release -cJf release.tar.xz tessera-1
exits 0 "the action is sound" /usr/bin/python3 "$root/harness/test/cli/ci_steps.py" "$root/ci/examples/install-tessera/action.yml" "$here/action"
install_release() {
    RELEASE=release.tar.xz SHA256=$1 RUNNER_TEMP=$here/runner GITHUB_PATH=$here/path bash -eo pipefail action/install.sh
}
exits 1 "it refuses another sum" install_release "$(sha256sum <action/install.sh | cut -d' ' -f1)"
[ ! -e path ] && pass "and installs nothing" || fail "and installs nothing"
exits 0 "it installs" install_release "$(sha256sum release.tar.xz | cut -d' ' -f1)"

# kernels TEXT SCHEDULE: the next commit.
commit_kernels() {
    mkdir -p corpus
    cat >corpus/product.tsr <<END
"""$1"""
from tessera import *


@schedule($2)
@cases(case("square", M=96, K=96, N=96), case("exact", M=7, K=9, N=5, x=integers(-4, 5), y=integers(-4, 5)))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """A product."""
    return x @ y
END
    git add -A && git commit -qm "$1"
}
git init -q -b main repository && cd repository || exit 1
printf '.tsr/\nbuild/\nout\nerr\n*.xml\n*.json\n*.metrics\n*.html\n*.sarif\n*.md\n' >.gitignore
commit_kernels "One." "tile=(6, 2)"
git checkout -q -b same && commit_kernels "Another text." "tile=(6, 2)"
git checkout -q -b slower main && commit_kernels "Slower." "tile=(1, 1)"

# run_steps NAME: as the runner does: after a failure only what is to run always. The exit code is the job's.
run_steps() {
    local code=0 step
    for step in "$here/$1"/*.sh; do
        if [ "$code" -eq 0 ] || grep -q '^# always' "$step"; then
            env PATH="$PATH:$(cat "$here/path")" BASE=main BUILD="mkdir -p build && ln -sf '$tsr' build/tsr" CORPUS=corpus/ GATE="--quick --threads 1" \
                GITHUB_ACTIONS="$2" GITHUB_STEP_SUMMARY="$PWD/summary.md" bash -eo pipefail "$step" || code=$?
        fi
    done
    return "$code"
}
made() {
    local name missing=
    while read -r name; do
        case $name in
        *\** | .tsr/failures/) ;;
        *) [ -s "$name" ] || missing="$missing $name" ;;
        esac
    done <"$here/$1.artifacts"
    [ -z "$missing" ] && pass "all artifacts of $1 are there" || fail "missing:$missing"
}

for name in github gitlab; do
    git checkout -q same && git clean -qfdx
    exits 0 "$name: a change that changes no code" run_steps $name true
    made $name
    git checkout -q slower && git clean -qfdx
    exits 1 "$name: a change that makes a kernel slower" run_steps $name true
    has err '^::error file=corpus/product.tsr,line=6,title=product/square@cpu%2Cstrict%2C1%3A REGRESSED::' "is annotated"
    has summary.md 'tsr gate: [0-9]+ results, [0-9]+ need attention' "summed up"
    has gate.xml '<failure type="REGRESSED"' "in the JUnit report"
    made $name
    cp gate.json document.json
    exits 0 "a gate's exports" /usr/bin/python3 "$root/harness/test/export/check_exports.py" \
        "$root/harness/test/schemas" document.json json=gate.json junit=gate.xml openmetrics=gate.metrics
    [ $name != github ] || /usr/bin/python3 -m json.tool lint.sarif /dev/null && pass "findings of the lint" ||
        fail "findings of the lint"
    grep -q 'REGRESSED' report.html && pass "and in the page" || fail "and in the page"
done

# With nothing to build: the same program compiles both sides.
git checkout -q slower && git clean -qfdx
exits 1 "kernels: a change that makes a kernel slower" run_steps kernels true
has gate.xml '<failure type="REGRESSED"' "in the JUnit report"
made kernels
cd ..
finish
