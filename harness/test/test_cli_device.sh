#!/usr/bin/env bash
# test_cli_device.sh - --device: the corpus has the strict bits on devices whose memory the host may not touch; faults of a device
# are results of their cases.
. "$(dirname "$0")/lib.sh"
corpus=("$root/corpus")
[ -n "${TSR_SHORT:-}" ] && corpus=("$root/corpus/normalisation" "$root/corpus/matmul")
bench=("$tsr" bench --quick --backend cpu --profile strict)

for index in 0 1 2; do
    exits 0 "the corpus on simulated device $index" "${bench[@]}" "${corpus[@]}" --device "simulated:$index" --export json=run.json
    has run.json '"device": "simulated:' "says where"
    hasnt run.json '"median"' "and is not timed"
done
exits 0 "goldens are verified there" "$tsr" golden verify "$root/corpus/normalisation" --backend cpu --quick --device simulated
exits 0 "code for any dimensions" "${bench[@]}" "$root/corpus/normalisation" --generic --device simulated
exits 0 "on several threads, three devices at hand" env TESSERA_SIMULATED=3 "${bench[@]}" "$root/corpus/normalisation" --threads 1,3 --device simulated:2

exits 4 "no such device" "${bench[@]}" "$root/corpus/normalisation" --device nosuch
exits 4 "no such index" "${bench[@]}" "$root/corpus/normalisation" --device cpu:1
exits 4 "fewer than asked for" env TESSERA_SIMULATED=1 "${bench[@]}" "$root/corpus/normalisation" --device simulated:2
for name in cpu: cpu:x :1; do
    exits 2 "no name: $name" "${bench[@]}" "$root/corpus/normalisation" --device "$name"
done
exits 0 "another device" "$tsr" bench "$root/corpus/normalisation" --quick --backend cpu --profile strict --device cpu:0

exits 4 "a device that is not there any more" env TESSERA_SIMULATED_FAULTS=0:absent=1 "${bench[@]}" "$root/corpus/normalisation" --device simulated
exits 1 "a device without memory" env TESSERA_SIMULATED_FAULTS=0:memory=64 "${bench[@]}" "$root/corpus/normalisation" --device simulated \
    --export json=run.json
has run.json '"status": "error"' "is an error of each case"
finish
