# test_cli_check.sh - tsr check: what must not decide a bit is varied, and each function that lets it is found, by the relation
# that is broken.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_relations.so
cat >k.tsr <<'END'
from tessera import *


@cases(case("usual", M=40, N=60))
@kernel
def row_sums(x: Tensor["M", "N", f32]) -> Tensor["M", f32]:
    """The sum of each row: M is a batch, N is not."""
    return sum(x, axis=1)


@cases(case("usual", M=20, N=30))
@kernel
def total(x: Tensor["M", "N", f32]) -> Tensor[1, f32]:
    """No dimension is a batch."""
    return reshape(sum(sum(x, axis=1), axis=0), (1,))


@cases(case("usual", B=3, M=9, N=7, K=11))
@kernel
def product(x: Tensor["B", "M", "K", f32], y: Tensor["B", "K", "N", f32]) -> Tensor["B", "M", "N", f32]:
    """All dimensions but the contracted one are batches."""
    return x @ y


def energy(x, w):
    return sum(tanh(checkpoint(tanh)(x @ w) @ w))


@cases(case("usual", M=9))
@kernel
def derived(x: Tensor["M", "M", f32], w: Tensor["M", "M", f32]) -> Tensor["M", "M", f32]:
    """A derivative in reverse."""
    return grad(energy, argnums="w")(x, w)


@cases(case("usual", M=9, N=7))
@kernel
def numbered(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Each row knows its number, so M is no batch; N is."""
    return x + reshape(cast(iota((M,)), f32), (M, 1))


@cases(case("usual", M=9, N=21, lengths=integers(0, 22)))
@kernel
def partial_sums(x: Tensor["M", "N", f32], lengths: Tensor["M", i32]) -> Tensor["M", f32]:
    """The sum of the first elements of each row."""
    return sum(where(reshape(iota((N,)), (1, N)) < reshape(lengths, (M, 1)), x, 0), axis=1)
END
cat >states.tsr <<'END'
from tessera import *


@cases(case("usual", N=5, S=9, D=3, cache=KVCache(length=constant(0))))
@verify.steps("N")
@jit
def seen(x: Tensor["N", "D", f32], cache: KVCache[1, 1, "S", "D", f32]) -> tuple[Tensor["N", f32], KVCache[1, 1, "S", "D", f32]]:
    """What each place sees."""
    cache = cache.append(x[None, None], x[None, None])
    return sum(where(cache.mask(N), sum(cache.K[0, 0], axis=1)[None, :], 0.0), axis=1), cache


@cases(case("usual", N=5, S=9, D=3, cache=KVCache(length=constant(0))))
@verify.steps("N")
@jit
def foreseen(x: Tensor["N", "D", f32], cache: KVCache[1, 1, "S", "D", f32]) -> tuple[Tensor["N", f32], KVCache[1, 1, "S", "D", f32]]:
    """Each place sees those behind it, too."""
    cache = cache.append(x[None, None], x[None, None])
    return full((N,), 1.0, f32) * sum(where(arange(S) < cache.length, sum(cache.K[0, 0], axis=1), 0.0)), cache
END
cat >room.tsr <<'END'
from tessera import *


@state
class Shelf(Generic["S"]):
    books: Tensor["S", f32]
    taken: Tensor[i32]

    def invariant(self):
        """there is no room"""
        return (self.taken >= 0) & (self.taken <= full((), self.books.shape[0], i32))


def told(holds):
    return where(holds, full((), 0, f32), 5000.0)


@cases(case("usual", N=5, S=90, shelf=Shelf(taken=constant(60))))
@verify.numerics(bounded=[-1000, 1000])
@jit
def own(x: Tensor["N", f32], shelf: Shelf["S"]) -> tuple[Tensor[f32], Shelf["S"]]:
    after = replace(shelf, taken=shelf.taken + full((), N, i32))
    return told(after.invariant()), after


@cases(case("usual", N=5, S=90, cache=KVCache(length=constant(60))))
@verify.numerics(bounded=[-1000, 1000])
@jit
def cached(x: Tensor["N", 3, f32], cache: KVCache[1, 1, "S", 3, f32]) -> tuple[Tensor[f32], KVCache[1, 1, "S", 3, f32]]:
    after = cache.append(x[None, None], x[None, None])
    return told(after.invariant()), after


@cases(case("usual", N=5, R=6, C=4, cache=PagedKVCache(table=integers(0, 5), lengths=integers(0, 19))))
@verify.numerics(bounded=[-1000, 1000])
@jit
def paged(
    x: Tensor["N", 3, f32], cache: PagedKVCache[1, 1, "R", "C", 4, 3, f32]
) -> tuple[Tensor[f32], PagedKVCache[1, 1, "R", "C", 4, 3, f32]]:
    after = cache.append(x[None, None], x[None, None])
    return told(min(cast(after.invariant(), i32)) > 0), after


@cases(case("usual", N=5, limit=constant(7)))
@verify.numerics(bounded=[-1000, 1000])
@kernel
def never(x: Tensor["N", f32], limit: Tensor[i32]) -> Tensor[f32]:
    debug.check(limit < 0)
    return told(limit < 0)
END
cat >verdicts.py <<'END'
import json, sys
for r in json.load(open("out"))["results"]:
    print(r["relation"] + (f"({r['dim']})" if r["dim"] else ""), r["verdict"].replace(" ", "-"))
END
check=("$tsr" check k.tsr --timeout 20)

# Ours keeps all of them, and which dimensions are batches follows from the kernel.
exits 0 "ours holds" "${check[@]}" --json
python3 verdicts.py >verdicts
hasnt verdicts "violated" "nothing is violated"
for one in row_sums:M product:B product:M product:N numbered:N; do
    exits 0 "batches of ${one%:*}" "${check[@]}" --filter "${one%:*}" --relation batch --json
    python3 verdicts.py >verdicts
    has verdicts "^batch\\(${one#*:}\\) holds" "${one#*:} is a batch of ${one%:*}"
done
for one in row_sums:N product:K numbered:M; do
    exits 0 "batches of ${one%:*}" "${check[@]}" --filter "${one%:*}" --relation batch --json
    python3 verdicts.py >verdicts
    hasnt verdicts "^batch\\(${one#*:}\\)" "${one#*:} is no batch of ${one%:*}"
done
exits 5 "no batch, no verdict" "${check[@]}" --filter total --relation batch --json
python3 verdicts.py >verdicts
has verdicts "^batch not-verified" "and it is said"

# Steps of a state at once, and one after the other.
exits 0 "steps" "$tsr" check states.tsr --filter seen --relation steps
exits 1 "steps that see others" "$tsr" check states.tsr --filter foreseen --relation steps --json
python3 verdicts.py >verdicts
has verdicts "^steps violated" "are found"
exits 0 "their pack" "$tsr" replay "$(python3 -c 'import json; print(json.load(open("out"))["results"][0]["pack"])')"
has out "^REPRODUCED_EXACT" "happens again"
exits 5 "no steps, no verdict" "${check[@]}" --filter total --relation steps

# Several sets of inputs at once, as vmap computes them, and each alone; not of code of others, and not of kernels of tiles.
for one in row_sums total product numbered partial_sums; do
    exits 0 "$one at once" "${check[@]}" --filter "$one" --relation vmap --json
    python3 verdicts.py >verdicts
    has verdicts "^vmap holds" "$one has the bits of each alone"
done
# Derivatives that compute values again, or none; not where there is none, which only one who asks is told.
exits 0 "a derivative" "${check[@]}" --filter derived --relation remat --json
python3 verdicts.py >verdicts
has verdicts "^remat holds" "a derivative has the bits of the one that computes all again"
exits 5 "no derivative" "$tsr" check k.tsr --filter row_sums --relation remat

# A function's own derivative beside the derived one: a wrong factor is seen, unless the rule says that it differs.
cat >rules.tsr <<'END'
def steady(x):
    return log1p(exp(x))

@steady.vjp
def right(x, y, ct):
    return ct * logistic(x)

def gated(x):
    return tanh(x) * x

@gated.jvp
def off(x, y, t):
    return t * (x * (1.0 - tanh(x) * tanh(x)) + 1.001 * tanh(x))

def curved(x):
    return sin(x)

@curved.vjp
def no_number(x, y, ct):
    return ct * log(0.0 - abs(x) - 1.0)

def bounded(x):
    return x * 1.0

@bounded.vjp(differs=True)
def cut(x, y, ct):
    return clip(ct, -0.1, 0.1)

def steady_loss(x):
    return sum(steady(x) * bounded(x))

def gated_loss(x):
    return sum(gated(x))

def bounded_loss(x):
    return sum(bounded(x))

def curved_loss(x):
    return sum(curved(x))

@cases(case("a", N=50))
@kernel
def curved_slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(curved_loss)(x)

@cases(case("a", N=50))
@kernel
def steady_slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(steady_loss)(x)

@cases(case("a", N=50))
@kernel
def gated_slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(gated_loss)(x)

@cases(case("a", N=50))
@kernel
def bounded_slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(bounded_loss)(x)
END
exits 0 "a rule" "$tsr" check rules.tsr --filter steady_slope --relation rules
exits 1 "a rule with a wrong factor" "$tsr" check rules.tsr --filter gated_slope --relation rules
exits 1 "a rule that gives no numbers" "$tsr" check rules.tsr --filter curved_slope --relation rules
exits 5 "a rule that says that it differs" "$tsr" check rules.tsr --filter bounded_slope --relation rules

exits 5 "code of others at once" "$tsr" check k.tsr --filter row_sums --with "$functions" --relation vmap

# Integers of a state are within what its record and the kernel check, on each shape where any are.
for kernel in own cached paged; do
    exits 0 "room in what $kernel takes" "$tsr" check room.tsr --filter "$kernel" --relation numerics
    has out "numerics +holds .[0-9]+ runs on [2-9][0-9]* shapes" "is on all shapes that are drawn"
done
exits 1 "checks that no numbers keep" "$tsr" check room.tsr --filter never --relation numerics

# One function for each relation that can be broken.
while read -r symbol relation; do
    exits 1 "$symbol is found" "${check[@]}" --with "$functions:$symbol=row_sums" --filter row_sums --relation "${relation%(*}" \
        --vary TEST_ORDER=forward,backward --json
    python3 verdicts.py >verdicts
    has verdicts "^${relation/(M)/\\(M\\)} violated" "$symbol violates $relation"
    has out '"bits": \[' "$symbol: both bit patterns are shown"
    case $relation in strides | poison | position* | environment) ;; *) continue ;; esac
    exits 0 "$symbol: its pack" "$tsr" replay "$(python3 -c 'import json; print(json.load(open("out"))["results"][0]["pack"])')" --trust
    has out "^REPRODUCED_EXACT" "$symbol happens again"
done <<'END'
by_chance repetition
by_threads threads
by_place_in_memory alignment
by_output poison
into_input memory
before_its_beginning memory
past_its_end memory
by_neighbour neighbours
by_position position(M)
by_others isolation(M)
by_environment environment
by_strides strides
into_gaps strides
by_others special
by_payload payloads
END
exits 1 "what a mask hides" "${check[@]}" --with "$functions:by_mask=partial_sums" --filter partial_sums --relation masked --json
python3 verdicts.py >verdicts
has verdicts "^masked violated" "is multiplied by zero"
exits 0 "what a mask hides" "${check[@]}" --with "$functions:by_what_is_seen=partial_sums" --filter partial_sums \
    --relation masked,special,payloads --json
python3 verdicts.py >verdicts
hasnt verdicts "violated|not-verified" "is not read"
exits 1 "bytes between rows" "${check[@]}" --with "$functions:into_gaps=row_sums" --filter row_sums --relation strides
has out "byte .* 0x5a .* 0x00" "are told"
exits 1 "bytes behind an output" "${check[@]}" --with "$functions:past_its_end=row_sums" --filter row_sums --relation memory
has out "out, .*byte \\[8\\] .*0x5a .* 0x11" "are told by place"
has out ": 4 bytes" "and by number"
exits 1 "an input" "${check[@]}" --with "$functions:into_input=row_sums" --filter row_sums --relation memory
has out "x, .*\\[0, 0\\] .*0x.* 0x3f000000 \\(0.5\\)" "is told in numbers"
for one in leaves_the_last:1 by_output:0; do
    exits 1 "${one%:*}" "${check[@]}" --with "$functions:${one%:*}=row_sums" --filter row_sums --relation poison --json
    python3 - "${one#*:}" <<'END' && pass "and whether a value is wrong" || fail "and whether a value is wrong"
import json, sys
one = json.load(open("out"))["results"][0]
assert any(one["example"]["judged"]["outside"]) == bool(int(sys.argv[1])), one
least, most = one["sizes"]["M"]
assert 1 <= least <= most <= 62, one
END
done
exits 1 "a function that never returns" "${check[@]}" --with "$(dirname "$functions")/test_functions.so:hangs=row_sums" --filter row_sums \
    --relation repetition,memory,caches --budget 1
has out "memory +not verified" "ends with the budget"
exits 0 "one stream" bash -c 'exec "$@" >both 2>&1' - "${check[@]}" --filter row_sums --relation repetition
[ "$(tail -1 both | grep -c "1 relation: 1 hold")" -eq 1 ] && pass "has the sum at its end" || fail "has the sum at its end"
exits 0 "tensors as they lie" "${check[@]}" --with "$functions:as_they_lie=row_sums" --filter row_sums --relation strides
has out "strides +holds" "are read so"
exits 5 "dense tensors alone" "${check[@]}" --with "$functions:dense_alone=row_sums" --filter row_sums --relation strides
has out "strides +not verified.*dense tensors alone" "is no violation"
exits 5 "ours" "${check[@]}" --filter row_sums --relation strides
exits 1 "the size at which bits change" "${check[@]}" --with "$functions:by_batch=row_sums" --filter row_sums --relation batch
has out "$batch_violated" "is found"
has out "is 0x[0-9a-f]{8} .* and 0x[0-9a-f]{8} " "with both bit patterns"
has out "between M=16 and M=17" "and the size"
has out "another kernel, or another cut" "with what it usually is"
exits 1 "a wrong value" "${check[@]}" --with "$functions:leaves_the_last=row_sums" --filter row_sums --relation poison
has out "(is|are) wrong, not only other" "is called so"
hasnt out "^ +\\(" "and nothing is guessed of it"
exits 0 "what its inputs alone decide" "${check[@]}" --with "$functions:by_nothing=row_sums" --filter row_sums \
    --vary TEST_ORDER=forward,backward --json
python3 verdicts.py >verdicts
hasnt verdicts "violated" "holds in all"
grep not-verified verdicts >open
has open "^masked" "but that nothing is masked"
has open "^strides" "and that tensors with gaps are asked for by name"
[ "$(wc -l <open)" -eq 2 ] && pass "and no more is left open" || fail "and no more is left open"

# The tree of a black box: its class, and where it changes.
exits 0 "the tree of ours" "${check[@]}" --trees --filter row_sums
has out "N=997.* 64 lanes, halved" "is that of lanes64"
cat >rows.tsr <<'END'
from tessera import *


@cases(case("usual", M=9, K=11))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", 1, f32]) -> Tensor["M", 1, f32]:
    """The rows alone are a batch."""
    return x @ y


@cases(case("usual", N=11))
@kernel
def one_sum(x: Tensor[1, "N", f32]) -> Tensor[1, f32]:
    """Nothing is a batch."""
    return sum(x, axis=1)
END
# The full form has three batches, whose positions together make each of thousands of calls long.
product=k.tsr
[ -z "${TSR_SHORT:-}" ] || product=rows.tsr
exits 0 "the tree of a product" "$tsr" check $product --timeout 20 --trees --filter product
has out " 512, .*f32" "is that of chunk512"
exits 0 "two trees" "$tsr" check rows.tsr --timeout 20 --trees --with "$functions:by_nothing=one_sum" --with "$functions:as_they_lie=one_sum" \
    --filter one_sum
has out "same .*test_relations.so:by_nothing" "that are one"
exits 0 "and two" "${check[@]}" --trees --with "$functions:by_nothing=row_sums" --with "$functions:by_batch=row_sums" --filter row_sums
has out "another .*test_relations.so:by_nothing .*M=(17|256),N=997, threads=1" "and where they part"
sed -n '/^row_sums on .*:by_batch/,$p' out >others
has others "M=1,N=997, 1 thread: sequential," "one row is added forward"
has others "M=17,N=997, 1 thread: .*last" "many are added backward"
has others "changes between M=16 and 17" "and that is where it changes"
exits 5 "no tree of what is no single sum" "${check[@]}" --trees --filter numbered
exits 2 "trees or relations" "${check[@]}" --trees --relation batch

# Code that fails is no verdict, and a failure.
exits 1 "a function that crashes" "${check[@]}" --with "$(dirname "$functions")/test_functions.so:crashes=row_sums" --filter row_sums \
    --relation repetition --json
python3 verdicts.py >verdicts
has verdicts "^repetition not-verified" "is not verified"
exits 2 "an unknown relation" "${check[@]}" --relation repetitions
has err "repetition" "the nearest is offered"
exits 2 "a variable without a value" "${check[@]}" --vary TEST_ORDER
finish
