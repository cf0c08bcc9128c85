# test_cli_cheats_with.sh - every way to cheat (cheats/cheats.def) as a function of a shared object: none passes, each is refused for what it
# does, honest ones hold, and what harms its own process alone gains nothing.
source "$(dirname "$0")/lib.sh"
cheats=$(dirname "$tsr")/harness/test_cheats.so
if [ ! -e "$cheats" ]; then
    echo "skipped: the kernels that cheat are written for x86-64"
    exit 77
fi
cat >k.tsr <<'END'
from tessera import *


@cases(case("square", M=16, N=16, K=16))
@kernel
def product(a: Tensor["M", "K", f32], b: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return a @ b
END
judge=("$root/harness/test/cheats/judge.py" "$tsr")
exits 0 "none passes, and honest ones do" python3 -B "${judge[@]}" "$cheats" shared_ KERNEL FUNCTION
exits 0 "nor with a clock of its own" python3 -B "${judge[@]}" "$(dirname "$cheats")/test_clock.so" shared_ CLOCK
finish
