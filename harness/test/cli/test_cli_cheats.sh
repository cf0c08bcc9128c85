# test_cli_cheats.sh - the gate between an honest kernel and each of those that cheat (cheats/cheats.def): none is accepted,
# however fast it is, and honest ones are not refused.
source "$(dirname "$0")/lib.sh"
maker=$(dirname "$tsr")/harness/harness_cheats
mkdir strict deterministic
if ! [ -x "$maker" ] || ! "$maker" --write strict strict >kernels.txt || ! grep -q '^cheats ' kernels.txt; then
    echo "skipped: there are no kernels that cheat for this machine or build"
    exit 77
fi
"$maker" --write deterministic deterministic >kernels.txt
mkdir corpus
cat >corpus/product.tsr <<'END_OF_SOURCE'
from tessera import *


@cases(case("square", M=16, N=16, K=16))
@kernel
def product(a: Tensor["M", "K", f32], b: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return a @ b
END_OF_SOURCE

# PROFILE: none of those that cheat is accepted, all that do not are.
put_before_the_gate() {
    local profile=$1 accepted="" count=0 name code
    for name in $(sed -n 's/^cheats //p' kernels.txt); do
        "$tsr" gate --baseline "modules:$profile/honest" --against "modules:$profile/$name" corpus >"$name.txt" 2>&1 </dev/null
        code=$?
        count=$((count + 1))
        # A change to a process happens to both sides in it: 5 where it is the baseline that is found changed.
        if ! { [ $code -eq 1 ] || [ $code -eq 5 ]; } || ! grep -Eq 'mismatch|newly-failing|baseline-fails' "$name.txt"; then
            accepted="$accepted $name"
            cat "$name.txt"
        fi
    done
    touch out err
    [ $count -ge 15 ] && pass "$profile: there are enough of them" || fail "$profile: there are enough of them: $count"
    [ -z "$accepted" ] && pass "$profile: none of $count is accepted" || fail "$profile: none is accepted:$accepted"
    for name in $(sed -n 's/^honest //p' kernels.txt); do
        "$tsr" gate --baseline "modules:$profile/honest" --against "modules:$profile/$name" corpus --pairs 1 >out 2>err </dev/null
        hasnt out 'mismatch|newly-failing|baseline-fails' "$profile: $name is not refused"
    done
}
put_before_the_gate strict
put_before_the_gate deterministic
finish
