# test_cli_signed.sh - a pack that was signed, known again by tsr and by openssl; and all that is not a signature.
source "$(dirname "$0")/lib.sh"
command -v openssl >/dev/null || { echo "skipped: no openssl, which makes the keys and judges"; exit 77; }
export TSR_DB=$scratch/results.db
small_corpus
for who in ours theirs; do
    openssl genpkey -algorithm ed25519 -out $who.pem && openssl pkey -in $who.pem -pubout -out $who.pub
done
cat theirs.pub ours.pub >several.pub

# Signed when it is made: the statement has the verdict of a replay, and the build.
exits 0 "a signed pack" "$tsr" pack-repro product --case tiny --backend cpu --sign ours.pem -o it.lz4 corpus
has err "^signed by [0-9a-f]{64}: it.lz4.intoto.json$" "names the key and the file"
cp it.lz4.intoto.json first
exits 0 "the same once more" "$tsr" pack-repro product --case tiny --backend cpu --sign ours.pem -o it.lz4 corpus
same it.lz4.intoto.json first "is signed with the same bytes"
exits 0 "a replay of what one signed" "$tsr" replay it.lz4 --signed-by ours.pub
has out "^signed by [0-9a-f]{64}: REPRODUCED_EXACT, by tsr [0-9]" "says whose it is"
exits 0 "one of several keys" "$tsr" replay it.lz4 --signed-by several.pub --json
python3 - <<'END' && pass "the document has the statement" || fail "the document has the statement"
import json
d = json.load(open("out"))
s = d["signature"]
assert d["verdict"] == s["statement"]["verdict"] == "REPRODUCED_EXACT", d
assert s["statement"]["case"]["kernel"] == "product" and s["statement"]["outcome"]["status"] == "ok" and s["statement"]["tsr"]["build"], s
END
exits 0 "nobody asks" "$tsr" replay it.lz4 --json
python3 -c 'import json; assert json.load(open("out"))["signature"] is None' && pass "and nothing is said" || fail "and nothing is said"

# The second judge: DSSE's bytes, in-toto's statement, Ed25519 by openssl itself.
cat >dsse.py <<'END'
"""dsse.py read ENVELOPE | pae | write ENVELOPE: what a signature covers, without tsr."""
import base64, hashlib, json, pathlib, sys
TYPE = "application/vnd.in-toto+json"
def pae(payload):
    return b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(payload), payload)
if sys.argv[1] == "read":
    e = json.load(open(sys.argv[2]))
    assert e["payloadType"] == TYPE and len(e["signatures"]) == 1
    payload = base64.b64decode(e["payload"], validate=True)
    s = json.loads(payload)
    assert s["_type"] == "https://in-toto.io/Statement/v1" and ":" in s["predicateType"], s
    pack = pathlib.Path(sys.argv[2].removesuffix(".intoto.json"))
    assert s["subject"] == [{"name": pack.name, "digest": {"sha256": hashlib.sha256(pack.read_bytes()).hexdigest()}}], s
    open("said", "wb").write(pae(payload))
    open("sig", "wb").write(base64.b64decode(e["signatures"][0]["sig"], validate=True))
    open("statement", "wb").write(payload)
    open("keyid", "w").write(e["signatures"][0]["keyid"])
elif sys.argv[1] == "pae":
    open("said", "wb").write(pae(open("statement", "rb").read()))
else:
    text = lambda name: base64.b64encode(open(name, "rb").read()).decode()
    e = {"payload": text("statement"), "payloadType": TYPE, "signatures": [{"keyid": open("keyid").read(), "sig": text("sig")}]}
    open(sys.argv[2], "w").write(json.dumps(e, sort_keys=True, separators=(",", ":")) + "\n")
END
exits 0 "what is signed" python3 dsse.py read it.lz4.intoto.json
exits 0 "openssl finds the signature good" openssl pkeyutl -verify -rawin -pubin -inkey ours.pub -in said -sigfile sig
[ "$(openssl pkey -pubin -in ours.pub -outform DER | sha256sum | cut -c1-64)" = "$(cat keyid)" ] &&
    pass "the key's name is the digest of its DER" || fail "the key's name is the digest of its DER"
# The other way round: openssl signs a statement that another program wrote, and tsr takes it.
python3 - <<'END'
import json
s = json.load(open("statement"))
s["predicate"] = {"verdict": "NOT_REPRODUCED", "note": "by hand", "tsr": {"version": "9"}}
json.dump(s, open("statement", "w"))
END
python3 dsse.py pae && openssl pkeyutl -sign -rawin -inkey ours.pem -in said -out sig && python3 dsse.py write it.lz4.intoto.json
exits 0 "a statement that openssl signed" "$tsr" replay it.lz4 --signed-by ours.pub
has out "^signed by [0-9a-f]{64}: NOT_REPRODUCED, by tsr 9" "is taken as it stands"
cp first it.lz4.intoto.json

# Everything that is no signature ends with 3, before anything runs.
refused() { # WHAT PATTERN [KEYS]
    exits 3 "$1" "$tsr" replay it.lz4 --signed-by "${3:-ours.pub}"
    has out "^INVALID_PACK" "is an invalid pack: $1"
    has out "$2" "with the reason: $1"
    hasnt out "^now " "and runs nothing: $1"
}
refused "signed by another" "none of the keys signed" theirs.pub
rm it.lz4.intoto.json
refused "not signed" "not signed: there is no it.lz4.intoto.json"
: >it.lz4.intoto.json
refused "an empty signature" "is damaged"
python3 - <<'END'
data = bytearray(open("first", "rb").read())
data[200] ^= 1
open("it.lz4.intoto.json", "wb").write(data)
END
refused "a damaged signature" "damaged"
head -c 70000 /dev/zero >it.lz4.intoto.json
refused "a signature without end" "it.lz4.intoto.json"
cp first it.lz4.intoto.json
exits 0 "another pack" "$tsr" pack-repro product --case exact --backend cpu -o it.lz4 corpus
refused "a signature of another pack" "is of a file with other bytes"
exits 0 "that pack is sound" "$tsr" replay it.lz4

# Keys that are none.
for bad in ours.pem nosuch.pub first .; do
    exits 3 "a replay with the keys $bad" "$tsr" replay it.lz4 --signed-by $bad
done
for bad in ours.pub nosuch.pem first; do
    exits 3 "a pack with the key $bad" "$tsr" pack-repro product --case tiny --backend cpu --sign $bad -o never.lz4 corpus
    [ ! -e never.lz4 ] && pass "is refused before anything runs" || fail "is refused before anything runs"
done
openssl genpkey -algorithm x25519 -out wrong.pem && openssl genpkey -algorithm ed25519 -aes128 -pass pass:secret -out locked.pem
exits 3 "a key of another kind" "$tsr" pack-repro product --case tiny --backend cpu --sign wrong.pem corpus
has err "X25519" "is named"
exits 3 "a key with a passphrase" "$tsr" pack-repro product --case tiny --backend cpu --sign locked.pem corpus
has err "passphrase" "is told, and nobody is asked for it"
exits 2 "a signature of what is only shown" "$tsr" replay it.lz4 --show --signed-by ours.pub

# A failure is signed as one.
exits 0 "a failure" "$tsr" pack-repro product --case tiny --backend cpu --inject zero --sign ours.pem -o zero.lz4 corpus
exits 0 "its replay" "$tsr" replay zero.lz4 --signed-by ours.pub
has out "^recorded +mismatch" "fails as it did"
finish
