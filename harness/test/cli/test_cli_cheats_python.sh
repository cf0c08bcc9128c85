# test_cli_cheats_python.sh - every way to cheat (cheats/cheats.def) as a function of Python: none passes, each is refused for what it does,
# and nobody outlives the run.
source "$(dirname "$0")/lib.sh"
if [ ! -f "$(dirname "$tsr")/python/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
cat >k.tsr <<'END'
from tessera import *


@cases(case("square", M=16, N=16, K=16))
@kernel
def product(a: Tensor["M", "K", f32], b: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return a @ b
END
cp "$root/harness/test/cheats/cheats.py" .
{
    echo "from cheats import honest as product"
    sed -n 's/^PYTHON(\([a-z_]*\),.*/\n\ndef \1(a, b):\n    return product(a, b)/p' "$root/harness/test/cheats/cheats.def"
} >honest.py
exits 0 "none passes, and honest ones do" python3 -B "$root/harness/test/cheats/judge.py" "$tsr" cheats.py "" honest.py PYTHON

# One that hid from a worker that is no more ends with the run.
exits 1 "one that kills its worker" "$tsr" bench k.tsr --quick --threads 1 --db r.db --failures packs --with cheats.py:kills_the_worker=product
hidden=$(grep -lsz "^TSR_CACHE=$TSR_CACHE$" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx -e $$ -e "$BASHPID" | while read -r pid; do
    cat "/proc/$pid/cmdline" 2>/dev/null | tr '\0' ' ' | grep tessera.guest
done)
[ -z "$hidden" ] && pass "nobody is left" || fail "nobody is left: $hidden"
finish
