# test_cli_cheats_with.sh - every way to cheat (cheats/cheats.def) as a function of a shared object: none passes tsr bench, tsr gate or tsr check, each is
# refused for what it does, honest ones hold, and what harms its own process alone gains nothing.
source "$(dirname "$0")/lib.sh"
cheats=$(dirname "$tsr")/harness/test_cheats.so
if [ ! -e "$cheats" ]; then
    echo "skipped: the kernels that cheat are written for x86-64"
    exit 77
fi
honest=$(dirname "$cheats")/test_honest.so
judge=("$root/harness/test/cheats/judge.py" "$tsr")
exits 0 "none passes bench, gate or check, and honest ones do" python3 -B "${judge[@]}" "$cheats" shared_ "$honest" KERNEL FUNCTION LONG
exits 0 "nor with a clock of its own" python3 -B "${judge[@]}" "$(dirname "$cheats")/test_clock.so" shared_ "$honest" CLOCK
finish
