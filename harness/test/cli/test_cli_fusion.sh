# test_cli_fusion.sh - nothing goes to memory between the operations of a kernel that a schedule can keep in registers or in
# cache: the bytes that compiled kernels ask for, the workspace of a launch and the scratch of a thread.
source "$(dirname "$0")/lib.sh"
touch out err

# bytes KERNEL-FILE KERNEL CASE [OPTION...]: "WORKSPACE SCRATCH" of the compiled kernel
bytes() {
    local file=$1 kernel=$2 case=$3 level
    shift 3
    level=$("$tsr" compile "$root/corpus/$file.tsr" --kernel "$kernel" --case "$case" --emit tile "$@" 2>err) || return
    sed -n 's/.*scratch_bytes = \([0-9]*\) .*workspace_bytes = \([0-9]*\) .*/\2 \1/p' <<<"$level" | head -1
}

# Kernels, and the scratch that a thread may have: a row of f32 where the second of three loops computes what the third needs,
# and single values elsewhere.
while read -r file kernel case most; do
    for options in "--threads 1" "--threads 8" "--isa x86-64-v3" "--profile fast"; do
        # shellcheck disable=SC2086 # several words
        read -r workspace of_thread < <(bytes "$file" "$kernel" "$case" $options) || workspace=none
        if [ "$workspace" = 0 ] && [ "$of_thread" -le "$most" ]; then
            pass "$kernel/$case $options allocates nothing between its operations"
        else
            fail "$kernel/$case $options: a workspace of ${workspace:-no} bytes, scratch of ${of_thread:-no} (at most $most)"
        fi
    done
done <<'KERNELS'
normalisation/softmax softmax_rows large_4096 17000
normalisation/softmax logsumexp_rows large_4096 512
normalisation/norms layernorm_rows large_4096 512
normalisation/norms rmsnorm_rows large_4096 512
normalisation/norms layernorm_residual prime 1024
elementwise/activations gelu_bias large_4096 0
elementwise/activations silu_gate prime 0
elementwise/clamp clamp_select large_16m 0
elementwise/division divide_rows ragged 0
elementwise/saxpy saxpy stream_16m 0
elementwise/saxpy fma_chain prime 0
movement/transpose transpose2d large_4096 0
reduction/sum sum_rows large_4096 512
training/adam adam_step large_16m 0
KERNELS

# Contractions: what several threads read packed, totals and a block of rows in the cell, and never a whole intermediate.
# Attention, 16 heads of 1024 x 64: the keys packed, a sum for each row; the scores would be 64 MiB. A dense layer of 1024 x
# 4096: the weights packed; the product would be 16 MiB more. A convolution: the padded image; its windows would be 28 MiB.
while read -r file kernel case most; do
    read -r workspace of_thread < <(bytes "$file" "$kernel" "$case" --threads 2 --isa x86-64-v3) || workspace=none
    if [ "$workspace" -le "$most" ] && [ "$of_thread" -le $((2 << 20)) ]; then
        pass "$kernel/$case keeps its intermediates in cache"
    else
        fail "$kernel/$case: a workspace of ${workspace:-no} bytes (at most $most), scratch of ${of_thread:-no}"
    fi
done <<'KERNELS'
attention/attention attention_full large_1024 4300000
attention/attention attention_causal large_1024 4300000
matmul/linear linear_gelu large_1024 16800000
convolution/conv2d conv2d_3x3 large_56 3700000
KERNELS

# The same kernel with nothing computed together: what is counted is what would be there. Two matrices lie in the workspace at
# once, however many operations there are.
read -r workspace _ < <(bytes normalisation/softmax softmax_rows large_4096 --unoptimised)
[ "$workspace" -ge $((2 * 4096 * 4096 * 4)) ] && pass "unfused, softmax stores matrices" ||
    fail "unfused, softmax stores matrices: $workspace bytes"

finish
