# test_cli_image.sh - the image of compiled code that a pack holds: it runs where --allow-native says so, and nowhere else; a fault that the
# code of whoever made the pack had shows in it, though the compiler here has none; and what is no such image is refused.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
write_pack=$(dirname "$tsr")/harness/write_pack
small_corpus

exits 0 "a case is packed" "$tsr" pack-repro product --case tiny --backend cpu --threads 1 -o it.lz4 corpus
exits 0 "it replays" "$tsr" replay it.lz4
has out "^image     module.tsrm, [0-9]+ bytes \([0-9a-f]{12}\): not run; --allow-native runs it" "and tells of an image"
exits 0 "--allow-native" "$tsr" replay it.lz4 --allow-native
has out "^REPRODUCED_EXACT \(code-hash-same\)" "has the verdict of what is compiled here"
has out "^image     module.tsrm, .*: REPRODUCED_EXACT, ok$" "and that of the image"

# image_of KEY...: of the document that was printed last.
image_of() {
    /usr/bin/python3 -c 'import json, sys; image = json.load(open("out"))["image"]; print(*[image.get(key) for key in sys.argv[1:]])' "$@"
}
exits 0 "nobody asks" "$tsr" replay it.lz4 --json
[ "$(image_of member verdict)" = "module.tsrm None" ] && pass "the document has an image that did not run" || fail "the document has an image that did not run"
exits 0 "as a document" "$tsr" replay it.lz4 --allow-native --json
[ "$(image_of verdict status)" = "REPRODUCED_EXACT ok" ] && pass "and one that did" || fail "and one that did"

# with_image FILE OUT: the pack with another image, whose digest is that of the file.
bsdtar -xf it.lz4
with_image() {
    /usr/bin/python3 - "$1" "$2" "$write_pack" <<'PY'
import json, subprocess, sys
image, out, write_pack = sys.argv[1:]
manifest = json.load(open("manifest.json"))
names = [member["name"] for member in manifest.pop("members")]
del manifest["schema"]
json.dump(manifest, open("about.json", "w"))
subprocess.run([write_pack, out, "about.json", *[f"{name}={image if name == 'module.tsrm' else name}" for name in names]], check=True)
PY
}

# Code that computes something else, by the same name: a fault of whoever made it.
sed 's/return x @ y/return x @ y + 1.0/' corpus/small/small.tsr >other.tsr
exits 0 "another kernel of that name" "$tsr" compile other.tsr:product --case tiny --threads 1 -o other.tsrm
with_image other.tsrm other.lz4
exits 0 "what is compiled here is as it was" "$tsr" replay other.lz4 --allow-native
has out "^REPRODUCED_EXACT" "by its verdict"
has out "^image .*: DIFFERENT_FAILURE, mismatch: output" "and the image is not"

# Images that are none of this kernel.
head -c 100 module.tsrm >cut.tsrm
/usr/bin/python3 -c '
data = bytearray(open("module.tsrm", "rb").read())
data[len(data) // 2] ^= 255
open("flipped.tsrm", "wb").write(data)
open("noise.tsrm", "wb").write(bytes(range(256)) * 16)
open("empty.tsrm", "wb").write(b"")'
sed 's/def product/def quotient/' corpus/small/small.tsr >quotient.tsr
exits 0 "a module of another kernel" "$tsr" compile quotient.tsr:quotient --case tiny --threads 1 -o quotient.tsrm
for image in cut flipped noise empty quotient; do
    with_image $image.tsrm $image.lz4
    exits 0 "$image: without the option nothing runs it" "$tsr" replay $image.lz4
    exits 3 "$image: with it the pack is refused" "$tsr" replay $image.lz4 --allow-native
    has out "^INVALID_PACK" "as an invalid one"
    has out "^its image is no module that can be loaded: " "with the reason"
done

# Refusals.
exits 0 "a pack of the interpreter" "$tsr" pack-repro product --case tiny --backend interp -o interp.lz4 corpus
exits 3 "it has no image" "$tsr" replay interp.lz4 --allow-native
has err "holds no image of compiled code: without --allow-native" "and that is told"
exits 2 "--show runs none" "$tsr" replay it.lz4 --show --allow-native
exits 2 "nor does --as" "$tsr" replay it.lz4 --as c --allow-native
