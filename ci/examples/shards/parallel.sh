#!/bin/bash
# A benchmark in shards by GNU parallel, over the machines of a list that see this folder, one shard on each at a time.
# docs/sharding.md explains it.
#
#   ci/examples/shards/parallel.sh 16 hosts.txt     # a name on each line; : is this machine
#   ci/examples/shards/parallel.sh 4                # all on this machine, one after the other
#
# The same line again goes on with what was not finished, and leaves alone what was (SET names the set).
set -eu
shards=$1
hosts=${2:-}
corpus=${CORPUS:-corpus/}
out=${OUT:-$PWD/shards} # a folder that all machines see
set=${SET:-$(date -u +%Y%m%d)}
mkdir -p "$out"

# Exit codes 1 and 5 say what became of cases: such a shard is done, and is not run again.
# shellcheck disable=SC2016,SC2086
seq "$shards" | parallel ${hosts:+--sshloginfile "$hosts"} --jobs 1 --workdir "$PWD" --joblog "$out/$set.log" --resume-failed \
    'tsr bench' "$corpus" ${BENCH:-} --shard "{}/$shards:$set" --resume --db "$out/$set-{}.db" '; code=$?; [ $code -le 1 ] || [ $code -eq 5 ]'
tsr log --merge "$out/$set"-*.db --db "$out/$set.db"
