# test_cli_training.sh - tsr run of a training step: a hundred steps have the losses and weights of training.txt, also where they were killed.
source "$(dirname "$0")/lib.sh"
model=$root/corpus/models/training.tsr
recorded=$root/harness/test/cli/training.txt

# steps KERNEL OUT ARGUMENT...: a hundred steps of the small case; what they print goes to OUT.told, and a hash of all states with it.
steps() {
    local kernel=$1 out=$2
    shift 2
    exits 0 "$out: a hundred steps" "$tsr" run "$model:$kernel" --case small --steps 100 --out "$out" "$@"
    { grep '^step ' <out; weights_of "$out"; } >"$out.told"
}

weights_of() {
    (cd "$1" && sha256sum -- *_out.* | sha256sum | sed 's/ .*//; s/^/weights /')
}

steps gpt_step one --threads 1 --save one.safetensors --export jsonl=one.jsonl --export openmetrics=one.prom
if [ "${TSR_BLESS:-}" = 1 ]; then
    cp one.told "$recorded"
fi
exits 0 "they have the recorded losses and weights" diff "$recorded" one.told
steps gpt_step two --threads 2
steps gpt_step lower --isa x86-64-v2+fma
steps gpt_step oracle --backend interp
steps gpt_step_kept kept --threads 1
steps gpt_step_within within --threads 1
for other in two lower oracle kept within; do
    exits 0 "$other: the same bits" diff -r one "$other"
    exits 0 "$other: and prints" cmp "$recorded" "$other.told"
done

# A budget of a checkpoint: what is planned is within it, and more is kept where it is larger; below the least there is an error with that number.
planned() {
    sed "s/budget=9_000_000/budget=$1/" "$model" >budget.tsr
    "$tsr" compile budget.tsr --kernel gpt_step_within --case medium --emit metadata >planned 2>refused || return 1
    python3 -c "import json; print(json.load(open('planned'))['program']['arena_bytes'])"
}
small=$(planned 8000000)
large=$(planned 11000000)
exits 0 "budgets of 8 and 11 MB are kept to, and used" [ 6800000 -lt "$small" -a "$small" -le 8000000 -a 9000000 -lt "$large" -a "$large" -le 11000000 ]
exits 1 "a budget of 1 MB" planned 1000000
has refused "error\[E1109\]: the values between inputs and results need [0-9]+ bytes at least" "is refused at the checkpoint"
least=$(sed -n 's/.* need \([0-9]*\) bytes at least.*/\1/p' refused)
exits 1 "a byte less than the least" planned $((least - 1))
exits 0 "the least" planned "$least"

# Numbers of the steps, for others.
exits 0 "the exported losses are the results" python3 -c "
import json, numpy as np, re
lines = [json.loads(line) for line in open('one.jsonl')]
assert [line['step'] for line in lines] == list(range(100)) and all(line['seconds'] > 0 for line in lines)
losses = np.load('one/loss.npy')
assert (np.array([line['loss'] for line in lines], np.float32) == losses).all()
metrics = dict(re.findall(r'^(\w+)\{[^}]*\} (.*)', open('one.prom').read(), re.M))
assert metrics['tsr_steps'] == '100' and np.float32(metrics['tsr_step_value']) == losses[-1], metrics"
exits 2 "a format that steps have none of" "$tsr" run "$model:gpt_step" --case small --steps 2 --export csv=steps.csv --out none
exits 2 "one launch has no steps" "$tsr" run "$model:gpt_step" --case small --export jsonl=steps.jsonl --out none
printf '{"kernel": "gpt_step", "step": 0, "loss": 1, "seconds": 1}\nbroken\n{"step":1,"loss":2}\n{"step": 7' >broken.jsonl
exits 0 "steps with a state" "$tsr" run "$model:gpt_step" --case small --steps 2 --state mended --out none
exits 0 "a file with a broken line" "$tsr" run "$model:gpt_step" --case small --steps 3 --state mended --out none --export jsonl=broken.jsonl
exits 0 "keeps its lines" python3 -c "
lines = open('broken.jsonl').read().splitlines()
assert lines[1] == 'broken' and len(lines) == 4 and '\"step\": 2' in lines[3], lines"
exits 0 "a device" "$tsr" run "$model:gpt_step" --case small --steps 2 --out none --export jsonl=/dev/null
cat >step.tsr <<'END'
@cases(case("a", N=3))
@jit(donate="x")
def walk(x: Tensor["N", f32]) -> tuple[Tensor[f32], Tensor["N", f32]]:
    step = sum(x)
    x = x * 2.0
    return step, x
END
exits 3 "a result called step" "$tsr" run step.tsr:walk --steps 2 --out none --export jsonl=walk.jsonl
printf '{"step": 0, "loss": 1}\n{"step": 1, "loss": 1.0000000000000002}\n{"step": 2, "loss": -1e308}\n{"step": 3, "loss": 1e308}' >wild.jsonl
exits 0 "wild numbers, and a line that has not ended" "$tsr" report --steps wild.jsonl -o wild.html
exits 0 "a page of the losses" "$tsr" report --steps one.jsonl -o steps.html
exits 3 "a file that is none of steps" "$tsr" report --steps one.prom -o steps.html

# A checkpoint saves memory only if its blocks are computed again one after the other, each where it is needed.
for kernel in gpt_step gpt_step_kept; do
    exits 0 "$kernel: its memory" "$tsr" compile "$model" --kernel $kernel --case medium --isa x86-64-v3 --emit metadata -o $kernel.json
done
exits 0 "the checkpointed step takes at most 60 %" python3 -c "
import json
plain, kept = (json.load(open(name + '.json'))['program']['needed_bytes'] for name in ('gpt_step', 'gpt_step_kept'))
assert kept * 10 <= plain * 6, (kept, plain)"

exits 0 "all weights and moments are states" python3 -c "
import json
data = open('one.safetensors', 'rb').read()
names = set(json.loads(data[8 : 8 + int.from_bytes(data[:8], 'little')])) - {'__metadata__'}
assert {n.split('.')[1] for n in names} == {'weights', 'm', 'v', 'step'} and len(names) == 3 * 30 + 1, names"
exits 0 "half of the steps" "$tsr" run "$model:gpt_step" --case small --steps 50 --out half --save half.safetensors
exits 0 "the others, from a file" "$tsr" run "$model:gpt_step" --case small --steps 50 --load half.safetensors --out rest
for file in one/*_out.*; do
    exits 0 "$file: the same" cmp "$file" "rest/$(basename "$file")"
done

# Killed wherever it was.
for kernel in gpt_step gpt_step_bf16; do
    "$tsr" run "$model:$kernel" --case small --steps 100000000 --state "$kernel" --out stopped --export "jsonl=$kernel.jsonl" >out 2>err </dev/null &
    trainer=$!
    until [ -s "$kernel/state.json" ] || ! kill -0 $trainer 2>/dev/null; do sleep 0.05; done
    kill -9 $trainer
    wait $trainer 2>/dev/null
    total=$(python3 -c "
import json
print(json.load(open('$kernel/state.json'))['step'] + 10)")
    exits 0 "$kernel, killed, goes on" "$tsr" run "$model:$kernel" --case small --steps "$total" --state "$kernel" --out resumed --threads 1 --export "jsonl=$kernel.jsonl"
    exits 0 "beside one that was not" "$tsr" run "$model:$kernel" --case small --steps "$total" --out through --threads 2
    exits 0 "both have the same bits" diff -r resumed through
    exits 0 "each step has a line" python3 -c "
import json
assert [json.loads(line)['step'] for line in open('$kernel.jsonl')] == list(range($total))"
done

# A gradient that overflows changes no weight, and halves the scale.
exits 0 "an overflow" "$tsr" run "$model:gpt_step_bf16" --case overflow --steps 1 --out over --save over.safetensors
exits 0 "another one" "$tsr" run "$model:gpt_step_bf16" --case overflow --steps 2 --out more
exits 0 "leave weights as they are" python3 -c "
import numpy as np, pathlib
for path in pathlib.Path('over').glob('*_out.training.[wmv]*'):
    assert (np.load(path) == np.load('more/' + path.name)).all(), path
scale = lambda run: np.load(run + '/scaled_out.scale.npy')
assert scale('over') == 2 * scale('more'), (scale('over'), scale('more'))"
finish
