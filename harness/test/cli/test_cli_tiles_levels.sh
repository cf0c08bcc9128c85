# test_cli_tiles_levels.sh - kernels of tiles compiled for CPUs: their bits are the interpreter's, on every level, at edges, with any
# number of threads. The interpreter writes them out instance by instance; the compiler joins the instances where it can.
source "$(dirname "$0")/lib.sh"
touch out err
kernels=$root/harness/test/cli/tiles/kernels.tsr
carried=$root/harness/test/cli/tiles/carried.tsr

# Numbers of program instances left in each kernel, and the orders of its contractions.
while read -r kernel instances orders; do
    "$tsr" compile "$kernels" --kernel "$kernel" --case a --emit-after join-tiles >out 2>err
    found=$(grep -c 'tessera.tiles' out)
    got=$(grep -o 'order = "chunk[0-9]*"' out | grep -o 'chunk[0-9]*' | sort -u | paste -sd, -)
    if [ "$found" = "$instances" ] && [ "${got:--}" = "$orders" ]; then
        pass "$kernel: $instances of instances, orders $orders"
    else
        fail "$kernel: $found of instances, orders ${got:--}"
    fi
done <<'KERNELS'
tile_matmul 0 chunk32
tile_softmax 0 -
layernorm_tiles 0 -
attention_tiles 0 chunk512
local_attention_tiles 0 chunk512
mlp_tiles 0 chunk512
mlp_loop_tiles 0 chunk16,chunk512
quantised_tiles 0 chunk512
column_sums_tiles 0 -
stencil_tiles 0 -
online_tiles 0 chunk512
flash_attention 0 chunk512
dropout_tiles 0 -
flash_dropout 0 chunk512
group_columns 0 -
group_scales 0 -
group_rows 0 -
KERNELS

# All that a loop carries is one operation, whose turns are a loop below, too.
while read -r kernel folds; do
    "$tsr" compile "$carried" --kernel "$kernel" --case a --emit-after simplify >out 2>err
    found=$(grep -c 'tessera.fold' out)
    "$tsr" compile "$carried" --kernel "$kernel" --case a --emit schedule >out 2>err
    turns=$(grep -c 'axis = "turn"' out)
    if [ "$found" = "$folds" ] && [ "$turns" = "$folds" ]; then
        pass "$kernel: $folds folds"
    else
        fail "$kernel: $found folds, $turns loops over turns"
    fi
done <<'KERNELS'
swap 1
several 2
outputs 1
two_columns 1
kinds 1
many 1
shared 1
eight 1
nine 0
KERNELS
exits 0 "unoptimised, too" "$tsr" bench "$carried" --quick --backend cpu --unoptimised --db db

# Loops that are written out do not make phases turn by turn.
for kernel in "online_tiles a" "flash_attention b" "tile_matmul c"; do
    read -r name case <<<"$kernel"
    "$tsr" compile "$kernels" --kernel "$name" --case "$case" --isa x86-64-v3 --threads 1 --emit schedule >out 2>err
    phases=$(grep -c '"sched.phase"' out)
    if [ "$phases" -ge 1 ] && [ "$phases" -le 16 ]; then
        pass "$kernel: $phases phases"
    else
        fail "$kernel: $phases phases"
    fi
done

for level in x86-64-v2+fma x86-64-v3 x86-64-v4 x86-64-v4+dot native; do
    for threads in 1 2; do
        "$tsr" bench "$kernels" "$carried" --quick --backend cpu --isa "$level" --threads "$threads" --db db --export json=run.json >out 2>err </dev/null
        got=$?
        if [ "$got" -eq 4 ] && [ "$level" != native ]; then
            pass "$level # skipped: above this host's"
        elif [ "$got" -eq 0 ]; then
            pass "$level, $threads threads: the interpreter's bits"
        else
            fail "$level, $threads threads: exit $got"
        fi
    done
done
finish
