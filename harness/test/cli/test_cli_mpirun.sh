# test_cli_mpirun.sh - tsr where mpirun started it: each process is one rank, the first one does what the command says and prints, all end alike.
source "$(dirname "$0")/lib.sh"
if ! command -v mpirun >/dev/null; then
    echo "mpirun is not here (Debian: openmpi-bin)"
    exit 77
fi
if [ ! -f "$(dirname "$tsr")/libtessera-mpi.so" ]; then
    echo "this build has no libtessera-mpi.so: mpi.h was missing (Debian: libopenmpi-dev)"
    exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
three() {
    timeout 300 mpirun -n 3 "$@"
}
if ! three "$tsr" --version >out 2>err; then
    echo "mpirun does not start processes here: $(tail -n 1 err)"
    exit 77
fi
left() { # what is left of jobs
    ls -d /tmp/tsr-mpi-"$(id -u)"-* 2>/dev/null
}
before=$(left)
cat >sums.tsr <<'END_TSR'
from tessera import *

data = mesh(4, "dp")


def summed(x):
    return all_reduce(x, "dp")


@cases(case("small", N=700), case("larger", N=9000))
@kernel
def sums_by_mpirun(x: Tensor["4", "N", f32]) -> Tensor["1", "N", f32]:
    return shard_map(summed, data, "dp", None)(x)
END_TSR

# ---- bench ----
exits 0 "mpirun -n 3 tsr bench" three "$tsr" bench "$root/corpus/collectives/collectives.tsr" sums.tsr --backend cpu --threads 1 --quick --json
cp out three.json
exits 0 "the same on one rank" "$tsr" bench "$root/corpus/collectives/collectives.tsr" sums.tsr --backend cpu --threads 1 --quick --json
cp out one.json
cat >equal.py <<'END_PYTHON'
import json
def of(name):
    document = json.load(open(name)) # one document: one process printed
    return document, {(r["kernel"], r["case"]): (r["status"], r["check"]["bitwise"], r["check"]["sha256"]) for r in document["results"]}
three, bits = of("three.json")
one, same = of("one.json")
assert bits == same and all(status == "ok" and bitwise for status, bitwise, _ in bits.values())
assert {(r["ranks"], r["transport"]) for r in three["results"]} == {(3, "mpi")}
print(len(bits))
END_PYTHON
exits 0 "its one document has three ranks, and the bits of one" /usr/bin/python3 equal.py
exits 0 "one run is kept" "$tsr" log
[ "$(grep -c "^20" out)" -eq 2 ] && pass "beside that of one rank" || fail "beside that of one rank"

# ---- run, golden verify ----
exits 0 "tsr run" three "$tsr" run sums.tsr --case larger --steps 3 --threads 1 --out on-three
exits 0 "on one rank" "$tsr" run sums.tsr --case larger --steps 3 --threads 1 --out on-one
same on-one/out.npy on-three/out.npy "has the same bits"
exits 0 "a golden" "$tsr" golden record sums.tsr --golden golden
exits 0 "tsr golden verify" three "$tsr" golden verify sums.tsr --golden golden --backend cpu --threads 1
has err "^2 hold, 0 do not" "holds the ranks to it"
exits 0 "the layout is the command's" three "$tsr" bench sums.tsr --backend cpu --threads 1 --quick --layout dp=3 --ranks 3 --transport mpi

exits 0 "with --shard each is a run of its own" three "$tsr" bench sums.tsr --backend cpu --threads 1 --quick --shard 1/2 --db "$PWD/parts.db"
exits 0 "of which there are three" "$tsr" log --db "$PWD/parts.db"
[ "$(grep -c "^20" out)" -eq 3 ] && pass "in the database" || fail "in the database"

# ---- all end alike, with the first one's code ----
exits 2 "a wrong option" three "$tsr" bench sums.tsr --nonsense
[ "$(grep -c "unknown option --nonsense" err)" -eq 1 ] && pass "is told once" || fail "is told once"
exits 2 "other ranks than those that there are" three "$tsr" bench sums.tsr --ranks 2
has err "mpirun started 3 ranks: leave out --ranks" "says so"
exits 2 "another transport" three "$tsr" bench sums.tsr --transport shm
exits 3 "a file that is not there" three "$tsr" bench nowhere.tsr
exits 0 "help" three "$tsr" bench --help
[ "$(grep -c "^usage: tsr bench\|tsr bench \[OPTIONS\]" out)" -ge 1 ] && pass "comes" || fail "comes"
printf 'from tessera import *\ndata = mesh(2, "dp")\ndef f(x):\n    return all_reduce(x, "dp")\n@cases(case("a", N=8))\n@kernel\ndef two_shards(x: Tensor["2", "N", f32]) -> Tensor["1", "N", f32]:\n    return shard_map(f, data, "dp", None)(x)\n' >two.tsr
exits 4 "a program that has too few shards" three "$tsr" bench two.tsr --backend cpu --threads 1
has out "3 ranks do not divide" "says so"
[ "$(left)" = "$before" ] && pass "nothing is left in /tmp" || fail "nothing is left in /tmp: $(left)"
finish
