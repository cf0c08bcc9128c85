# test_cli_build.sh - which build it is: what the linker says, what packs say of it, and the commit that a build states.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE

exits 0 "the version" "$tsr" --version
has out "^commit ([0-9a-f]{12}(-dirty)?|unknown)$" "has the commit"
has out "^build $(readelf -n "$tsr" | sed -n 's/.*Build ID: //p')$" "and the linker's build id"
another_build ./other
exits 0 "a build of the same commit" ./other --version
hasnt out "^build $("$tsr" --version | sed -n 's/^build //p')$" "is another one"

small_corpus
exits 0 "a pack" "$tsr" pack-repro product --case exact corpus --backend cpu --profile strict
pack=$(grep -o '[^ ]*\.repro\.tar\.lz4' out | head -n 1)
exits 0 "here" "$tsr" replay "$pack" --json
hasnt out "toolchain-drift" "it is of this build"
exits 0 "in another build" ./other replay "$pack" --json
has out "toolchain-drift" "it is not"

# The commit, as commit.cmake states it of a repository in ./place.
states() { # COMMIT WHAT
    cmake -DOUTPUT="$scratch/commit.c" -DROOT="$scratch/place" -P "$root/harness/common/commit.cmake" >out 2>err
    has commit.c "\"$1\";" "$2"
}
mkdir -p place/runtime && echo one >place/runtime/file.c && echo page >place/page
states unknown "no repository"
(cd place && git init -q && git add -A && git commit -qm one)
head=$(git -C place rev-parse --short=12 HEAD)
states "$head" "a commit"
touch -d 2001-01-01 commit.c
states "$head" "the same again"
[ "$(date -r commit.c +%Y)" = 2001 ] && pass "writes no file" || fail "writes no file"
echo more >>place/page
states "$head" "a page is no source"
echo two >place/runtime/file.c
states "$head-dirty" "a source that was changed"
(cd place && git commit -qam two)
states "$(git -C place rev-parse --short=12 HEAD)" "the next commit"
echo new >place/runtime/new.c
states "$(git -C place rev-parse --short=12 HEAD)-dirty" "a source that git does not know"
mkdir -p place/vendored/runtime
cmake -DOUTPUT="$scratch/commit.c" -DROOT="$scratch/place/vendored" -P "$root/harness/common/commit.cmake" >out 2>err
has commit.c '"unknown";' "another project's repository says nothing"
finish
