# test_cli_replay_folder.sh - a folder of packs: every one replayed, grouped by what broke, and held to what must not come again.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
small_corpus
mkdir past golden

# Yesterday's failures: two of one kind that are still there, one that is gone since (its golden was wrong), and a case that passes.
"$tsr" bench corpus --quick --backend cpu --inject drop-last-k --filter product --failures past >/dev/null 2>&1
"$tsr" golden record corpus --filter product/tiny --golden golden >/dev/null 2>&1
sed -i 's/"sha256": *"[0-9a-f]\{4\}/"sha256": "0123/' "$(find golden -name '*.json' | head -1)"
"$tsr" bench corpus --quick --backend cpu --filter product/tiny --golden golden --failures past >/dev/null 2>&1
"$tsr" pack-repro addition --case tiny --backend cpu --failures past corpus >/dev/null 2>&1
: >past/notes.txt # is no pack
python3 - <<'END' && pass "four packs" || fail "four packs"
import os
assert sum(name.endswith(".repro.tar.lz4") for name in os.listdir("past")) == 4, os.listdir("past")
END

cat >look.py <<'END'
"""look.py {KERNEL/CASE: [VERDICT...]}: what the document of the folder says, and of which groups."""
import collections, json, sys
d = json.load(open("doc"))
assert d["schema"] == "tsr.replays/1" and d["folder"] == "past", d
found = collections.defaultdict(list)
for pack in d["packs"]:
    found[f'{pack["case"]["kernel"]}/{pack["case"]["case"]}'].append(pack["verdict"])
assert {name: sorted(verdicts) for name, verdicts in found.items()} == json.loads(sys.argv[1]), found
assert sorted(p for g in d["groups"] for p in g["packs"]) == sorted(p["pack"] for p in d["packs"]), d["groups"]
print([(g["fault"], len(g["packs"])) for g in d["groups"]], file=open("groups", "w"))
END
exits 1 "the folder" "$tsr" replay past --json
cp out doc
exits 0 "has each verdict" python3 look.py '{"addition/tiny": ["REPRODUCED_EXACT"], "product/exact": ["REPRODUCED_EXACT"], "product/tiny": ["NOT_REPRODUCED", "REPRODUCED_EXACT"]}'
has groups "'status': 'ok'.*, 1\)" "the one that passed is a group"
has groups "'status': 'mismatch'.*, 2\)" "failures that nothing tells apart are one"
exits 1 "one at a time" "$tsr" replay past --jobs 1 --json
same out doc "says the same"
exits 1 "for a person" "$tsr" replay past
has out "^4 packs in 3 groups: 3 REPRODUCED_EXACT 1 NOT_REPRODUCED$" "counts them"

# Grouped by the pass and the operation, where these are looked for.
exits 1 "each bisected" "$tsr" replay past --bisect --failures found --json
cp out bisected
cp doc first
cp bisected doc
exits 0 "the same verdicts" python3 look.py '{"addition/tiny": ["REPRODUCED_EXACT"], "product/exact": ["REPRODUCED_EXACT"], "product/tiny": ["NOT_REPRODUCED", "REPRODUCED_EXACT"]}'
has groups "'operation': 'tessera.[a-z_]+'}, 2\)" "the fault that is there yet is one group"
# Findings of bisecting are in its packs, and told without looking again.
exits 0 "the packs of that" "$tsr" replay found --json
grep -q '"pass": "' out && pass "are grouped by it" || fail "are grouped by it"

# A folder that must not fail again: the two that do are its failures, and only they.
exits 1 "must not come again" "$tsr" replay --regress past
has out "^2 of 4 as they must be$" "two do"
mkdir mended && cp past/addition-* mended
cp "$(python3 -c 'import json; print(next(p["pack"] for p in json.load(open("first"))["packs"] if p["verdict"] == "NOT_REPRODUCED"))')" mended
exits 0 "a mended folder" "$tsr" replay --regress mended --isa x86-64-v3
exits 1 "without --regress a verdict is as of one pack" "$tsr" replay mended

# A damaged pack stops no other.
for pack in mended/addition-*; do head -c 400 "$pack" >"${pack/-tiny-/-bad-}"; done
exits 3 "one that is cut" "$tsr" replay --regress mended
has out "^  INVALID_PACK .*addition-bad-" "is told"
has out "^2 of 3 as they must be$" "beside the others"

# Failures of the past, made by builds with one planted fault each, and minimized: none comes again.
exits 0 "the project's own" "$tsr" replay --regress "$root/repro/regress" --json
python3 - <<'END' && pass "each is of a failure" || fail "each is of a failure"
import json
packs = json.load(open("out"))["packs"]
assert len(packs) >= 8 and all(p["recorded"]["status"] != "ok" and p["verdict"] in ("NOT_REPRODUCED", "INCOMPATIBLE") for p in packs), packs
END

exits 3 "a folder without packs" "$tsr" replay golden
exits 2 "an option of one pack" "$tsr" replay past --show
exits 2 "an option of a folder" "$tsr" replay "$(ls past/addition-*)" --regress
exits 2 "two kinds of expectations" "$tsr" replay past --regress --expect fixed
exits 2 "no number" "$tsr" replay past --jobs 0
finish
