#!/usr/bin/env bash
# test_compile_package.sh BUILD CC ROOT - the compiler's library as a user gets it: installed by its component alone, its header compiles
# by itself, nothing but its functions is seen of it, and the example of docs/c-api.md compiles and runs a kernel.
set -euo pipefail
export LC_ALL=C
build=$1 cc=$2 root=$3
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH CFLAGS LDFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "NOT OK - $1"
    exit 1
}

cmake --install "$build" --prefix "$scratch/first" --component compiler >install.log || fail "cmake --install: $(cat install.log)"
mv first prefix
library=$(dirname "$(find prefix -name 'libtessera-compiler.so' | head -1)")
export PKG_CONFIG_PATH=$scratch/$library/pkgconfig LD_LIBRARY_PATH=$scratch/$library
version=$(pkg-config --modversion tessera-compiler)
[ -f "$library/libtessera-compiler.so.$version" ] || fail "libtessera-compiler.so.$version"
! find prefix -name 'libtessera.so*' | grep . || fail "the component has another library"
echo "ok - installed and moved: $version"

# shellcheck disable=SC2162
read -a flags <<<"$(pkg-config --cflags --libs tessera-compiler)"
for standard in c99 c11 c++11 c++17; do
    compiler=$cc suffix=c
    [[ $standard == c* && $standard != c++* ]] || { compiler=$(command -v c++ || true) suffix=cpp; }
    if [ -z "$compiler" ]; then
        echo "skipped: compile.h as $standard: no C++ compiler"
        continue
    fi
    echo "#include <tessera/compile.h>" >alone.$suffix
    "$compiler" -std=$standard -pedantic-errors -Wall -Wextra -Werror "${flags[@]}" -fsyntax-only alone.$suffix ||
        fail "compile.h as $standard"
    echo "ok - compile.h alone, as $standard"
done

# The example, beside the runtime.
cmake --install "$build" --prefix "$scratch/prefix" --component runtime >install.log
cmake --install "$build" --prefix "$scratch/prefix" --component development >install.log
# shellcheck disable=SC2162
read -a flags <<<"$(pkg-config --cflags --libs tessera-compiler tessera)"
example=$root/docs/examples/compile_source.c
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$example" "${flags[@]}" -o compile_source || fail "the example does not compile"
if ! ./compile_source M=3,N=4 >got 2>err; then
    grep -q '^unavailable: ' err || fail "the example fails: $(cat err)"
    echo "skipped: $(cat err)"
    exit 77
fi
printf '%s\n' "x f32 3 4" "out f32 3" 10 26 42 | diff - got || fail "it prints something else"
! ./compile_source M=3 2>err || fail "a dimension that is missing is accepted"
grep -q N err || fail "nothing is said of it: $(cat err)"
echo "ok - the example compiles a kernel and runs it"
diff <(awk '/^```c$/ {on = 0; getline; if ($0 ~ /^\/\* compile_source/) on = 1} /^```/ {on = 0} on' "$root/docs/c-api.md") "$example" ||
    fail "docs/c-api.md shows another example"
grep -o 'tsr[A-Z][A-Za-z]*' "$root/compiler/test/symbols.txt" | while read -r function; do
    grep -q "^|.*\`$function\`" "$root/docs/c-api.md" || fail "docs/c-api.md does not list $function"
done
echo "ok - the page shows this file, and every function"

# CMake's way.
mkdir project
cat >project/CMakeLists.txt <<'END_OF_PROJECT'
cmake_minimum_required(VERSION 3.25)
project(uses C)
find_package(TesseraCompiler 1.0 CONFIG REQUIRED)
find_package(Tessera CONFIG REQUIRED)
add_executable(uses ${EXAMPLE})
target_link_libraries(uses PRIVATE Tessera::compiler Tessera::tessera)
END_OF_PROJECT
cmake -S project -B made -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DEXAMPLE="$example" >cmake.log 2>&1 &&
    cmake --build made >>cmake.log 2>&1 || fail "by CMake: $(cat cmake.log)"
./made/uses M=1,N=2 | tail -n 1 | grep -qx 3 || fail "what CMake built"
echo "ok - and CMake finds it"
