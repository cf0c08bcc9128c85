#!/bin/bash
# A benchmark in shards on Slurm: an array of tasks, and one that merges what they leave. docs/sharding.md explains it.
#
#   array=$(sbatch --parsable --array=1-16 ci/examples/shards/slurm.sh)
#   sbatch --dependency=afterany:"$array" --export=ALL,SET="$array" ci/examples/shards/slurm.sh merge
#
# A task that failed or was killed goes on where it was:
#
#   sbatch --array=3 --export=ALL,SET="$array",SHARDS=16 ci/examples/shards/slurm.sh
#
#SBATCH --job-name=tsr
#SBATCH --exclusive
#SBATCH --time=01:00:00
#SBATCH --output=tsr-%A-%a.log
set -eu
corpus=${CORPUS:-corpus/}
out=${OUT:-$PWD/shards} # a folder that all nodes see
set=${SET:-$SLURM_ARRAY_JOB_ID}
mkdir -p "$out"

if [ "${1:-}" = merge ]; then
    tsr log --merge "$out/$set"-*.db --db "$out/$set.db"
    exec tsr report last --db "$out/$set.db" -o "$out/$set.html"
fi
shards=${SHARDS:-$SLURM_ARRAY_TASK_COUNT}
# shellcheck disable=SC2086
exec tsr bench "$corpus" ${BENCH:-} --shard "$SLURM_ARRAY_TASK_ID/$shards:$set" --resume --db "$out/$set-$SLURM_ARRAY_TASK_ID.db"
