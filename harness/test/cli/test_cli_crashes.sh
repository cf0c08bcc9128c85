# test_cli_crashes.sh - a compiler that dies leaves a pack wherever it was called, and packs say how a case ended and what was around it.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
small_corpus
source=corpus/small/small.tsr
member() { bsdtar -xOf "$1" "$2"; }

# The same end from each of the commands that compile in their own process; the kernel's own exit code stays.
for fault in compiler-crash:134 broken-ir:70; do
    code=${fault#*:} fault=${fault%:*}
    rm -rf .tsr/failures
    exits $code "tsr compile, $fault" "$tsr" compile $source --kernel product --case tiny --emit asm --inject $fault
    has err "is packed:" "says so"
    pack=$(sed -n 's/^\(.tsr.*lz4\)$/\1/p' err)
    [ -f "$pack" ] && pass "and where the pack is" || fail "and where the pack is"
    exits 0 "its replay" "$tsr" replay "$pack"
    has out "^REPRODUCED_CLASS" "ends in the same way"
done
rm -rf .tsr/failures
exits 1 "a compiler that hangs, in the time that it may take" "$tsr" compile $source --kernel product --case tiny --emit asm --inject compiler-hang --timeout 1
has err "not done within --timeout, and is packed:" "says so"
pack=$(sed -n 's/^\(.tsr.*lz4\)$/\1/p' err)
exits 0 "its replay" "$tsr" replay "$pack"
has out "^now +timeout" "hangs, too"
python3 -c 'import numpy as np; np.save("x.npy, np.ones((3, 5), "f4")); np.save("y.npy", np.ones((5, 4), "f4"))' 2>/dev/null && {
    TESSERA_FAILURES=mine exits 134 "tsr run" "$tsr" run $source --kernel product --in x.npy --in y.npy --out outputs --inject compiler-crash
    pack=$(ls mine/*.lz4)
    exits 0 "its replay" "$tsr" replay "$pack"
    has out "^case +product/.*--dims .*M=3" "is of the dimensions that the arrays had"
    [ ! -e outputs/out.npy ] && pass "nothing was written" || fail "nothing was written"
}
rm -rf .tsr/failures
TESSERA_FAILURES= exits 134 "where no packs are wanted" "$tsr" compile $source --kernel product --emit asm --inject compiler-crash
[ ! -e .tsr/failures ] && pass "none is made" || fail "none is made"
exits 3 "an error of the source" "$tsr" compile "$root/README.md"
exits 3 "no such case" "$tsr" compile $source --kernel product --case nosuch
[ ! -e .tsr/failures ] && pass "is no failure of ours, and not packed" || fail "is no failure of ours, and not packed"
exits 2 "a fault of no compiler" "$tsr" compile $source --kernel product --inject crash
exits 2 "a fault of another kernel" "$tsr" compile $source --kernel product --inject compiler-crash@addition
exits 0 "code with a fault in it" "$tsr" compile $source --kernel product --case tiny --emit asm --inject drop-last-k
cp out wrong
exits 0 "the same without" "$tsr" compile $source --kernel product --case tiny --emit asm
cmp -s out wrong && fail "is other code" || pass "is other code"

# A program that compiles by the C ABI, and is killed in it: the case stays, and becomes a pack.
library=$(dirname "$tsr")/compiler/libtessera-compiler.so.1
cat >killed.py <<'END'
import ctypes, glob, os, signal, sys, threading, time

class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), *[(name, ctypes.c_char_p) for name in "kernel case_name dims profile isa constants schedule".split()],
                ("threads", ctypes.c_uint32), ("generic", ctypes.c_uint32), ("check_bounds", ctypes.c_uint32)]

def compile_once():
    made = ctypes.c_void_p()
    options = Options(ctypes.sizeof(Options), b"product", b"tiny", profile=b"fast")
    assert library.tsrCompile(source, len(source), b"small.tsr", ctypes.byref(options), ctypes.byref(made)) == 0

def kill():
    while not glob.glob(folder + "/compile-*/pack.sh"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)

library, folder = ctypes.CDLL(sys.argv[1]), os.environ["TESSERA_FAILURES"]
source = open(sys.argv[2], "rb").read()
compile_once()
assert not os.listdir(folder), "what came back stays"
threading.Thread(target=kill, daemon=True).start()
while True:
    compile_once()
END
if [ -f "$library" ] && python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$library" 2>/dev/null; then
    for attempt in 1 2 3 4 5; do # it may be killed while it is being taken away
        rm -rf left
        TESSERA_FAILURES=left exits 137 "a program, killed in tsrCompile" python3 killed.py "$library" $source
        [ -f left/compile-*/source.tsr ] && [ -f left/compile-*/pack.sh ] && break
    done
    TSR=$tsr exits 0 "its case as a pack" sh left/compile-*/pack.sh -o left.lz4
    exits 0 "that pack" "$tsr" replay left.lz4
    has out "^case +product/tiny@cpu,fast," "is of what the program asked for"
else
    echo "skipped: no libtessera-compiler.so here that Python can load"
fi

# A pack says how its case ended.
for fault in compiler-crash crash hang oom; do
    seconds=60
    [ $fault = hang ] && seconds=2
    for folder in first second; do
        rm -rf $folder-$fault
        exits 1 "tsr bench, $fault" "$tsr" bench corpus -v --quick --backend cpu --profile strict --filter product/tiny --timeout $seconds \
            --inject $fault --failures $folder-$fault
    done
    same first-$fault/*.lz4 second-$fault/*.lz4 "the same $fault twice is the same pack"
    exits 0 "its replay" "$tsr" replay first-$fault/*.lz4
done
member first-compiler-crash/*.lz4 backtrace.txt >out 2>err
if [ -s out ]; then # a sanitizer tells it in its own way
    has out "^[0-9a-f]{12}\+0x[0-9a-f]+" "a backtrace is of builds and offsets"
    has out "\+0x[0-9a-f]+ serve_job$" "and of functions, where there are symbols"
    hasnt out "0x[0-9a-f]{10}" "and of no address"
    member first-crash/*.lz4 backtrace.txt >out
    has out " fault_trigger$" "so is that of a launch"
fi
pack=$(ls first-crash/*.lz4)
member "$pack" launch.json >out
python3 -c '
import json
d = json.load(open("out"))
assert d["backend"] == "cpu" and d["profile"] == "strict", d
assert [(a["name"], a["role"], a["dims"], a["bytes"]) for a in d["arguments"]] == [
    ("x", "input", [4, 8], 128), ("y", "input", [8, 6], 192), ("out", "output", [4, 6], 96)], d' && pass "the arguments of the launch" || fail "the arguments of the launch"
member "$pack" metadata.json >out
python3 -c 'import json; d = json.load(open("out")); assert d["schema"].startswith("tsr.module/"), d' &&
    pass "the kernel's metadata" || fail "the kernel's metadata"
member "$pack" replay.sh >replay.sh
TSR=$tsr exits 0 "the script in it" sh replay.sh "$pack"
has out "^REPRODUCED_CLASS" "replays it"
exits 2 "the script without a pack" sh replay.sh

# The environment of the case, and what is another here.
member "$pack" environment.json >out
python3 -c '
import json
d = json.load(open("out"))
assert sorted(d) == ["cpu", "floats", "libraries", "system", "variables"], d
assert d["system"]["kernel"] and d["libraries"] and "HOME" not in d["variables"] and "PATH" not in d["variables"], d' &&
    pass "the environment, of what is listed alone" || fail "the environment, of what is listed alone"
exits 0 "the pack, shown" "$tsr" replay "$pack" --show
has out "^environment.json: this machine is the same$" "nothing is another"
OMP_NUM_THREADS=7 LD_PRELOAD= exits 0 "the pack, shown elsewhere" "$tsr" replay "$pack" --show
has out "^environment.json, where this machine differs$" "something is"
has out "^  variables.OMP_NUM_THREADS: not there, 7 here$" "and is named"
finish
