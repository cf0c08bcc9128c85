# test_cli_hostile.sh - sources that nobody means (hostile/sources.py has the table), files and folders of any name, and a file
# that ends whoever reads it.
source "$(dirname "$0")/lib.sh"

exits 0 "hostile sources" /usr/bin/python3 "$root/harness/test/cli/hostile/sources.py" "$tsr"
has out ' sources, 0 failures$' "each a diagnostic, a refusal or a result"
grep '^NOT OK' out

kernel() { # NAME [EXPRESSION]
    printf '@cases(case("one"))\n@kernel\ndef %s(x: Tensor[4, f32]) -> Tensor[4, f32]:\n    return %s\n\n\n' "$1" "${2:-x + 1}"
}
bench() { # PATH OPTION...
    "$tsr" bench -v --quick --backend cpu --profile strict "$@"
}

# One kernel with errors, and one in whose place a number was read that is none: the others run.
mkdir mixed
{ kernel first; kernel wrong 'x + y'; kernel misread 'x + 12abc'; kernel last; } >mixed/mixed.tsr
exits 3 "kernels with errors beside others" bench mixed --json
has err '^mixed/mixed.tsr:[0-9]*:16: error\[E0301\]: ' "are diagnosed"
exits 0 "the others" /usr/bin/python3 -c "
import json, subprocess
d = json.loads(subprocess.run(['$tsr', 'bench', 'mixed', '--quick', '--backend', 'cpu', '--profile', 'strict', '--json'],
                              stdout=subprocess.PIPE).stdout)
assert [(r['kernel'], r['status']) for r in d['results']] == [('first', 'ok'), ('last', 'ok')], d['results']"
exits 0 "another kernel by name" bench mixed --filter 'last'
exits 3 "the wrong one by name" bench mixed --filter 'wrong/*'
exits 0 "another kernel of the file" "$tsr" compile mixed/mixed.tsr --kernel last --emit schedule
exits 3 "the wrong one of the file" "$tsr" compile mixed/mixed.tsr --kernel wrong --emit schedule
exits 0 "another kernel's pack" "$tsr" pack-repro last --case one mixed
exits 0 "and its replay" "$tsr" replay .tsr/failures/last-one-*.repro.tar.lz4
{ echo 'A = 12abc'; kernel user; } >constant.tsr
exits 3 "an error outside of kernels" bench constant.tsr
has err '^tsr: no case can be run' "stops them all"
{ kernel nothing | sed '1d; s/\[4/["N"/g'; } >mixed/nothing.tsr
exits 3 "a kernel without cases" bench mixed --filter 'nothing,first'
has out '^first/one ' "and the others run"

# A file that ends whoever reads it.
mkdir many
for name in a b c; do kernel "kernel_$name" >"many/$name.tsr"; done
preload=(env "LD_PRELOAD=libcrash_reading.so" "LD_LIBRARY_PATH=$(dirname "$tsr")/harness" CRASH_READING=many/b.tsr
    "ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-}")
crashing=("${preload[@]}" "$tsr")
exits 70 "a crash while reading" "${crashing[@]}" bench -v --quick --backend cpu --profile strict many
has err '^tsr: many/b.tsr: ' "is an error of that file"
has out '^kernel_a/one .* ok ' "those before it run"
has out '^kernel_c/one .* ok ' "and those behind it"
exits 70 "compiling it" "${crashing[@]}" compile many/b.tsr --emit schedule
exits 70 "checking it" "${crashing[@]}" lint many
exits 70 "nothing else" "${crashing[@]}" bench --quick --backend cpu --profile strict many/b.tsr

# Links: folders that are a corpus's own are searched, and no others.
ln -s / many/root
ln -s . many/self
ln -s ../many many/again
exits 0 "links to folders" timeout 60 "$tsr" bench many --list --backend cpu --profile strict
[ "$(wc -l <out)" -eq 3 ] && pass "are not followed" || fail "are not followed"
ln -s a.tsr many/again.tsr
exits 3 "a link to a file is that file" bench many
rm many/again.tsr
ln -s nowhere many/nowhere.tsr
exits 3 "a link to nothing" bench many
has err 'many/nowhere.tsr: ' "is an error of its own"
has out '^kernel_c/one .* ok ' "and the others run"
rm many/nowhere.tsr
exits 0 "a link that is given" bench many/self --filter 'kernel_a' --list
mkdir -p deep/"$(printf 'd/%.0s' $(seq 40))"
exits 3 "folders 40 deep" bench deep
mkfifo many/pipe.tsr
exits 3 "a pipe" timeout 60 "$tsr" bench many --list
rm many/pipe.tsr

# Names of any bytes: in folders, files, goldens, packs, the database, the cache, the environment.
byte=$'\xff'
for name in "it's a blank" "umlaut-ä" "byte-$byte" $'new\nline'; do
    folder="in $name"
    mkdir -p "$folder"
    kernel named >"$folder/$name.tsr"
    shown=$(printf '%q' "$name")
    exits 0 "recording in $shown" "$tsr" golden record "$folder" --golden "gold $name"
    exits 0 "a folder, a database and failures called $shown" env TSR_CACHE="cache $name" HOME="home $name" \
        "$tsr" bench "$folder" -v --quick --backend cpu --profile strict --golden "gold $name" --db "db $name.db" \
        --failures "bad $name" --json
    cp out report.json
    exits 0 "is compared with its golden" /usr/bin/python3 -c "
import json
d = json.load(open('report.json', encoding='utf-8'))
assert [r['check']['against'] for r in d['results']] == ['golden'], d['results']
assert d['results'][0]['source']['path'].startswith('in '), d['results'][0]['source']"
    exits 1 "a failure in $shown" env TSR_CACHE="cache $name" "$tsr" bench "$folder" -v --quick --backend cpu --profile strict \
        --inject nan --db "db $name.db" --failures "bad $name" --golden "gold $name"
    exits 0 "is packed and replayed" "$tsr" replay "bad $name"/*.repro.tar.lz4
    exits 0 "checks in $shown" "$tsr" lint "$folder" --json
    cp out lint.json
    exits 0 "are a document" /usr/bin/python3 -c 'import json; json.load(open("lint.json", encoding="utf-8"))'
done
finish
