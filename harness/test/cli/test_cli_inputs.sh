# test_cli_inputs.sh - wrong input ends with 3 and a message that says what is wrong; a full disk with 4.
source "$(dirname "$0")/lib.sh"

exits 3 "a path that does not exist" "$tsr" bench nosuch
has err "nosuch: No such file" "the missing path is named"
exits 3 "no corpus at all" "$tsr" bench
has err "tsr bench mine.tsr.*tsr new mine" "and what to type is"
mkdir empty
exits 3 "an empty corpus" "$tsr" bench empty
has err "empty holds no .tsr file" "the empty corpus is named"
# Root reads everything, so it becomes nobody for this.
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir locked && chmod 000 locked
chmod 755 .
if "${as_user[@]}" "$tsr" --version >/dev/null 2>&1; then
    exits 3 "an unreadable corpus" "${as_user[@]}" "$tsr" bench locked
    has err "cannot read locked: Permission denied" "is told"
    exits 3 "a database in a place that cannot be read" "${as_user[@]}" "$tsr" log --db locked/x.db
    exits 4 "an export where nothing may be written" "${as_user[@]}" "$tsr" bench empty --export json=/etc/a.json
else
    echo "skipped: an unreadable corpus: no user who cannot read everything"
fi
mkdir -p loop.tsr
exits 3 "a directory that ends in .tsr" "$tsr" bench loop.tsr

cat >nocases.tsr <<'END'
from tessera import *


@kernel
def lonely(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x + x
END
exits 3 "a kernel with no cases" "$tsr" bench nocases.tsr
has err "lonely has no cases" "the kernel with no cases is named"

cat >unknown.tsr <<'END'
from tessera import *


@cases(case("one", N=3))
@kernel
def strange(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return frobnicate(x)
END
exits 3 "an unknown operation" "$tsr" bench unknown.tsr
has err "frobnicate" "the unknown operation is named"
has err "unknown.tsr:7" "the diagnostic says where"
exits 3 "an unknown operation, in compile" "$tsr" compile unknown.tsr
exits 3 "an unknown operation, in golden" "$tsr" golden list unknown.tsr
: >nothing.tsr
exits 3 "an empty source" "$tsr" bench nothing.tsr

small_corpus
exits 3 "no case matches" "$tsr" bench corpus --filter 'nosuch*'
cp unknown.tsr corpus/small/unknown.tsr
exits 3 "one bad source beside good ones" "$tsr" bench corpus -v --backend interp --db one.db
has out "addition/tiny" "the good ones are still run"
rm corpus/small/unknown.tsr
mkdir corpus/twice && cp corpus/small/small.tsr corpus/twice/again.tsr
exits 3 "a kernel that is defined twice" "$tsr" bench corpus --list
has err "addition is defined in" "the kernel that is defined twice is named"
rm -r corpus/twice
exits 3 "several kernels and none chosen" "$tsr" compile corpus/small/small.tsr --emit module -o several.tsrm
exits 3 "a kernel that is not there" "$tsr" compile corpus/small/small.tsr --kernel nosuch
exits 3 "a case that is not there" "$tsr" compile corpus/small/small.tsr --kernel product --case nosuch

exits 0 "goldens can be recorded" "$tsr" golden record corpus
sed -i 's|tsr.golden/1|tsr.golden/99|' golden/small/addition/tiny.json
exits 3 "a golden of another version" "$tsr" golden list corpus
has err "golden of another version: tsr.golden/99" "the other version is named"
exits 3 "a golden of another version, in bench" "$tsr" bench corpus --backend interp --db two.db
sed -i 's|tsr.golden/99|tsr.golden/1|' golden/small/addition/tiny.json
sed -i 's|"numerics": 1|"numerics": 99|' golden/small/addition/tiny.json
for command in "bench --backend interp --db two.db" "golden list" "golden verify" "golden record"; do
    cp golden/small/addition/tiny.json before.json
    exits 3 "a golden of another numerics version, in $command" "$tsr" $command corpus
    cat out err >both
    has both "golden of numerics version 99, where this tsr computes version 1" "both versions are named"
    same before.json golden/small/addition/tiny.json "and the golden is left alone"
done
sed -i 's|"numerics": 99|"numerics": 1|' golden/small/addition/tiny.json
echo '{' >golden/small/addition/wider.json
exits 3 "a damaged golden" "$tsr" golden list corpus
rm -r golden

"$tsr" bench corpus --backend interp --db newer.db >/dev/null 2>&1
python3 -c 'import sqlite3; sqlite3.connect("newer.db").executescript("PRAGMA user_version=99")'
exits 3 "a database from a newer tsr" "$tsr" bench corpus --backend interp --db newer.db
has err "$newer_tsr" "the message says so"
exits 3 "a database from a newer tsr, in log" "$tsr" log --db newer.db
head -c 8192 /dev/urandom >rubbish.db
exits 3 "a file that is no database" "$tsr" log --db rubbish.db
exits 3 "a database that is not there" "$tsr" log --db nosuch.db
has err "there is no database nosuch.db" "is told"
exits 3 "a run that is not there" "$tsr" log --db one.db nosuch
exits 3 "a database in a file's place" "$tsr" bench corpus --backend interp --db corpus/small/small.tsr/x.db

# An export that cannot be written is told before the run; what is no regular file is written into, not replaced.
exits 3 "an export into no folder" "$tsr" bench corpus --backend interp --db none.db --export json=nosuch/a.json
has err "there is no folder nosuch" "is told"
[ ! -e none.db ] && pass "before anything is run" || fail "before anything is run"
exits 3 "an export over a folder" "$tsr" bench corpus --backend interp --db none.db --export csv=empty
has err "empty: it is a folder" "is told"
exits 3 "a compiled file over a folder" "$tsr" compile corpus/small/small.tsr --kernel product --emit asm -o .
mkfifo pipe
cat pipe >through_pipe &
exits 0 "an export into a pipe" "$tsr" bench corpus --backend interp --db pipe.db --export json=pipe --export json=a.json
wait $!
[ -p pipe ] && pass "which stays one" || fail "which stays one"
same a.json through_pipe "and gives the same bytes"
ln -s a.json link.json
exits 0 "an export through a symbolic link" "$tsr" bench corpus --backend interp --db pipe.db --export json=link.json
[ -L link.json ] && pass "which stays one" || fail "which stays one"
has a.json '"tsr.bench/1"' "and what it points to is written"
exits 0 "a compiled file into a device" "$tsr" compile corpus/small/small.tsr --kernel product --emit asm -o /dev/fd/1
has out "product" "goes there"
find . -name '*.tmp-*' >left
same left /dev/null "no temporary file is left"

# A limit on file size stands in for the end of the disk.
"$tsr" bench corpus --backend interp --db full.db >/dev/null 2>&1
exits 4 "a full disk" bash -c "trap '' XFSZ; ulimit -f 24; exec '$tsr' bench corpus --backend interp --db full.db"
has err "$no_room" "the full disk is told"
mkdir small_disk
exits 4 "a full disk under goldens" bash -c "trap '' XFSZ; ulimit -f 0; exec '$tsr' golden record corpus --golden small_disk"
# Root needs no users of its own, among whom it would reach nobody else's folders.
apart=(unshare -m)
[ "$(id -u)" -eq 0 ] || apart=(unshare -rm)
if "${apart[@]}" mount -t tmpfs none small_disk 2>/dev/null; then
    # on_small_disk SIZE COMMAND...: small_disk/ has SIZE bytes; afterwards what is partial in it is listed.
    on_small_disk() {
        "${apart[@]}" bash -c 'mount -t tmpfs -o size="$1" none small_disk && shift && "$@"; code=$?
            find small_disk -name "*.tmp-*" -o -name "*.json"; exit $code' bash "$@"
    }
    exits 4 "goldens on a disk that is full" on_small_disk 4k "$tsr" golden record corpus --golden small_disk
    has out "No space left on device" "is told as such"
    hasnt out "^small_disk" "and leaves no partial file"
    exits 4 "a database on a disk that is full" on_small_disk 16k "$tsr" bench corpus --backend interp \
        --db small_disk/a.db
    has err "$no_room" "is told"
else
    echo "skipped: a disk of a few pages: this system lets nobody mount one"
fi
exits 4 "a full disk under a compiled file" bash -c "trap '' XFSZ; ulimit -f 1; exec '$tsr' compile \
    corpus/small/small.tsr --kernel product --emit module -o small_disk/a.tsrm"
exits 4 "a full disk under an export" bash -c "trap '' XFSZ; '$tsr' bench corpus --backend interp --db full.db >/dev/null
    ulimit -f 1; exec '$tsr' log last --db full.db --json >small_disk/log.json"
rm small_disk/log.json
find small_disk -type f >left
same left /dev/null "no partial file is left"
exits 0 "what was stored before the disk was full is there" "$tsr" log --db full.db
has out "4 results, 0 failed" "with its results"
exits 0 "and the database goes on" "$tsr" bench corpus --backend interp --db full.db
finish
