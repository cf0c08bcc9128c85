# test_cli_explain.sh - tsr explain: every identifier that is printed anywhere is explained, and errors say how.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"

ids_of() { # MACRO FILE: the identifiers of a table, without empty ones
    sed -nE "s/^$1\\([A-Z0-9_]+, \"([^\"]+)\".*/\\1/p" "$2"
}
ids_of DIAGNOSTIC "$root/compiler/source/diagnostics.def" >ids
ids_of LINT "$root/harness/lint/lints.def" >>ids
ids_of REASON "$root/harness/gate/reasons.def" >>ids
[ "$(wc -l <ids)" -gt 150 ] && pass "the tables are read" || fail "the tables are read"

exits 0 "the list" "$tsr" explain
sed 's/  .*//' out >listed
same ids listed "has every identifier of the tables, once, in their order"
hasnt out '^[^ ]+ *$' "and each has a title"
exits 0 "all of them as a document" "$tsr" explain --json
cp out all.json
/usr/bin/python3 -c '
import json
d = json.load(open("all.json"))
assert d["schema"] == "tsr.explain/1"
assert [e["id"] for e in d["entries"]] == open("ids").read().split()
assert {e["of"] for e in d["entries"]} == {"compiler", "lint", "gate"}
assert all(e["title"] for e in d["entries"])
assert all(e["explanation"] for e in d["entries"] if e["of"] != "gate")
assert all((e["wrong"] is None) == (e["right"] is None) for e in d["entries"])' &&
    pass "and says the same" || fail "and says the same"
# shellcheck disable=SC2046 # many words
exits 0 "each by name" "$tsr" explain $(cat ids) --json
same out all.json "is the same document"

exits 0 "one" "$tsr" explain E0501
has out '^E0501: ' "its title"
has out '^Wrong:' "an example"
has out '^Right:' "and how it is mended"
hasnt out '.{81}' "in 80 columns"
hasnt out ' $' "without spaces at the end"
exits 0 "several" "$tsr" explain noisy e0501
sed -nE 's/^([A-Za-z0-9-]+): .+/\1/p' out >order
printf 'noisy\nE0501\n' >wanted
same wanted order "in the order of the command line, in any case of letters"
exits 2 "one that is not there" "$tsr" explain E0302 E03O1
has err 'E0301' "and the nearest"
hasnt out . "prints nothing"
exits 2 "nothing like any" "$tsr" explain xyzzy
exits 0 "the page" "$tsr" explain --markdown
same out "$root/docs/errors.md" "is docs/errors.md"

exits 0 "completion" "$tsr" completion bash
mv out completion
completed=$(bash -c 'source ./completion; COMP_WORDS=("$1" explain E0502); COMP_CWORD=2; _tsr; echo "${COMPREPLY[*]}"' - "$tsr")
[ "$completed" = E0502 ] && pass "knows the identifiers" || fail "knows the identifiers: $completed"

# Errors say which command explains the first of them, once a run, where they are printed.
kernel() { # NAME RESULT
    printf '@cases(case("one"))\n@kernel\ndef %s(x: Tensor[4, f32]) -> Tensor[4, f32]:\n    return %s\n\n\n' "$1" "$2"
}
hint_words='for more'
hint() { # WHAT FILE ID
    [ "$(grep -c "^$hint_words: tsr explain " "$2")" -eq 1 ] && grep -qx "$hint_words: tsr explain $3" "$2" && pass "$1" || fail "$1"
}
mkdir bad
{ kernel a 'x + zz'; kernel b 'x + yy'; } >bad/a.tsr
kernel c 'softmaxx(x)' >bad/b.tsr
exits 3 "errors of one file" "$tsr" compile bad/a.tsr --kernel a
hint "have one hint" err E0301
exits 3 "errors of two files" "$tsr" bench --quick bad
hint "have one hint together" err E0301
exits 3 "errors under --json" "$tsr" bench --quick bad --json
hasnt out "$hint_words" "leave the document alone"
exits 1 "findings" "$tsr" lint bad
hint "have it where they are" out E0301
exits 1 "findings as a document" "$tsr" lint bad --json
hasnt out "$hint_words" "have none"
small_corpus
sed -i '0,/^@cases/s//@schedule(tile=(6, 2))\n@cases/' corpus/small/small.tsr
exits 3 "a schedule that does not fit" "$tsr" compile corpus/small/small.tsr --kernel addition --case tiny --emit schedule
has err 'error\[E0809\]: ' "is an error with its place"
hint "and a hint" err E0809
exits 3 "two results with it" "$tsr" bench corpus --filter addition --quick --backend cpu
hint "have one hint where they are" out E0809
exits 0 "the run once more" "$tsr" log last
hint "has it, too" out E0809
finish
