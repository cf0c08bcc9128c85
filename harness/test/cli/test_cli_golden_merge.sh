# test_cli_golden_merge.sh - goldens recorded in parts on several machines, in one folder: complete, partly there, stale, in conflict, damaged.
source "$(dirname "$0")/lib.sh"
small_corpus
merge() { # INTO FROM...
    local into=$1 from=()
    shift
    for folder in "$@"; do
        from+=(--from "$folder")
    done
    "$tsr" golden merge corpus --golden "$into" "${from[@]}"
}
exits 0 "goldens in one piece" "$tsr" golden record corpus --golden whole
for i in 1 2; do
    exits 0 "part $i of them" "$tsr" golden record corpus --golden part$i --shard $i/2
    has err "^2 recorded" "is half of them"
done
exits 5 "one part" merge all part1
has err "^2 copied, 0 known, 2 missing, 0 in conflict, 0 damaged" "leaves some out"
has out "^missing +" "and names them"
exits 0 "both parts" merge all part1 part2
has err "^2 copied, 2 known, 0 missing" "are all"
diff -r all whole >out && pass "as one machine would have recorded them, byte for byte" || fail "as one machine would have recorded them"
exits 0 "again" merge all part1 part2
has err "^0 copied, 4 known" "changes nothing"
exits 0 "they" "$tsr" golden verify corpus --golden all --backend cpu
has err "$all_hold" "are what the CPU computes"

# A stale golden is no hindrance, on neither side.
exits 0 "goldens of another seed" "$tsr" golden record corpus --golden stale --seed 2
exits 0 "in the folder that receives" merge stale part1 part2
has err "^4 copied" "are replaced"
exits 0 "goldens of another seed" "$tsr" golden record corpus --golden older --seed 2
exits 5 "in the folder that gives" merge fresh older part1
has err "^2 copied, 0 known, 2 missing" "are not taken"

# One key with two results.
cp -r part1 wrong
file=$(find wrong -name '*.json' | head -1)
sed -i -e "s/\"sha256\": \".*\"/\"sha256\": \"$(printf '%064d' 7)\"/" -e 's/"file": ".*"/"file": null/' "$file"
exits 1 "one key with other bits" merge disputed part1 wrong part2
has out "conflict .*part1/.* and wrong/.* have one key and other bits" "names both"
has err "^3 copied, 0 known, 0 missing, 1 in conflict" "and takes neither"
exits 1 "as JSON" "$tsr" golden merge corpus --golden disputed --from part1 --from wrong --json
has out '"fate": "conflict"' "says so"

# Damage.
cp -r part1 damaged
printf 'x' >"$(find damaged -name '*.lz4' | head -1)"
exits 3 "a tensor that is not what was recorded" merge rescued damaged part2
has out "damaged .*its contents are not what the golden recorded" "is named"
has err "^3 copied, 0 known, 0 missing, 0 in conflict, 1 damaged" "and the others are taken"
exits 3 "a folder that is not there" merge all nowhere
has err "no such folder" "is named"
exits 2 "no folder" "$tsr" golden merge corpus
exits 2 "--from without a merge" "$tsr" golden list corpus --from part1
exits 2 "a part of a merge" "$tsr" golden merge corpus --from part1 --shard 1/2
finish
