# test_cli_old_cpu.sh - on a CPU without FMA, and on one without AVX-512, as an emulator shows them.
source "$(dirname "$0")/lib.sh"
small_corpus
export TSR_DB=$scratch/results.db

# Under an emulator the sanitizer takes minutes to lay out its shadow memory, and fails.
if grep -q __asan_init "$tsr"; then
    echo "skipped: a build with the address sanitizer does not run under qemu"
    exit 77
fi
emulator=$(command -v qemu-x86_64 || command -v qemu-x86_64-static)
if [ -z "$emulator" ] || ! "$emulator" -cpu Haswell "$tsr" --version >/dev/null 2>&1; then
    echo "skipped: no qemu-x86_64 (package qemu-user) that runs this build"
    exit 77
fi
old=("$emulator" -cpu Haswell,-fma "$tsr")
exits 0 "devices without FMA" "${old[@]}" devices
has out "missing: backend cpu cannot run here: this CPU has no FMA" "say what is missing"
exits 4 "the cpu backend by name" "${old[@]}" bench corpus --quick --backend cpu
has err "this CPU has no FMA" "says why"
exits 4 "an ISA level" "${old[@]}" bench corpus --quick --isa x86-64-v3
has err "code for x86-64-v3 cannot run here: this CPU has no FMA" "says why"
exits 0 "what can run" "${old[@]}" bench corpus --quick
has err "left out: backend cpu" "is run, and what cannot is told"
has out "4 results: 4 ok" "every case on the interpreter"
newer=("$emulator" -cpu Haswell "$tsr")
exits 0 "devices without AVX-512" "${newer[@]}" devices
has out "x86-64-v4 +this CPU has no AVX512F" "say what is missing"
exits 4 "a level above the host's" "${newer[@]}" bench corpus --quick --isa x86-64-v4
has err "code for x86-64-v4 cannot run here: this CPU has no AVX512F" "says why"
exits 4 "a level above the host's, in roofline" "${newer[@]}" roofline --isa x86-64-v4
finish
