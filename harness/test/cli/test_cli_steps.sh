# test_cli_steps.sh - tsr run --steps: states that go from step to step, stay when a run is killed, and travel in files; print and check.
source "$(dirname "$0")/lib.sh"
cat >steps.tsr <<'END'
from tessera import *


@cases(case("a", N=5, x=constant(0)))
@jit(donate=("x", "seen"))
def walk(step: Tensor[i32], x: Tensor["N", f32], seen: Tensor[i32]) -> tuple[Tensor["N", f32], Tensor[i32], Tensor[i32]]:
    """A random walk, how often it was above 0, and a token of each step."""
    x = x + normal((N,), seed=3, step=step)
    seen = seen + cast(x[0] > 0.0, i32)
    return x, seen, categorical(x, step=step)


@cases(case("a", H=2, S=4, D=3, cache=KVCache(length=constant(0))))
@jit
def fill(step: Tensor[i32], cache: KVCache[1, "H", "S", "D", f32]) -> KVCache[1, "H", "S", "D", f32]:
    k = normal((1, H, 1, D), step=step)
    print("step", step, "of", S)
    cache = cache.append(k, k)
    return cache
END
exits 0 "twelve steps in one run" "$tsr" run steps.tsr:walk --steps 12 --out whole --save whole.safetensors
exits 0 "on the interpreter" "$tsr" run steps.tsr:walk --steps 12 --out oracle --backend interp
exits 0 "both have the same bits" diff -r whole oracle
exits 0 "five steps, which are kept" "$tsr" run steps.tsr:walk --steps 5 --out part --state kept
printf 'of steps behind the states' >>kept/out2.steps # as a run that is killed leaves them
exits 0 "and seven more" "$tsr" run steps.tsr:walk --steps 12 --out parts --state kept
exits 0 "are the twelve" diff -r whole parts
exits 0 "states travel in a file" "$tsr" run steps.tsr:walk --steps 1 --load whole.safetensors --out more --save more.safetensors
exits 0 "and are what the run had" python3 -c "
import numpy as np
assert np.load('whole/out2.npy').shape == (12,)
walk, step = np.load('whole/x_out.npy'), np.load('more/x_out.npy')
assert walk.shape == step.shape == (5,) and (walk != step).any()"
"$tsr" compile steps.tsr:walk --case a --emit module -o walk.tsrm >out 2>err
exits 3 "a module's inputs are not drawn" "$tsr" run walk.tsrm --steps 12 --out module
exits 0 "a first state" "$tsr" run steps.tsr:walk --steps 1 --out one --save one.safetensors
exits 0 "a module goes on likewise" "$tsr" run walk.tsrm --steps 11 --load one.safetensors --out module
exits 0 "with the bits of the source" "$tsr" run steps.tsr:walk --steps 11 --load one.safetensors --out source
exits 0 "as it does" diff -r module source

"$tsr" run steps.tsr:walk --steps 100000000 --state killed --out killed.out >out 2>err </dev/null &
walker=$!
until [ -s killed/state.json ] || ! kill -0 $walker 2>/dev/null; do sleep 0.1; done
kill -9 $walker
wait $walker 2>/dev/null
total=$(python3 -c "
import json
print(json.load(open('killed/state.json'))['step'] + 10)")
exits 0 "a run that was killed goes on" "$tsr" run steps.tsr:walk --steps "$total" --state killed --out resumed
exits 0 "beside one that was not" "$tsr" run steps.tsr:walk --steps "$total" --out through
exits 0 "both have the same bits" diff -r resumed through
# A model that draws token after token, killed wherever it was.
model=("$tsr" run "$root/corpus/models/gpt.tsr:generate" --steps 200)
exits 0 "200 tokens" "${model[@]}" --out drawn
for wait in 0.05 0.1 0.2; do
    "${model[@]}" --state "model$wait" --out stopped >out 2>err </dev/null &
    writer=$!
    sleep $wait
    kill -9 $writer 2>/dev/null
    wait $writer 2>/dev/null
    exits 0 "killed after $wait s, and resumed" "${model[@]}" --state "model$wait" --out "resumed$wait"
    exits 0 "they are the same" diff -r drawn "resumed$wait"
done
exits 0 "half of them" "$tsr" run "$root/corpus/models/gpt.tsr:generate" --steps 90 --state halves --out half
exits 0 "and the others" "${model[@]}" --state halves --out both
exits 0 "are the same, too" diff -r drawn both
exits 0 "of several kinds" python3 -c "
import numpy as np
assert len(set(np.load('drawn/out2.npy').argmax(1))) > 5"

exits 3 "states of another program" "$tsr" run steps.tsr:fill --steps 2 --state killed
truncate -s 40 killed/state-*.safetensors
exits 3 "states that were cut" "$tsr" run steps.tsr:walk --steps 2 --state killed
exits 2 "a folder for states of one launch" "$tsr" run steps.tsr:walk --state kept

cat >turns.tsr <<'END'
from tessera import *


@cases(case("none", N=3, x=constant(0), limit=constant(0)), case("below", N=3, x=constant(4), limit=constant(3)), case("above", N=3, x=constant(9), limit=constant(3)))
@kernel
def halves(x: Tensor["N", f32], limit: Tensor[f32]) -> Tensor["N", f32]:
    while bounded(max(x) > 1.0, 10):
        x = x * 0.5
        for i in range(N):
            debug.check(take(x, i) < limit, "too great")
    return x
END
exits 1 "a check in a while" "$tsr" bench turns.tsr --backend interp,cpu,ptx-emulated --quick --json
mv out results.json
exits 0 "sees the turns that happen" python3 -c "
import json
for r in json.load(open('results.json'))['results']:
    assert (r['status'] == 'mismatch' and 'too great' in r['why']) if r['case'] == 'above' else r['status'] == 'ok', r"

cat >both.tsr <<'END'
@cases(case("a", N=3, x=constant(9)))
@kernel
def both(x: Tensor["N", f32]) -> Tensor["N", f32]:
    debug.check(x > 0.0, "fine")
    debug.check(x < 8.0, "the first")
    debug.check(x < 7.0, "the second")
    return x
END
exits 1 "of several checks" "$tsr" bench both.tsr --backend interp,cpu --quick --json
has out '"why": "debug.check in line 5: the first"' "the first is told"
hasnt out "the second" "and no other"
exits 1 "as when it runs" "$tsr" run both.tsr:both --steps 1 --out both
has err "both.tsr:5: both: the first$|both.tsr:5: step 0 of both: the first$" "by a launch"

# print() in loops and branches: turn by turn, and those that happen alone.
cat >told.tsr <<'END'
def turned(total, x):
    print("total", total)
    return total + x, None

@cases(case("a", N=2, x=constant(3)), case("none", N=0, x=constant(3)))
@jit
def told(x: Tensor["N", f32]) -> tuple[Tensor["N", f32], Tensor[f32]]:
    n = 0
    while bounded(n < 3, 10):
        n, x = n + 1, x * 2.0
        print("turn", n, "of", x)
        if n > 1:
            for i in range(N):
                print("place", i)
        else:
            print("first", n)
    total, nothing = scan(turned, 0.0, x, reverse=True)
    return x, total
END
for case in a none; do
    for backend in interp cpu ptx-emulated rocm-emulated; do
        exits 0 "told/$case on $backend" "$tsr" run told.tsr:told --case $case --steps 1 --backend $backend --out told.out
        grep -v told.out out >"told.$case.$backend"
    done
done
cat >wanted <<'END'
turn 1 of [6, 6]
first 1
turn 2 of [12, 12]
place 0
place 1
turn 3 of [24, 24]
place 0
place 1
total 0
total 24
END
exits 0 "each turn prints" diff wanted told.a.cpu
printf 'turn 1 of []\nfirst 1\nturn 2 of []\nturn 3 of []\n' >wanted
exits 0 "loops of no turns print nothing" diff wanted told.none.cpu
for backend in interp ptx-emulated rocm-emulated; do
    exits 0 "the same on $backend" cmp "told.a.$backend" told.a.cpu
    exits 0 "and there" cmp "told.none.$backend" told.none.cpu
done

exits 0 "as many places as the cache has" "$tsr" run steps.tsr:fill --steps 4 --out full --save full.safetensors
has out "^step 3 of 4$" "each step prints"
exits 1 "one more" "$tsr" run steps.tsr:fill --steps 5 --out over
has err "steps.tsr:19: step 4 of fill: the cache is full \(cache.length: 5\)$" "is told, with its line and the length"
hasnt out "cache_out" "and nothing is written"
exits 1 "likewise on the interpreter" "$tsr" run steps.tsr:fill --steps 5 --out over --backend interp
has err "the cache is full \(cache.length: 5\)$" "with the length"
exits 1 "and on a device" "$tsr" run steps.tsr:fill --steps 5 --out over --backend ptx-emulated
has err "the cache is full \(cache.length: 5\)$" "with the length"
sed 's/length=constant(0)/length=constant(4)/' steps.tsr >full.tsr
exits 1 "bench fails where a check does" "$tsr" bench full.tsr --filter fill --backend interp,cpu --json
mv out results.json
exits 0 "with the reason" python3 -c "
import json
results = json.load(open('results.json'))['results']
assert len(results) == 2 and all(r['status'] == 'mismatch' and 'the cache is full (cache.length: 5)' in r['why'] for r in results), results"
finish
