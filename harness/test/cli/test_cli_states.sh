# test_cli_states.sh - tsr run --state on ranks: each keeps its shards in a file of its own, and any number of them goes on with the same bits.
source "$(dirname "$0")/lib.sh"
model=$root/corpus/models/sharded.tsr:gpt_step_sharded
train() { # FOLDER STEPS [OPTION...]: as far as this step, states in FOLDER, outputs in FOLDER.out
    local folder=$1 steps=$2
    shift 2
    "$tsr" run "$model" --case small --steps "$steps" --threads 1 --state "$folder" --out "$folder.out" "$@"
}
field() { python3 -c "import json, sys; print(json.load(open('$1/state.json'))['$2'])"; }

# ---- a hundred steps of a GPT, broken off again and again ----
exits 0 "a hundred steps on one rank" train one 100
exits 0 "forty of them on three" train three 40 --ranks 3
[ "$(ls three)" = "$(printf '%s\n' out0.steps state-40-{1,2,3}of3.safetensors state.json)" ] && pass "each rank has a file" || fail "each rank has a file: $(ls three)"
exits 0 "ten more on four, of two axes" train three 50 --ranks 4 --layout dp=2,tp=2 --transport shm
has err "goes on behind step 40" "which go on"
[ "$(ls three | grep -c safetensors)" -eq 4 ] && pass "what was kept before is gone" || fail "what was kept before is gone: $(ls three)"
echo "of a write that was killed" >three/state-51-1of3.safetensors.tmp-1-0
for wait in 0.$((RANDOM % 10)) 1.$((RANDOM % 10)); do # wherever they are then
    train three 100 --ranks 2 --transport shm >out 2>err </dev/null &
    trainer=$!
    sleep "$wait"
    kill -9 $trainer 2>/dev/null
    wait $trainer 2>/dev/null
done
exits 0 "killed twice, the rest on three" train three 100 --ranks 3 --layout dp=3
exits 0 "has the bits of one rank" diff -r one.out three.out
[ "$(field one sha256)" = "$(field three sha256)" ] && pass "and the same hash of what is kept" || fail "and the same hash of what is kept"
ls three | grep -q tmp && fail "nothing unfinished is left" || pass "nothing unfinished is left"
exits 0 "one rank goes on from three" train three 101
exits 0 "and three from one" train one 101 --ranks 3
exits 0 "both alike" diff -r one.out three.out
exits 0 "the index keeps its schema" python3 -c "
import json
document, schema = json.load(open('three/state.json')), json.load(open('$root/docs/state.schema.json'))
assert document['schema'] == schema['properties']['schema']['const'] and set(document) == set(schema['required'])
try:
    import jsonschema
    jsonschema.validate(document, schema)
except ImportError:
    pass"
exits 0 "with the formula of its hash" python3 -c "
import hashlib, json
d = json.load(open('three/state.json'))
wanted = d.pop('sha256')
del d['ranks'], d['files']
for t in d['tensors']:
    t['parts'] = [p['sha256'] for p in t['parts']]
assert hashlib.sha256(json.dumps(d, sort_keys=True, separators=(',', ':')).encode()).hexdigest() == wanted"
exits 0 "the files are those of the index, byte for byte" python3 -c "
import hashlib, json, math
d = json.load(open('one/state.json'))
cut = 0
for t in d['tensors']:
    for i, p in enumerate(t['parts']):
        at = []
        for n in reversed(t['shards']):
            at.insert(0, i % n)
            i //= n
        name = t['name'] + ('@' + ','.join(map(str, at)) if len(t['parts']) > 1 else '')
        cut += len(t['parts']) > 1
        data = open('one/' + d['files'][p['file']], 'rb').read()
        length = int.from_bytes(data[:8], 'little')
        e = json.loads(data[8:8 + length])[name]
        assert e['shape'] == [a // b for a, b in zip(t['shape'], t['shards'])], name
        begin, end = (8 + length + o for o in e['data_offsets'])
        assert hashlib.sha256(data[begin:end]).hexdigest() == p['sha256'], name
assert cut > 0"

# ---- a rank that is lost ----
lose() { # FOLDER SIGNAL [OPTION...]: a run of three ranks, the second of which gets the signal when the first state is kept; gives its exit code
    local folder=$1 signal=$2 starter code
    shift 2
    train "$folder" 1000 --ranks 3 --transport shm "$@" >out 2>err </dev/null &
    starter=$!
    until [ -s "$folder/state.json" ] || ! kill -0 $starter 2>/dev/null; do sleep 0.02; done
    kill "-$signal" "$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$(pid_of $starter)" '$4 == parent { print $1 }' | sort -n | sed -n 2p)"
    wait $starter
    code=$?
    return $code
}
pid_of() { # the program that a shell of that number runs, or became
    local child
    child=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$1" '$4 == parent { print $1 }' | head -1)
    if grep -q -- --steps "/proc/$1/cmdline"; then echo "$1"; else echo "$child"; fi
}
exits 0 "a thousand steps on one rank" train alone 1000
lose fewer KILL --retries 1 && pass "of three ranks one is killed" || fail "of three ranks one is killed"
has err "rank [0-2] was lost: killed by SIGKILL; tries again with 2 of 3 ranks" "and two go on"
exits 0 "with the bits of one" diff -r alone.out fewer.out
exits 0 "as is kept" python3 -c "
import json
alone, fewer = json.load(open('alone/state.json')), json.load(open('fewer/state.json'))
assert 'retried' not in alone and alone['sha256'] == fewer['sha256'] and fewer['ranks'] == 2
[once] = fewer['retried']
assert once['from'] == 3 and once['to'] == 2 and once['step'] < 1000 and 'SIGKILL' in once['why'], once"
exits 0 "the next run keeps that, too" train fewer 1001 --ranks 2
grep -q '"why"' fewer/state.json && pass "as it was" || fail "as it was"
lose strict KILL && fail "without --retries it ends" || pass "without --retries it ends"
has err "rank [0-2] was lost: killed by SIGKILL\$" "with the reason"
exits 2 "--retries without ranks" train one 102 --retries 1
has err "\-\-retries goes with --ranks, of two or more, and --state" "lacks something to do"
exits 2 "--retries of many" train one 102 --retries 65 --ranks 2

# ---- what is not as it was ----
spoilt() { # WHAT MESSAGE: the copy in ./bad is refused, with two ranks and with one
    exits 3 "$1" train bad 102 --ranks 2
    has err "$2" "is told"
    has err "bad/[^ ]*state.*(another folder)" "with the file and what to do"
    exits 3 "$1, on one rank" train bad 102
    has err "$2" "as well"
    rm -rf bad && cp -r one bad
}
cp -r one bad
second=$(basename one/state-*-2of3.safetensors)
rm "bad/$second"
spoilt "a part that is missing" "cannot open .*/$second.*bring back the file"
truncate -s -1 "bad/$second"
spoilt "a part that was cut" "$second: tensor .* it was cut short"
printf '\x55' | dd of="bad/$second" bs=1 seek=$(($(stat -c %s "bad/$second") - 1)) conv=notrunc 2>dd.err
spoilt "a byte that was changed" "$second: tensor .* is not what was kept"
cp one/state-*-3of3.safetensors "bad/$second"
spoilt "another part in its place" "$second has no tensor"
"$tsr" run "$model" --case small --steps 7 --threads 1 --state early --out early.out --ranks 3 >out 2>err
cp early/state-7-2of3.safetensors "bad/$second"
spoilt "the part of another step" "$second is of another state than .*: its step is 7, not 101"
sed -i 's/"step": 101/"step": 100/' bad/state.json
spoilt "an index that was changed" "its own hash is another one"
sed -i 's|tsr.state/1|tsr.state/2|' bad/state.json
spoilt "an index of another version" "is of version tsr.state/2, and this tsr reads tsr.state/1"
truncate -s 100 bad/state.json
spoilt "an index that was cut" "it is no JSON"
exits 3 "the state of another program" "$tsr" run "$root/corpus/models/training.tsr:gpt_step" --case small --steps 2 --state bad --out bad.out
has err "bad/state.json holds the state of another program, of kernel gpt_step_sharded; choose another folder" "names both"
mkdir old && "$tsr" run "$model" --case small --steps 1 --threads 1 --out old.out --save old/state.safetensors >out 2>err
exits 3 "the one file of an earlier tsr" train old 2
has err "old/state.safetensors was kept by an earlier tsr: begin in another folder, with --load old/state.safetensors" "says how to go on with it"
finish
