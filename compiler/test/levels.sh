#!/usr/bin/env bash
# levels.sh - TSR_OPT [--bless] [WORD...]: runs the cases of every level (cases/*/*.mlir, *.tsr with a RUN line)
# through tsr-opt. Line one of a case says what it shows, its RUN line holds the arguments, and the file next to it
# (.expect) holds what tsr-opt prints. TAMPER lines
# change that text instead, by a sed expression each, and .expect holds what is said about every changed text; %graph
# stands for all passes on Graph IR. --bless writes those files anew; a WORD picks cases by name.
set -u
export LC_ALL=C
tsr_opt=$(realpath "$1")
shift
bless=no
if [ "${1:-}" = --bless ]; then
    bless=yes
    shift
fi
if [ "$bless" = yes ] && [ -n "${CI:-}" ]; then
    echo "levels.sh: expectations are blessed by a person, not by CI"
    exit 2
fi
graph="--pass specialize --pass decompose --pass widen --pass normalize --pass simplify"
cd "$(dirname "$0")/cases" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

wanted() { # PATH WORD...
    local path=$1 word
    shift
    [ $# -eq 0 ] && return 0
    for word; do
        [[ $path == *"$word"* ]] && return 0
    done
    return 1
}

# What tsr-opt prints for a case, and its exit code where that is not 0.
run_case() { # FOLDER FILE
    local arguments code=0
    arguments=$(sed -n 's/^\(\/\/\|#\) RUN: //p' "$1/$2")
    # shellcheck disable=SC2086 # several words
    (cd "$1" && "$tsr_opt" ${arguments//%graph/$graph} "$2") 2>&1 </dev/null || code=$?
    [ "$code" -eq 0 ] || echo "// exit code $code"
}

# What tsr-opt says about the changed texts of a case: none of them is right.
tamper_with() { # FOLDER FILE
    local expression code
    run_case "$1" "$2" >"$scratch/good"
    "$tsr_opt" --verify --split-input-file "$scratch/good" || echo "the text itself is refused"
    sed -n 's/^\(\/\/\|#\) TAMPER: //p' "$1/$2" | while read -r expression; do
        echo "$expression"
        sed -E "$expression" "$scratch/good" >"$scratch/tampered"
        code=0
        "$tsr_opt" --verify --split-input-file - <"$scratch/tampered" >"$scratch/message" 2>&1 || code=$?
        if cmp -s "$scratch/good" "$scratch/tampered"; then
            echo "    changes nothing"
        else
            sed -n 's/^tsr-opt: -:/   /p' "$scratch/message"
            [ "$code" -eq 3 ] || echo "    exit code $code"
        fi
    done
}

count=0
failures=0
for path in */*.mlir */*.tsr; do
    if ! grep -q '^\(//\|#\) RUN:' "$path" || ! wanted "$path" "$@"; then
        continue
    fi
    count=$((count + 1))
    expect=${path%.*}.expect
    how=run_case
    grep -q '^\(//\|#\) TAMPER:' "$path" && how=tamper_with
    $how "${path%/*}" "${path##*/}" >"$scratch/found" 2>&1
    if [ "$bless" = yes ]; then
        cmp -s "$scratch/found" "$expect" || { cp "$scratch/found" "$expect" && echo "wrote $expect"; }
    elif ! diff -u "$expect" "$scratch/found" >"$scratch/diff"; then
        failures=$((failures + 1))
        echo "NOT OK - $path: $(head -n 1 "$path")"
        head -n 60 "$scratch/diff"
    fi
done
for expect in */*.expect; do
    [ -e "${expect%.expect}.mlir" ] || [ -e "${expect%.expect}.tsr" ] || {
        failures=$((failures + 1))
        echo "NOT OK - $expect belongs to no case"
    }
done
echo "$count cases, $failures failures"
[ "$failures" -eq 0 ] && [ "$count" -gt 0 ]
