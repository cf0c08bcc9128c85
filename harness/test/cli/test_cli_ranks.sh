# test_cli_ranks.sh - programs on several ranks: collectives and a training step have one set of bits on 1 to 4 ranks, in threads and in processes,
# laid over the axes in different ways, on CPUs and other devices; steps have one hash; what cannot be is refused; a failure is packed with
# its ranks; a rank that is killed ends the others with its number.
source "$(dirname "$0")/lib.sh"
cat >small.tsr <<'END'
from tessera import *

grid = mesh((4, 2), ("dp", "tp"))


def part(w, x):
    y = all_reduce(x @ w, "tp")
    return all_reduce(sum(y * y, axis=0), "dp"), y


@cases(case("small", N=2, D=3, E=5))
@kernel
def parted(w: Tensor["2*D", "E", f32], x: Tensor["4*N", "2*D", f32]) -> tuple[Tensor["E", f32], Tensor["4*N", "E", f32]]:
    return shard_map(part, grid, ("tp", PartitionSpec("dp", "tp")), (None, "dp"))(w, x)
END

# ---- the same bits

exits 0 "all ranks, transports and devices have the interpreter's bits" "$tsr" bench small.tsr --backend interp,cpu,ptx-emulated --threads 1 \
    --quick --ranks 1,2,3,4 --transport all --json
cp out all.json
exits 0 "results tell their ranks" /usr/bin/python3 -c '
import json, sys
results = json.load(open("all.json"))["results"]
assert all(r["status"] == "ok" for r in results), [r["why"] for r in results]
assert len({json.dumps(r["check"]["sha256"]) for r in results}) == 1
ranks = [(r.get("ranks", 1), r.get("transport", "")) for r in results if r["backend"] == "cpu"]
found = sorted({t for n, t in ranks if n > 1})
assert {"shm", "threads"} <= set(found) <= {"shm", "threads", "ucx", "mpi"}, found
assert sorted(ranks) == [(1, "")] + [(n, t) for n in (2, 3, 4) for t in found], ranks'
exits 0 "a timeline has the exchanges of the first rank, one behind the other" /usr/bin/python3 -c '
import json
for r in json.load(open("all.json"))["results"]:
    launch = (r.get("timeline") or {}).get("launch") or {}
    exchanges = sorted(launch.get("exchanges", []), key=lambda e: e["start_ns"])
    assert bool(exchanges) == (r.get("ranks", 1) > 1), (r["backend"], r.get("ranks"))
    assert all(a["start_ns"] + a["ns"] <= b["start_ns"] for a, b in zip(exchanges, exchanges[1:])), exchanges
    assert all(e["number"] > 0 and e["bytes"] > 0 and e["waited_ns"] >= 0 for e in exchanges), exchanges
    assert not exchanges or 0 <= launch["exchange_hidden"] <= 1, launch'
exits 0 "and a trace draws them" "$tsr" bench small.tsr --backend cpu --threads 1 --quick --ranks 2 --export trace=trace.json
exits 0 "on their own track" /usr/bin/python3 -c '
import json
events = [e for e in json.load(open("trace.json"))["traceEvents"] if e["name"] == "exchange"]
assert events and all(e["cat"] == "comm" and e["args"]["bytes"] > 0 for e in events), events
assert {e["tid"] for e in events}.isdisjoint(e["tid"] for e in events if e["cat"] != "comm")'
for layout in dp=4 tp=2,dp=2 dp=2,tp=2; do
    exits 0 "--layout $layout changes no bit" "$tsr" bench small.tsr --backend interp,cpu --threads 1 --quick --ranks 4 --layout $layout
done
step=$root/corpus/models/sharded.tsr:gpt_step_sharded
exits 0 "steps on one rank" "$tsr" run "$step" --case small --steps 20 --threads 1 --out one
exits 0 "steps on three ranks" "$tsr" run "$step" --case small --steps 20 --threads 1 --ranks 3 --transport shm --out three
cat one/*.npy >one.all && cat three/*.npy >three.all
same one.all three.all "twenty steps have the same bits on one rank and on three"

# ---- by MPI, where it is

if [ -f "$(dirname "$tsr")/libtessera-ucx.so" ]; then
    exits 0 "ranks that UCX joins have the interpreter's bits" "$tsr" bench small.tsr --backend interp,cpu --threads 1 --quick --ranks 3 --transport ucx
    exits 0 "steps on ranks of UCX" "$tsr" run "$step" --case small --steps 20 --threads 1 --ranks 4 --layout dp=2,tp=2 --transport ucx --out ucx
    cat ucx/*.npy >ucx.all
    same one.all ucx.all "twenty steps have the same bits on four ranks of UCX"
fi
if [ -f "$(dirname "$tsr")/libtessera-mpi.so" ] && command -v mpirun >/dev/null; then
    exits 0 "ranks that mpirun starts have the interpreter's bits" "$tsr" bench small.tsr --backend interp,cpu --threads 1 --quick --ranks 3 --transport mpi
    exits 0 "steps on ranks of mpirun" "$tsr" run "$step" --case small --steps 20 --threads 1 --ranks 4 --layout dp=2,tp=2 --transport mpi --out mpi
    cat mpi/*.npy >mpi.all
    same one.all mpi.all "twenty steps have the same bits on four ranks of mpirun"
else
    echo "skipped: MPI is not there"
    exits 4 "without MPI its ranks are told to be missing" "$tsr" bench small.tsr --backend cpu --ranks 2 --transport mpi
fi

# ---- what cannot be

exits 2 "no ranks are none" "$tsr" bench small.tsr --ranks 0
exits 2 "an unknown transport is refused" "$tsr" bench small.tsr --ranks 2 --transport pigeons
exits 2 "--transport needs --ranks" "$tsr" bench small.tsr --transport shm
exits 2 "--layout needs --ranks" "$tsr" bench small.tsr --layout dp=2
exits 2 "a run has one number of ranks" "$tsr" run small.tsr --case small --ranks 2,3 --out out
exits 4 "sixteen ranks do not divide over eight shards" "$tsr" bench small.tsr --backend cpu --ranks 16
exits 3 "a layout has as many ranks as there are" "$tsr" bench small.tsr --backend cpu --ranks 2 --layout dp=3
exits 3 "a layout names axes of the program" "$tsr" bench small.tsr --backend cpu --ranks 2 --layout rows=2
rm -rf .tsr

# ---- a failure keeps its ranks

exits 1 "a fault is found on ranks, too" "$tsr" bench small.tsr --backend cpu --threads 1 --ranks 3 --transport shm --inject flip-bit
for pack in .tsr/failures/parted-small-*; do
    exits 0 "the pack replays" "$tsr" replay "$pack" --json
    has out '"verdict": *"REPRODUCED' "on its ranks it fails again"
    exits 0 "the pack shows" "$tsr" replay "$pack" --show
    mkdir -p opened && tar -I lz4 -xf "$pack" -C opened
    has opened/manifest.json '"ranks": *3' "the pack has its ranks"
    exits 0 "it is bisected" "$tsr" replay "$pack" --bisect --json
    has out '"place": *"code"' "as the case of one rank, which fails as it does"
done
exits 0 "a case is packed with its ranks" "$tsr" pack-repro parted --case small --backend cpu --threads 1 --ranks 4 --layout dp=2,tp=2 -o four.pack small.tsr
exits 0 "and replays on them" "$tsr" replay four.pack --json
has out '"ranks": *4' "as many"
has out '"layout": *"dp=2,tp=2"' "laid over the axes as they were"
has out '"verdict": *"REPRODUCED_EXACT"' "with the same bits"
exits 2 "a case has one number of ranks" "$tsr" pack-repro parted --case small --backend cpu --threads 1 --ranks 2,4 small.tsr
finish
