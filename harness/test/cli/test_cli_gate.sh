# test_cli_gate.sh - the gate from the outside: equal modules need no clock, a slower one is found, and whatever keeps it from a
# verdict has a name and an exit code of its own.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3

# reason NAME WHAT: a row of the table ends with that reason.
reason() { has out ": $1\$" "$2"; }
# gates CODE WHAT OPTIONS...: a gate, as JSON, in document.json.
gates() {
    exits "$1" "$2" "$tsr" gate --json "${@:3}"
    cp out document.json
}
# asserts WHAT PYTHON: holds for that document d, rows by case in r.
asserts() {
    exits 0 "$1" $python -c "
import json
d = json.load(open('document.json'))
r = {x['kernel'] + '/' + x['case']: x for x in d['results']}
assert $2, d
"
}

mkdir -p corpus
cat >corpus/work.tsr <<'END'
from tessera import *


@cases(case("small", M=6, N=40), case("blocks", M=32, N=256))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x, axis=-1)


@cases(case("small", M=24, N=24))
@kernel
def double(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return x + x
END

# The command line.
exits 2 "a gate needs a baseline" "$tsr" gate
has err "^tsr: --baseline WHAT is missing" "and says so"
exits 2 "the margin is below the MDE" "$tsr" gate --baseline "$tsr" --margin 3 --mde 2
exits 2 "a percentage is one" "$tsr" gate --baseline "$tsr" --mde lots
exits 2 "no other counters" "$tsr" gate --baseline "$tsr" --counters cycles
exits 2 "what cannot be allowed" "$tsr" gate --baseline "$tsr" --allow mismatch
has err "'mismatch' cannot be allowed" "is named"
exits 2 "--gates is for the self-test" "$tsr" gate --baseline "$tsr" --gates 3
exits 2 "and --baseline is not" "$tsr" gate --self-test --baseline "$tsr"
exits 3 "an unknown baseline" "$tsr" gate --baseline nosuch
has err "'nosuch'" "says what it was looked for as"
exits 3 "an empty folder" "$tsr" gate --baseline "$(mkdir -p empty && echo empty)"
exits 3 "a recorded side needs another" "$tsr" gate --baseline run:last --against modules:empty

# Equal sides.
exits 0 "a build against itself" "$tsr" gate --baseline "$tsr"
has out "^3 cases: 3 EQUIVALENT; 3 .* 0 " "is not timed"
gates 0 "as JSON" --baseline "$tsr"
asserts "every case is the same module" "all(x['verdict'] == 'EQUIVALENT' and x['reason'] == 'same-module' for x in r.values()) and d['exit'] == 0"
exits 0 "a build folder is one, too" "$tsr" gate --baseline "$(dirname "$tsr")"
cat >fixed.tsr <<'END'
@kernel
def fixed(x: Tensor[12, 20, f32]) -> Tensor[12, 20, f32]:
    return tanh(x)
END
exits 0 "a kernel without dimensions and cases" "$tsr" gate --baseline "$tsr" fixed.tsr
has out "^1 case: 1 EQUIVALENT" "is compiled by both sides"

exits 5 "programs that make no modules" "$tsr" gate --baseline /bin/true --against /bin/true
reason both-fail "are not equal"
has out "/true compile .*double" "and it is said why"

# Time. The plainest code is slower by far.
module() { "$tsr" compile corpus/work.tsr --kernel rows --case "$1" --threads 1 --emit module -o "$2" "${@:3}" || echo "cannot compile $2"; }
mkdir -p fast slow
module small fast/rows-small.tsrm
module blocks fast/rows-blocks.tsrm
module small slow/rows-small.tsrm --unoptimised
cp fast/rows-blocks.tsrm slow/
exits 1 "slower code is found" "$tsr" gate --baseline fast --against slow
has out "rows/small .*REGRESSED$" "and named"
has out "^2 cases: 1 REGRESSED 1 EQUIVALENT; 1 .* 1 " "beside what is equal"
has out "^minimum detectable effect: [0-9.]+ % \(asked for: 2.00 %\); " "the MDE is printed"
gates 0 "faster code is an improvement" --baseline slow --against fast
asserts "with its interval" "r['rows/small']['verdict'] == 'IMPROVED' and r['rows/small']['change']['high'] < -0.005 and r['rows/blocks']['reason'] == 'same-module'"
asserts "and what was counted" "r['rows/small']['static']['code_bytes'][0] != r['rows/small']['static']['code_bytes'][1] and r['rows/small']['static']['flops'][0] > 0"
asserts "pairs of processes" "r['rows/small']['pairs'] in d['settings']['looks'] and d['processes'] == 2 * r['rows/small']['pairs']"
exits 5 "too few pairs prove nothing" "$tsr" gate --baseline fast --against slow --pairs 3
reason "(noisy|throttled)" "and it fails closed"
has out "^minimum detectable effect: none can be told" "with no effect that it could find"
exits 5 "without time and counts there is no verdict" "$tsr" gate --baseline slow --against fast --no-timing
reason untimed "and that is why"

# Reasons that keep it from a verdict.
mkdir -p part
cp fast/rows-small.tsrm part/
gates 5 "a case that is gone" --baseline fast --against part
asserts "is missing" "r['rows/blocks']['reason'] == 'missing'"
exits 5 "a case that is new" "$tsr" gate --baseline part --against fast
reason new "is new"
exits 0 "both can be allowed" "$tsr" gate --baseline part --against fast --allow missing,new
mkdir -p other
cp fast/rows-blocks.tsrm other/
exits 5 "but nothing compared is no verdict" "$tsr" gate --baseline part --against other --allow missing,new
gates 5 "in the document, too" --baseline part --against other --allow missing,new
asserts "which says so" "d['exit'] == 5 and {x['reason'] for x in r.values()} == {'missing', 'new'}"
mkdir -p one two
"$tsr" compile corpus/work.tsr --kernel double --emit module -o one/double-small.tsrm --threads 1
"$tsr" compile corpus/work.tsr --kernel double --emit module -o two/double-small.tsrm --threads 1 --isa x86-64-v2+fma
exits 5 "another ISA level" "$tsr" gate --baseline one --against two
reason other-isa "is refused"
exits 5 "unless it is only counted" "$tsr" gate --baseline one --against two --cross-host --no-timing
"$tsr" gate --baseline one --against two --cross-host >out 2>err
has out ", 0 timed$" "and never timed"
reason untimed "by what is exact"
cp one/double-small.tsrm two/rows-small.tsrm
head -c 3000 fast/rows-small.tsrm >two/double-small.tsrm
exits 3 "a damaged module" "$tsr" gate --baseline one --against two
has err "two/double-small.tsrm" "is named"

# A corpus that went on without its modules.
sed 's/M=24, N=24/M=48, N=24/' corpus/work.tsr >old.tsr
mkdir -p older old
"$tsr" compile old.tsr --kernel double --emit module -o older/double-small.tsrm --threads 1
"$tsr" compile old.tsr --kernel double --emit module -o old/double-small.tsrm --threads 1 --unoptimised
exits 5 "modules of other shapes than the corpus has" "$tsr" gate --baseline older --against old
reason other-work "are no failure of theirs"
has out "double/small" "but are told"

# No room for what the processes need is nobody's fault, and nothing that --allow takes away.
exits 4 "no room for the inputs" bash -c "trap '' XFSZ; ulimit -f 8; '$tsr' gate --baseline fast --against slow --allow baseline-fails"
has err "^tsr: .*gate" "is said"

# A module whose name promises another kernel's work: its output is not that of the case.
cat >wrong.tsr <<'END'
from tessera import *


@cases(case("small", M=24, N=24))
@kernel
def double(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return x + x + 1.0
END
"$tsr" compile wrong.tsr --emit module -o two/double-small.tsrm --threads 1
rm two/rows-small.tsrm
# Reasons stand in the manual, and nowhere else.
for name in $(sed -n 's/^REASON([A-Z_]*, "\([a-z-][a-z-]*\)".*/\1/p' "$root/harness/gate/reasons.def"); do
    has "$root/docs/gate.md" "\`$name\`" "$name is in docs/gate.md"
done
exits 1 "wrong outputs" "$tsr" gate --baseline one --against two
reason mismatch "are a mismatch, however fast"
"$tsr" compile corpus/work.tsr --kernel double --emit module -o one/double-small.tsrm --threads 1 --profile deterministic
"$tsr" compile wrong.tsr --emit module -o two/double-small.tsrm --threads 1 --profile deterministic
exits 1 "also where bits may be others" "$tsr" gate --baseline one --against two
has out "times its error bound away from the f64 reference" "because the bound does not hold"

# A case that takes the interpreter long is looked at all the same, under every profile.
mkdir -p many right wrong
for what in right wrong; do
    factor=$([ $what = right ] && echo 1.0 || echo 0.0)
    cat >$what.tsr <<END
from tessera import *


@cases(case("large", M=256, N=512, K=256))
@kernel
def many(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return (x @ y) * $factor
END
done
cp right.tsr many/many.tsr
for profile in strict deterministic fast; do
    for what in right wrong; do
        "$tsr" compile $what.tsr --kernel many --case large --emit module -o $what/many-large.tsrm --threads 1 --profile $profile
    done
    exits 1 "$profile: zeros for outputs of 67 MFLOP" "$tsr" gate --baseline right --against wrong many
    reason mismatch "are wrong, however fast"
    exits 5 "$profile: as the baseline" "$tsr" gate --baseline wrong --against right many
    reason baseline-fails "they are its fault"
done
"$tsr" compile right.tsr --kernel many --case large --emit module -o wrong/many-large.tsrm --threads 1 --profile fast --unoptimised
"$tsr" gate --baseline right --against wrong many --pairs 1 >out 2>err
hasnt out 'mismatch|newly-failing|baseline-fails|unchecked' "other code that is right is not refused"

# The baseline says what is right where no source does: and where a profile leaves room for other bits, nobody does.
for what in right wrong; do
    "$tsr" compile $what.tsr --kernel many --case large --emit module -o $what/many-large.tsrm --threads 1 --profile deterministic
done
exits 5 "modules without their source, of other bits" "$tsr" gate --baseline right --against wrong
reason unchecked "have no verdict"
exits 5 "which nothing takes away" "$tsr" gate --baseline right --against wrong --allow missing,new,renamed,other-work,baseline-fails,both-fail
for what in right wrong; do
    "$tsr" compile $what.tsr --kernel many --case large --emit module -o $what/many-large.tsrm --threads 1 --profile strict
done
exits 5 "strict ones of another graph" "$tsr" gate --baseline right --against wrong
reason unchecked "have none either"

# A module whose code is nothing but an undefined instruction.
$python - <<'END'
import hashlib, struct
d = bytearray(open('fast/rows-small.tsrm', 'rb').read())
for i in range(struct.unpack_from('<I', d, 12)[0]):
    entry = 16 + 80 * i
    kind, (at, size) = bytes(d[entry:entry + 32]), struct.unpack_from('<QQ', d, entry + 32)
    if b'/' not in kind:
        continue
    table, count = struct.unpack_from('<Q', d, at + 0x28)[0], struct.unpack_from('<H', d, at + 0x3c)[0]
    for k in range(count):
        header = at + table + 64 * k
        flags, _, offset, bytes_ = struct.unpack_from('<QQQQ', d, header + 8)
        if flags & 4:
            d[at + offset:at + offset + bytes_] = (b'\x0f\x0b' * bytes_)[:bytes_]
    d[entry + 48:entry + 80] = hashlib.sha256(kind + d[at:at + size]).digest()
open('crash.tsrm', 'wb').write(d)
END
exits 1 "a kernel that crashes" "$tsr" gate --baseline fast/rows-small.tsrm --against crash.tsrm
reason newly-failing "is newly failing"
has out "crash: killed by SIGILL" "of its signal"
exits 5 "a baseline that crashes" "$tsr" gate --baseline crash.tsrm --against fast/rows-small.tsrm
reason baseline-fails "is the baseline's fault"

# Commits.
git init -q repository && cd repository || exit 1
git config user.email t@example.com && git config user.name t
mkdir corpus
cp ../corpus/work.tsr corpus/
git add -A && git commit -qm one
sed -i 's/return x + x$/return (x + x) * exp(sin(x)) * log(x * x + 2.0)/' corpus/work.tsr
git commit -qam two
sed -i 's/def rows/def lines/' corpus/work.tsr
git commit -qam three
gates 1 "a commit that made a kernel slower" --baseline HEAD~2 --against HEAD~1
asserts "is found" "r['double/small']['verdict'] == 'REGRESSED' and r['rows/small']['reason'] == 'same-module' and d['baseline']['kind'] == 'commit' and len(d['baseline']['detail']) == 40"
exits 5 "a kernel that was renamed" "$tsr" gate --baseline HEAD~1
reason renamed "is said to be"
cp corpus/work.tsr fresh.tsr
exits 3 "a source that the commit has not" "$tsr" gate --baseline HEAD~1 fresh.tsr
has err "fresh.tsr .*HEAD~1 \([0-9a-f]{10}\)" "is told with the commit"
rm fresh.tsr
exits 0 "which can be allowed" "$tsr" gate --baseline HEAD~1 --allow renamed --margin 20 --mde 50
exits 0 "a commit that is built" "$tsr" gate --baseline HEAD --build "mkdir -p build && ln -sf '$tsr' build/tsr"
has err "building .tsr/checkouts" "once"
exits 0 "and then kept" "$tsr" gate --baseline HEAD --build "mkdir -p build && ln -sf '$tsr' build/tsr"
hasnt err "building" "without building again"
exits 5 "another build of the commit" "$tsr" gate --baseline HEAD --build "mkdir -p build && ln -sf /bin/false build/tsr"
exits 0 "does not pass for the first one" "$tsr" gate --baseline HEAD --build "mkdir -p build && ln -sf '$tsr' build/tsr"
has err "building .tsr/checkouts" "which is built again"
exits 3 "a build that fails" "$tsr" gate --baseline HEAD --build "exit 9"
has err "ended with code 9" "says how"
exits 3 "a build of nothing" "$tsr" gate --baseline HEAD~2 --build true
has err "left no program" "says so"
rm -rf .tsr/checkouts
"$tsr" gate --baseline HEAD~1 --no-timing >other.out 2>&1 &
"$tsr" gate --baseline HEAD~1 --no-timing >out 2>err
wait
rm other.out
exits 0 "two gates at once leave one checkout" test "$(ls .tsr/checkouts)" = "$(git rev-parse HEAD~1)"
exits 0 "the repository is as it was" git diff --quiet HEAD
cp corpus/work.tsr good.tsr
sed -i 's/return softmax(x, axis=-1)/return softmux(x, axis=-1)/' corpus/work.tsr
exits 3 "sources that do not compile" "$tsr" gate --baseline HEAD
cp corpus/work.tsr corpus/broken.tsr
cp good.tsr corpus/work.tsr
exits 3 "kernels of one name" "$tsr" gate --baseline "build:$tsr" --against "build:$tsr"
has err "broken.tsr and in" "are told"
sed -i 's/^def \([a-z]*\)(/def \1_again(/' corpus/broken.tsr
exits 3 "kernels that neither build can read" "$tsr" gate --baseline "build:$tsr" --against "build:$tsr"
has err "softmux" "are told"
gates 3 "and are no equal ones" --baseline "$tsr"
asserts "for the document, too" "d['exit'] == 3"
rm corpus/broken.tsr
cd ..

# Recorded runs.
for i in 1 2; do
    "$tsr" bench --quick --backend cpu --profile strict --threads 1 --export json=r$i.json >/dev/null 2>&1
done
exits 0 "two runs of one build" "$tsr" gate --baseline r1.json --against r2.json
has out "3 with the same code" "need no clock"
exits 0 "runs of the database" "$tsr" gate --baseline run:last --against run:last
exits 5 "one run on each side" "$tsr" gate --baseline r1.json --against r2.json --always-time
reason unreplicated "proves nothing"
$python - <<'END'
import copy, json
d = json.load(open('r1.json'))
def write(name, change):
    e = copy.deepcopy(d)
    e['run'] = name[:-5]
    change(e)
    json.dump(e, open(name, 'w'))
def slower(factor, shift):
    def change(e):
        for x in e['results']:
            x['module_hash'] = 'f' * 64
            for k in ('median', 'low', 'high', 'min'):
                x['time_ns'][k] *= factor * (1 + shift * 1e-4)
            for k in ('gflops', 'gbps'):
                x['rate'][k] /= factor * (1 + shift * 1e-4)
            x['roofline']['fraction'] /= factor * (1 + shift * 1e-4)
    return change
for i in range(12):
    write(f'a{i}.json', slower(1, i))
    write(f'b{i}.json', slower(1.03, i))
    write(f'c{i}.json', lambda e: (slower(1.0001, i)(e), [x.update(module_hash='e' * 64) for x in e['results']]))
def times(factor, *places):
    def change(e):
        for x in e['results']:
            x['module_hash'] = 'e' * 64
            for k in ('median', 'low', 'high', 'min'):
                x['time_ns'][k] *= factor
            if 'rate' in places:
                for k in ('gflops', 'gbps'):
                    x['rate'][k] /= factor
            if 'fraction' in places:
                x['roofline']['fraction'] /= factor
            if 'ceiling' in places:
                x['roofline']['ceiling'] /= factor
            if 'null' in places:
                x['rate'] = x['roofline'] = None
    return change
# Forged records, by exit code: 3, it contradicts itself; 1, it says of itself that it cannot be.
FORGED = {
    'f3-time': times(0.01),
    'f3-time-and-rate': times(0.01, 'rate'),
    'f3-ceiling': times(0.01, 'rate', 'ceiling'),
    'f3-nothing-else': times(0.01, 'null'),
    'f3-instant': times(1e-300, 'rate', 'fraction'),
    'f3-endless': times(1e300, 'rate', 'fraction'),
    'f1-all': times(0.02, 'rate', 'fraction'),
    'f3-fraction': lambda e: e['results'][0]['roofline'].update(fraction=0.001),
    'f3-median-below-min': lambda e: e['results'][0]['time_ns'].update(min=e['results'][0]['time_ns']['median'] * 1.5),
    'f3-no-samples': lambda e: e['results'][0]['time_ns'].update(samples=0),
    'f3-no-ceilings': lambda e: e.update(ceilings=[]),
    'f3-ceilings-in-words': lambda e: e.update(ceilings='many'),
    'f3-flops': lambda e: e['results'][0].update(flops=-1),
    'f3-bytes': lambda e: e['results'][0].update(bytes=e['results'][0]['bytes'] * 7),
    'f3-threads-that-wrap': lambda e: e['results'][0].update(threads=2**32 + 1),
    'f3-status': lambda e: e['results'][0].update(status='splendid'),
    'f3-bound': lambda e: e['results'][0]['roofline'].update(bound='nothing'),
    'f3-unchecked': lambda e: e['results'][0].update(check=None),
    'f3-against-nothing': lambda e: e['results'][0]['check'].update(against='none'),
    'f3-other-bits': lambda e: e['results'][0]['check'].update(bitwise=False),
    'f3-digests': lambda e: e['results'][0]['check'].update(sha256=['none']),
    'f3-no-confidence': lambda e: e['results'][0]['time_ns'].update(confidence=0),
    'f3-module': lambda e: e['results'][0].update(module_hash='zz'),
    'f3-fault': lambda e: e['results'][0].update(fault='zero'),
    'f3-rate-in-words': lambda e: e['results'][0]['rate'].update(gflops='1e9'),
}
for name, change in FORGED.items():
    write(name + '.json', change)
for name in ('nameless', 'renamed'):
    write(name + '.json', lambda e: None)
e = json.load(open('a1.json'))
e.pop('run')
json.dump(e, open('nameless.json', 'w'))
e['run'] = 'another'
json.dump(e, open('renamed.json', 'w'))
write('cpu.json', lambda e: e['host'].update(cpu='Another CPU'))
write('failing.json', lambda e: e['results'][0].update(status='crash', why='killed by SIGSEGV', time_ns=None))
END
list() { printf "%s," "$1"{0..11}.json | sed 's/,$//'; }
exits 1 "twelve runs on each side, 3 % slower" "$tsr" gate --baseline "$(list a)" --against "$(list b)" --always-time
has out "3 REGRESSED" "are enough"
exits 3 "one run given twelve times" "$tsr" gate --baseline "$(list a)" --against "$(printf 'b0.json,%.0s' {0..11})"
has err "the run b0 is there twice" "is one run"
exits 0 "twelve that are equal" "$tsr" gate --baseline "$(list a)" --against "$(list c)"
has out "3 EQUIVALENT; 0 " "are told by their times"
exits 3 "one run without its name" "$tsr" gate --baseline a0.json,a1.json,nameless.json --against "$(list b)"
exits 3 "one run under two names" "$tsr" gate --baseline a0.json,a1.json,renamed.json --against "$(list b)"
for forged in f[0-9]-*.json; do
    code=${forged#f}
    exits "${code%%-*}" "a forged record: ${forged#f?-}" "$tsr" gate --baseline "$(list a)" --against "$forged" --always-time
    [ "${code%%-*}" -ne 1 ] || reason above-roof "is above its roof"
    exits "$([ "${code%%-*}" -eq 1 ] && echo 5 || echo 3)" "as the baseline, too" "$tsr" gate --baseline "$forged" --against "$(list a)" --always-time
done
cp .tsr/results.db forged.db
exits 0 "a run of another database" "$tsr" gate --baseline run:last --against run:last --db forged.db
$python -c "
import json, sqlite3
db = sqlite3.connect('forged.db')
for key, record in list(db.execute('SELECT key, record FROM results WHERE median_ns > 0')):
    r = json.loads(record)
    for group, names, factor in (('time_ns', ('median', 'low', 'high', 'min', 'iqr'), 0.9), ('rate', ('gflops', 'gbps'), 1 / 0.9), ('roofline', ('fraction',), 1 / 0.9)):
        for name in names:
            r[group][name] *= factor
    db.execute('UPDATE results SET record = ? WHERE key = ?', (json.dumps(r), key))
db.commit()
"
exits 3 "times that are not those of their samples" "$tsr" gate --baseline run:last --against run:last --db forged.db
exits 2 "records have nothing to count" "$tsr" gate --baseline r1.json --against r2.json --counters instructions
exits 2 "records are of no corpus" "$tsr" gate --baseline r1.json --against r2.json corpus
exits 0 "--filter means cases" "$tsr" gate --baseline r1.json --against r2.json --filter double
has out "^1 case: 1 EQUIVALENT" "of records, too"
exits 3 "--threads those of so many" "$tsr" gate --baseline r1.json --against r2.json --threads 7
exits 0 "and modules can be filtered" "$tsr" gate --baseline fast --against part --filter '*/small'
has out "^1 case: 1 EQUIVALENT" "by their names"
exits 5 "another machine" "$tsr" gate --baseline r1.json --against cpu.json
reason other-cpu "is refused"
exits 0 "unless only what is exact counts" "$tsr" gate --baseline r1.json --against cpu.json --cross-host
exits 1 "a case that crashes now" "$tsr" gate --baseline r1.json --against failing.json
reason newly-failing "is newly failing"
exits 5 "a baseline that crashed" "$tsr" gate --baseline failing.json --against r1.json
reason baseline-fails "is the baseline's fault"

# The gate is kept, exported, and found again.
exits 1 "exports" "$tsr" gate --baseline fast --against slow --export junit=gate.xml --export json=gate.json
has gate.xml '<failure' "a failing test for JUnit's readers"
exits 0 "and the document, in its shape" $python -c "
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
jsonschema.validate(json.load(open('gate.json')), json.load(open('$root/docs/gate.schema.json')))
"
exits 5 "a budget that is too small" "$tsr" gate --baseline fast --against fast --always-time --mde 0.501 --alpha 0.001 --budget 1 --export json=budget.json
reason budget "says so"
exits 2 "a format that takes no gates" "$tsr" gate --baseline fast --export gbench=gate.txt
exits 1 "annotations for GitHub" env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$PWD/summary.md" "$tsr" gate --baseline fast --against slow
has err "^::error .*rows/small" "name the case"
has summary.md "REGRESSED" "and so does the summary"
exits 0 "the database has them" $python -c "
import json, sqlite3
rows = list(sqlite3.connect('.tsr/results.db').execute('SELECT exit_code, document FROM gates ORDER BY number'))
assert len(rows) > 10 and rows[-1][0] == 1 and json.loads(rows[-1][1])['schema'] == 'tsr.gate/1', len(rows)
"

# The gate on trial.
exits 0 "a short self-test" "$tsr" gate --self-test --gates 2 --cases 2 --mde 5 --state trial.jsonl
has out "false positives, gates    0 of 2 = 0.00 % \\[0.00, 77.64\\]" "with exact limits"
has out "^\\+5 %: 3 gates" "and slowdowns"
exits 0 "the same again" "$tsr" gate --self-test --gates 2 --cases 2 --mde 5 --state trial.jsonl --json
[ "$(wc -l <trial.jsonl)" -eq 12 ] && pass "runs nothing twice" || fail "runs nothing twice"
head -c -20 trial.jsonl >cut.jsonl
exits 0 "a line that was cut short" "$tsr" gate --self-test --gates 2 --cases 2 --mde 5 --state cut.jsonl
exits 0 "is run again, and nothing else" "$tsr" gate --self-test --gates 2 --cases 2 --mde 5 --state cut.jsonl
exits 3 "another campaign's file" "$tsr" gate --self-test --gates 2 --cases 1 --mde 5 --state trial.jsonl
has err "is a campaign of another" "is refused"
finish
