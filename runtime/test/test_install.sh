#!/usr/bin/env bash
# test_install.sh BUILD TSR CC ROOT - the installed library as a user gets it: headers that compile alone, a program built
# with pkg-config and nothing else, its results beside those of `tsr run`, and no LLVM anywhere.
set -euo pipefail
export LC_ALL=C
build=$1 tsr=$2 cc=$3 root=$4

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "NOT OK - $1"
    exit 1
}

absent() { # WORD FILE WHAT
    if grep -i "$1" "$2"; then
        fail "$3"
    fi
    echo "ok - $3: no"
}

cmake --install "$build" --prefix "$scratch/prefix" >install.log || fail "cmake --install: $(cat install.log)"
pc=$(find prefix -name tessera.pc -printf '%h')
export PKG_CONFIG_PATH=$scratch/$pc
library=$(dirname "$scratch/$pc")
# Without -r: a blank in a path has a backslash before it.
# shellcheck disable=SC2162
read -a flags <<<"$(pkg-config --cflags --libs tessera)"
file=libtessera.so.$(sed -n 's/^#define TSR_ABI_MAJOR //p' "$root/runtime/include/tessera/tessera.h")
[ "$(readlink -f "$library/$file")" = "$(readlink -f "$library/libtessera.so")" ] || fail "$file"
echo "ok - installed: ABI $(pkg-config --modversion tessera)"

# shellcheck disable=SC2162
read -a include <<<"$(pkg-config --cflags tessera)"
for header in tessera kernel; do
    for standard in c99 c11 c++11 c++17; do
        compiler=$cc
        suffix=c
        if [[ $standard == c++* ]]; then
            compiler=$(command -v c++ || command -v g++ || true)
            suffix=cpp
        fi
        if [ -z "$compiler" ]; then
            echo "skipped: $header.h as $standard: no C++ compiler"
            continue
        fi
        echo "#include <tessera/$header.h>" >alone.$suffix
        "$compiler" -std=$standard -pedantic-errors -Wall -Wextra -Werror "${include[@]}" -fsyntax-only alone.$suffix ||
            fail "$header.h as $standard"
        echo "ok - $header.h alone, as $standard"
    done
done

"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$root/docs/examples/run_module.c" "${flags[@]}" -o run_module ||
    fail "the example does not compile"
[ "$(wc -l <"$root/docs/examples/run_module.c")" -le 60 ] || fail "the example is longer than 60 lines"
readelf -d run_module | grep -F "[$file]" || fail "the program does not need $file"

LD_LIBRARY_PATH=$library ldd run_module >ldd.txt
readelf -d run_module "$library/libtessera.so" >readelf.txt
absent llvm ldd.txt "LLVM among the libraries of the program"
absent llvm readelf.txt "LLVM among what program and library need"

"$tsr" compile "$root/docs/examples/affine.tsr" --emit module -o affine.tsrm || fail "tsr compile"
status=0
LD_DEBUG=libs LD_DEBUG_OUTPUT=libs LD_LIBRARY_PATH=$library ./run_module affine.tsrm affine >got 2>err || status=$?
if grep -q '^unavailable: ' err; then
    echo "skipped: $(cat err)"
    exit 77
fi
[ "$status" -eq 0 ] || fail "run_module ends with $status: $(cat err)"
cat libs.* >libs.txt
grep -q libtessera libs.txt || fail "the loader's list has no libtessera"
absent llvm libs.txt "LLVM among what was loaded"

python3 - <<'EOF' # an .npy file by hand: numpy may not be here
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 25), }".ljust(117) + "\n"
with open("a.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    f.write(struct.pack("<100f", *range(1, 101)))
EOF
"$tsr" run "$root/docs/examples/affine.tsr" --in a=a.npy --out . || fail "tsr run"
python3 -c 'import struct; [print("%.9g" % x) for x in struct.unpack("<100f", open("out.npy", "rb").read()[-400:])[:8]]' \
    >expected
diff expected got || fail "the program prints something else than tsr run writes"
echo "ok - as tsr run: $(tr '\n' ' ' <got)"

LD_LIBRARY_PATH=$library ./run_module /dev/null affine 2>err && fail "an empty module is accepted"
grep -q '^corrupt module: ' err || fail "no message for an empty module: $(cat err)"
LD_LIBRARY_PATH=$library ./run_module affine.tsrm softmax 2>err && fail "an unknown kernel is found"
grep -q "not found: .*it has 'affine'" err || fail "no message for an unknown kernel: $(cat err)"
echo "ok - failures are told"

# Devices without hardware, in a library beside it that is opened where the environment asks for them.
cat >count.c <<'EOF'
#include <stdio.h>
#include <tessera/tessera.h>
int main(void) {
    uint32_t count = 0;
    return tsrGetDeviceCount(&count) != TSR_SUCCESS || printf("%u\n", (unsigned)count) < 0;
}
EOF
"$cc" -std=c11 -Wall -Wextra -Werror count.c "${flags[@]}" -o count || fail "a program that counts devices does not compile"
count() { # [VARIABLE=VALUE...]
    env LD_LIBRARY_PATH="$library" "$@" ./count 2>count.err
}
real=$(count)
[ "$(count TESSERA_SIMULATED=2 TESSERA_EMULATED=1)" -ge $((real + 3)) ] || fail "no simulated or emulated devices: $(cat count.err)"
rm "$library"/libtessera-devices.so.*
[ "$(count TESSERA_SIMULATED=2 TSR_LOG=warn)" = "$real" ] || fail "simulated devices without their library"
grep -q libtessera-devices count.err || fail "no warning names the missing library: $(cat count.err)"
[ "$(count TSR_LOG=warn)" = "$real" ] && [ ! -s count.err ] || fail "the library is missed where no device needs it"
echo "ok - $real devices, and simulated ones from a library of their own"

# The page shows the very files.
block() {
    awk -v start="\`\`\`$1" '$0 == start {on = 1; n++; next} /^```/ {on = 0} on && n == 1' "$2"
}
diff <(block c "$root/docs/c-api.md") "$root/docs/examples/run_module.c" || fail "docs/c-api.md shows another example"
diff <(block python "$root/docs/modules.md") "$root/docs/examples/affine.tsr" || fail "docs/modules.md shows another kernel"
for function in $(sed -n 's/^\(tsr[A-Za-z]*\) .*/\1/p' "$root/runtime/test/symbols.txt"); do
    grep -q "^|.*\`$function\`" "$root/docs/c-api.md" || fail "docs/c-api.md does not list $function"
done
echo "ok - the pages show these files, and every function"
