#!/usr/bin/env bash
# test_cli_device.sh - --device: the corpus has the strict bits on devices whose memory the host may not touch; faults of a device
# are results of their cases.
. "$(dirname "$0")/lib.sh"
corpus=("$root/corpus")
[ -n "${TSR_SHORT:-}" ] && corpus=("$root/corpus/normalisation" "$root/corpus/matmul")
bench=("$tsr" bench --quick --backend cpu --profile strict)

for index in 0 1 2; do
    exits 0 "the corpus on simulated device $index" "$tsr" golden verify --quick --backend cpu "${corpus[@]}" --device "simulated:$index"
    has err "$all_hold, 0 " "has the strict bits"
done
exits 0 "a benchmark there" "${bench[@]}" "$root/corpus/normalisation" --device simulated:1 --export json=run.json
has run.json '"device": "simulated:1"' "says where"
has run.json '"median"' "is timed by the device's clock"
hasnt run.json '"fraction"' "and has no ceilings of the host's"
exits 0 "code for any dimensions" "$tsr" golden verify --quick --backend cpu "$root/corpus/normalisation" --generic --device simulated
exits 0 "on several threads, three devices at hand" env TESSERA_SIMULATED=3 "$tsr" golden verify --quick --backend cpu "$root/corpus/normalisation" --threads 1,3 --device simulated:2

"$tsr" gate --quick --baseline "$tsr" --always-time "$root/corpus/normalisation" --filter 'softmax_log*' --device simulated:1 \
    --margin 20 --mde 90 --budget 60 --export json=gate.json >out 2>err
case $? in
0 | 5) pass "the gate times there" ;; # 5: on a busy machine it may not be sure
*) fail "the gate times there" ;;
esac
hasnt gate.json '"FAILED"' "and finds nothing wrong"
exits 4 "a gate on no device" "$tsr" gate --baseline "$tsr" "$root/corpus/normalisation" --device nosuch
exits 2 "instructions are the host's" "$tsr" gate --baseline "$tsr" "$root/corpus/normalisation" --device simulated --counters instructions
exits 0 "a pack names its device" "$tsr" pack-repro softmax_log --case prime "$root/corpus/normalisation" --backend cpu --device simulated:1 -o p.tar.lz4
exits 0 "and is replayed there" "$tsr" replay p.tar.lz4 --json
cp out replay.json
has replay.json '"device": "simulated:1"' "as its result says"
exits 4 "or not, where it is missing" env TESSERA_SIMULATED=1 "$tsr" replay p.tar.lz4

exits 4 "no such device" "${bench[@]}" "$root/corpus/normalisation" --device nosuch
exits 4 "no such index" "${bench[@]}" "$root/corpus/normalisation" --device cpu:1
exits 4 "fewer than asked for" env TESSERA_SIMULATED=1 "${bench[@]}" "$root/corpus/normalisation" --device simulated:2
for name in cpu: cpu:x :1; do
    exits 2 "no name: $name" "${bench[@]}" "$root/corpus/normalisation" --device "$name"
done
exits 2 "a device that loads other code" "$tsr" bench "$root/corpus/normalisation" --quick --backend ptx-emulated --profile strict --device cpu:0
exits 2 "the emulated device of other code" "$tsr" bench "$root/corpus/normalisation" --quick --backend ptx-emulated --profile strict --device emulated:1
exits 0 "its own" "$tsr" bench "$root/corpus/normalisation" --quick --backend ptx-emulated --profile strict --device emulated:0
exits 0 "another device" "$tsr" bench "$root/corpus/normalisation" --quick --backend cpu --profile strict --device cpu:0

exits 4 "a device that is not there any more" env TESSERA_SIMULATED_FAULTS=0:absent=1 "${bench[@]}" "$root/corpus/normalisation" --device simulated
exits 1 "a device without memory" env TESSERA_SIMULATED_FAULTS=0:memory=64 "${bench[@]}" "$root/corpus/normalisation" --device simulated \
    --export json=run.json
has run.json '"status": "error"' "is an error of each case"
finish
