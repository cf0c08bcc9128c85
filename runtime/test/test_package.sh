#!/usr/bin/env bash
# test_package.sh CC GENERATOR ROOT - the runtime as others build it: alone, in a root that has none of the libraries which only
# compiler and harness need; installed, moved and found by CMake and pkg-config; and as a folder of another project. Everything
# lies in a path with blanks and an umlaut.
set -euo pipefail
export LC_ALL=C
cc=$1 generator=$2 tree=$3
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_PREFIX_PATH CMAKE_BUILD_TYPE PKG_CONFIG_PATH CFLAGS LDFLAGS
# Words in the names of what only compiler and harness need: libraries, headers and programs.
needless='llvm|mlir|sqlite|archive|lz4|pfm|perfmon|seccomp|mpfr|valgrind|xsmm'

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
place="$scratch/fremde Bücher"
mkdir "$place"
cd "$place"

fail() {
    echo "NOT OK - $1"
    [ ! -f "${2:-}" ] || cat "$2"
    exit 1
}

# mirror FOLDER - a folder of links to what the machine's has, but for what is needless.
mirror() {
    [ -d "/$1" ] || return 0
    mkdir -p "root/$1"
    find "/$1" -mindepth 1 -maxdepth 1 -regextype posix-extended ! -iregex ".*/[^/]*($needless)[^/]*" -print0 |
        while IFS= read -r -d '' entry; do [ -e "root$entry" ] || printf '%s\0' "$entry"; done | xargs -0r ln -s -t "root/$1"
}

# in_root COMMAND... - only programs and packages of the root are found.
in_root() {
    PATH="$place/root/usr/bin" PKG_CONFIG_LIBDIR="$packages" "$@"
}

# configure FOLDER SOURCE [OPTION...], build FOLDER SOURCE [OPTION...]: messages to FOLDER.log
configure() {
    local folder=$1 source=$2
    shift 2
    in_root cmake -S "$source" -B "$folder" -G "$generator" -DCMAKE_TOOLCHAIN_FILE="$place/root.cmake" "$@" >"$folder.log" 2>&1
}
build() {
    configure "$@" || fail "configuring $1" "$1.log"
    in_root cmake --build "$1" --parallel 2 >"$1.log" 2>&1 || fail "building $1" "$1.log"
}

# The root, and proof that it lacks what it should.
machine=$("$cc" -print-multiarch)
for folder in ${machine:+"usr/lib/$machine/pkgconfig" "usr/lib/$machine" "usr/include/$machine"} usr/lib64/pkgconfig usr/lib64 \
    usr/lib/pkgconfig usr/lib usr/include usr/bin usr/share; do
    mirror "$folder"
done
for folder in lib lib64; do
    [ ! -e "/$folder" ] || ln -s "/$folder" "root/$folder"
done
packages=$place/root/usr/lib/$machine/pkgconfig:$place/root/usr/lib64/pkgconfig:$place/root/usr/share/pkgconfig
cat >root.cmake <<END
set(CMAKE_C_COMPILER "$cc")
set(CMAKE_SYSROOT "$place/root")
foreach(kind PROGRAM LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_\${kind} ONLY)
endforeach()
END
for package in jansson libcrypto cmocka; do
    in_root pkg-config --exists $package || { echo "skipped: no $package below /usr"; exit 77; }
done
for header in llvm-c/Core.h sqlite3.h archive.h perfmon/pfmlib.h seccomp.h lz4frame.h mpfr.h; do
    ! echo "#include <$header>" | in_root "$cc" --sysroot="$place/root" -E -o /dev/null - 2>/dev/null || fail "the root has $header"
done
! configure whole "$tree" || fail "the compiler is configured in a root without LLVM"
grep -q '^LLVM_CONFIG:.*-NOTFOUND$' whole/CMakeCache.txt || fail "it is not LLVM that is missing" whole.log
echo "ok - a root without what compiler and harness need"

# The runtime's folder alone: built, tested, installed.
mkdir -p source/ci
cp -R "$tree/CMakeLists.txt" "$tree/CMakePresets.json" "$tree/runtime" source
cp "$tree/ci/in-room" source/ci # that the tests run in
alone=(-DTSR_BUILD_COMPILER=OFF -DTSR_BUILD_HARNESS=OFF)
build runtime source "${alone[@]}" -DTSR_WERROR=ON
in_root ctest --test-dir runtime -L runtime --no-tests=error -j2 >tests.log 2>&1 || fail "the runtime's tests" tests.log
readelf -d runtime/runtime/libtessera.so >needed
! grep -iE "NEEDED.*($needless)" needed || fail "libtessera.so needs what is not there"
cmake --install runtime --prefix "$place/first" >install.log || fail "installing" install.log
mv first prefix
echo "ok - built, tested and installed there: $(grep 'tests passed' tests.log)"

find root '(' -iname '*cmocka*' ')' -delete
build untested source "${alone[@]}" -DBUILD_TESTING=OFF
! configure tested source "${alone[@]}" || fail "tests are configured without cmocka"
[ "$(in_root ctest --test-dir untested --show-only=json-v1 | grep -c '"command"')" -eq 0 ] || fail "BUILD_TESTING=OFF leaves tests"
echo "ok - without cmocka where BUILD_TESTING is off"

# Whoever uses it: the package, the folder, pkg-config.
major=$(sed -n 's/^#define TSR_ABI_MAJOR //p' "$tree/runtime/include/tessera/tessera.h")
minor=$(sed -n 's/^#define TSR_ABI_MINOR //p' "$tree/runtime/include/tessera/tessera.h")
grep -q "find_package(Tessera $major\.$minor " "$tree/docs/c-api.md" || fail "docs/c-api.md asks for another version"
says_version() { # PROGRAM
    [ "$("$1")" = "$major.$minor" ] || fail "$1 does not run"
    echo "ok - ${1%/*} runs"
}
cp -R "$tree/runtime/test/embed" embed
package=(-DCMAKE_FIND_ROOT_PATH="$place/prefix")
build package embed "${package[@]}" -DTESSERA_VERSION="$major.0"
says_version package/embedder
for version in "$major.$((minor + 1))" "$((major + 1))" "$((major - 1)).0"; do
    ! configure other embed --fresh "${package[@]}" -DTESSERA_VERSION="$version" || fail "$major.$minor passes for $version"
done
echo "ok - other versions are refused"
! grep -rF "$place" prefix/lib*/cmake prefix/lib*/*/cmake 2>/dev/null || fail "the package has paths of the machine that made it"
build folder embed -DTESSERA_SOURCE="$place/source"
says_version folder/embedder

pc=$(find prefix -name tessera.pc -printf '%h')
# Without -r: a blank in a path has a backslash before it.
# shellcheck disable=SC2162
read -a flags <<<"$(PKG_CONFIG_PATH="$place/$pc" pkg-config --cflags --libs "tessera >= $major.0" "tessera < $((major + 1))")"
mkdir config
"$cc" -Werror embed/embedder.c "${flags[@]}" -Wl,-rpath,"$place/${pc%/pkgconfig}" -o config/embedder || fail "with pkg-config"
says_version config/embedder
