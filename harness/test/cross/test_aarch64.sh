#!/usr/bin/env bash
# test_aarch64.sh WRITE_IMAGES ROOT EVERY [CASES...] - AArch64 code under an emulator: each EVERYth case of the corpus has the
# interpreter's bits with NEON and with SVE. The loader and the thread pool are the runtime's, compiled for that machine.
set -euo pipefail
export LC_ALL=C
write=$1 root=$2 every=$3
shift 3
paths=("$@")
[ ${#paths[@]} -gt 0 ] || paths=("$root/corpus")

skip() {
    echo "skipped: $1"
    exit 77
}
compiler=$(command -v aarch64-linux-gnu-gcc) || skip "no aarch64-linux-gnu-gcc (package gcc-aarch64-linux-gnu)"
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || skip "no qemu-aarch64 (package qemu-user)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sources=()
for name in base/{arena,elf,escape,escape_format,log,map,status,text,thread} \
    device/host/{host_cpu_aarch64,host_elf,host_elf_aarch64,host_elf_debug,host_elf_parse,host_elf_x86_64,host_isa,host_pool} \
    device/shared/host_memory device/shared/host_region; do
    sources+=("$root/runtime/$name.c")
done
echo 'int main(void) { return 0; }' >"$scratch/probe.c"
"$compiler" -static "$scratch/probe.c" -o "$scratch/probe" 2>"$scratch/err" ||
    skip "aarch64-linux-gnu-gcc does not build a static program: $(head -n 1 "$scratch/err")"
"$compiler" -std=c11 -D_GNU_SOURCE -O1 -static -Wall -Wextra -Werror -I"$root/runtime" -I"$root/runtime/include" \
    "$root/harness/test/cross/run_images.c" "${sources[@]}" -pthread -o "$scratch/run_images"

code=0
for level in aarch64-neon aarch64-sve256; do
    cpu=max
    [ $level = aarch64-neon ] && cpu=cortex-a57
    [ $level = aarch64-sve256 ] && cpu=max,sve256=on
    echo "$level on $emulator -cpu $cpu"
    "$write" $level fixed "$every" "${paths[@]}" | "$emulator" -cpu $cpu "$scratch/run_images" $level || code=1
    echo "the same for any dimensions"
    # There is none of programs from elsewhere.
    "$write" $level generic $((every * 2)) "${paths[@]}" | "$emulator" -cpu $cpu "$scratch/run_images" $level ||
        [ "${PIPESTATUS[*]}" = "0 3" ] || code=1
done
# Vectors that are longer than the code asks for change nothing; shorter ones are refused.
echo "aarch64-sve256 with vectors of 512 bits"
"$write" aarch64-sve256 fixed $((every * 5)) "${paths[@]}" |
    "$emulator" -cpu max,sve512=on,sve-default-vector-length=64 "$scratch/run_images" aarch64-sve256 || code=1
for cpu in cortex-a57 max,sve128=on,sve256=off; do
    refused=0
    "$emulator" -cpu $cpu "$scratch/run_images" aarch64-sve256 2>"$scratch/err" </dev/null || refused=$?
    echo "-cpu $cpu: $(cat "$scratch/err")"
    [ $refused -eq 4 ] || code=1
done
exit $code
