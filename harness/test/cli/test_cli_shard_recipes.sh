# test_cli_shard_recipes.sh - the recipes of ci/examples/shards: their shell with the variables that each scheduler sets, set by hand, gives
# the run that the corpus in one piece gives; GNU parallel itself where it is installed.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
if ! /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
    echo "skipped: the recipes for shards: python3-yaml is not installed"
    exit 77
fi
small_corpus
mkdir bin && ln -s "$tsr" bin/tsr
export PATH=$PWD/bin:$PATH CORPUS=$PWD/corpus BENCH="--quick --threads 1" TSR_TUNED=$PWD/none
recipes=$root/ci/examples/shards
rows() {
    "$tsr" log last --db "$1" --json | /usr/bin/python3 -c '
import json, sys
for r in json.load(sys.stdin)["results"]:
    print(r["kernel"], r["case"], r["backend"], r["threads"], r["check"]["sha256"], r["module_hash"])'
}
# shellcheck disable=SC2086
exits 0 "the corpus in one piece" "$tsr" bench "$CORPUS" $BENCH --db whole.db
rows whole.db >whole
is_whole() { # DATABASE NAME
    rows "$1" >part 2>/dev/null
    same whole part "$2: the results of the whole, each once, in their order"
}

# ---- Slurm: a task each, and the task that merges ----
task() { # ARGUMENTS of the task, with the variables of an array of three
    env SLURM_ARRAY_JOB_ID=4711 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 OUT="$PWD/slurm" "$@"
}
has "$recipes/slurm.sh" "^#SBATCH --exclusive" "Slurm: a node is for one shard"
for i in 1 3; do
    exits 0 "Slurm: task $i" task SLURM_ARRAY_TASK_ID=$i bash "$recipes/slurm.sh"
done
exits 5 "Slurm: the merge, while task 2 is missing" task env SET=4711 bash "$recipes/slurm.sh" merge
has err "set 4711 of 3 shards.*" "names the set"
has err "shard 2 of 3" "and the shard"
exits 0 "Slurm: the task alone, submitted again" env SLURM_ARRAY_JOB_ID=4800 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_ID=2 SET=4711 SHARDS=3 \
    OUT="$PWD/slurm" bash "$recipes/slurm.sh"
exits 0 "Slurm: the merge" env SET=4711 OUT="$PWD/slurm" bash "$recipes/slurm.sh" merge
is_whole slurm/4711.db Slurm
[ -s slurm/4711.html ] && pass "Slurm: and its page" || fail "Slurm: and its page"

# ---- Kubernetes, GitHub, GitLab ----
for name in kubernetes github gitlab; do
    exits 0 "$name: the fields are those of its scheduler" /usr/bin/python3 "$root/harness/test/cli/shard_recipes.py" "$recipes/$name.yml" "$name"
    mkdir "$name/work" && cd "$name/work" || exit 1
    of=$(cat ../of)
    for ((i = 1; i <= of; i++)); do
        exits 0 "$name: shard $i" env JOB_COMPLETION_INDEX=$((i - 1)) MATRIX_SHARD=$i RUN_ID=1122 CI_NODE_INDEX=$i CI_NODE_TOTAL="$of" \
            CI_PIPELINE_ID=99 RESULTS="$PWD" bash -euo pipefail ../shard.sh
    done
    exits 0 "$name: the merge" env RESULTS="$PWD" bash -euo pipefail ../merge.sh
    cp out err "$scratch" && cd "$scratch" || exit 1
    all=$(ls "$name"/work/all.db "$name"/work/nightly-1.db 2>/dev/null)
    is_whole "$all" "$name"
    [ -n "$(find "$name/work" -name '*.html')" ] && pass "$name: and a page" || fail "$name: and a page"
done
exits 1 "Kubernetes: a shard that cannot run is run again" env JOB_COMPLETION_INDEX=0 CORPUS=/nowhere RESULTS="$PWD" \
    bash -c 'bash -euo pipefail kubernetes/shard.sh && exit 0 || exit 1'
mine=$("$tsr" bench "$CORPUS" --list --shard 1/4 | sed 's/@.*//')
exits 0 "Kubernetes: one with a case that fails is not" env JOB_COMPLETION_INDEX=0 TSR_INJECT="zero@$mine" RESULTS="$PWD/failed" \
    bash -euo pipefail kubernetes/shard.sh
exits 0 "its log" "$tsr" log --db failed/nightly-1-0.db
has out "1 results, 1 failed, exit 1" "has what became of it"

# ---- GNU parallel ----
if [ -x /usr/bin/parallel ] && parallel --version 2>/dev/null | grep -q "GNU parallel"; then
    export PARALLEL_HOME=$PWD/.parallel OUT=$PWD/parallel SET=one
    mkdir -p "$PARALLEL_HOME" && : >"$PARALLEL_HOME/will-cite"
    exits 0 "GNU parallel: three shards here" bash "$recipes/parallel.sh" 3
    is_whole parallel/one.db "GNU parallel"
    exits 0 "GNU parallel: the same line again" bash "$recipes/parallel.sh" 3
    has err "3 were there" "runs nothing again"
    printf ':\n' >hosts
    exits 1 "GNU parallel: a shard that fails over a list of machines" env SET=two BENCH="--quick --threads 1 --filter nosuch" \
        bash -c 'bash "$1" 2 hosts && exit 0 || exit 1' - "$recipes/parallel.sh"
    exits 0 "GNU parallel: is run again" env SET=two bash "$recipes/parallel.sh" 2 hosts
    is_whole parallel/two.db "GNU parallel over a list"
else
    echo "skipped: GNU parallel is not installed"
fi
finish
