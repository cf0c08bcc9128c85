"""packs.py TSR ROOT WRITE_PACK: packs that someone damaged or forged, bisected and minimised: bytes of the file flipped and cut, bytes of each
member flipped and cut below a manifest that fits them, and each field of what bisecting and minimising leave in a manifest. Each ends with a
verdict, an invalid pack with exit code 3, in the time that it is given, and writes nothing but the pack that it is asked for."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

TSR, ROOT, WRITE_PACK = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
SHORT = bool(os.environ.get("TSR_SHORT"))
WAYS = (("--bisect",), ("--minimize", "--budget", "2"))
SECONDS = 120  # far beyond the budgets: a command that takes as long hangs
CODES = {"REPRODUCED_EXACT": 0, "REPRODUCED_CLASS": 0, "NOT_REPRODUCED": 1, "DIFFERENT_FAILURE": 1, "NONDETERMINISTIC": 1, "INVALID_PACK": 3,
         "NEEDS_TRUST": 4, "INCOMPATIBLE": 4}
# Places in the file, and in each member; each so many'th member.
PLACES, IN_MEMBER, EVERY = (8, 1, 5) if SHORT else (1000, 8, 1)
KERNEL = '''from tessera import *


@cases(case("some", M=3, N=9))
@kernel
def norm(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x - mean(x, axis=1, keepdims=True))
'''
FIELD = re.compile(r'^FIELD\("((?:parent|minimize|bisect)[^"]*)", (\w+), (\w+), (\d+), (\w+)\)', re.M)


def tsr(folder, *words):
    return subprocess.run([TSR, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=SECONDS)


class Pack:
    """A sound one, in parts."""
    def __init__(self, path):
        def read(name):
            return subprocess.run(["bsdtar", "-xOf", path, name], check=True, capture_output=True).stdout
        self.bytes = path.read_bytes()
        self.manifest = json.loads(read("manifest.json"))
        self.members = {member["name"]: read(member["name"]) for member in self.manifest["members"]}
        del self.manifest["members"], self.manifest["schema"]

    def write(self, folder, manifest=None, members=None):
        """The pack with another manifest or other members, its digests those of what it has then."""
        with tempfile.TemporaryDirectory() as parts:
            place = pathlib.Path(parts)
            (place / "manifest").write_text(json.dumps(manifest or self.manifest))
            words = []
            for number, (name, data) in enumerate({**self.members, **(members or {})}.items()):
                (place / str(number)).write_bytes(data)
                words.append(f"{name}={place / str(number)}")
            subprocess.run([WRITE_PACK, folder / "bad.pack", place / "manifest", *words], check=True, capture_output=True)


def damaged(data, dice):
    """One bit flipped, or, each third time, the end cut off."""
    at = dice.randrange(len(data))
    return data[:at] if dice.randrange(3) == 2 else data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1:]


def of_bytes(pack, dice):
    """The file is damaged."""
    for number in range(PLACES):
        data = damaged(pack.bytes, dice)
        yield f"byte {number}", lambda folder, data=data: (folder / "bad.pack").write_bytes(data), ("INVALID_PACK",), ""


def of_members(pack, dice):
    """A member is another, and the manifest says so."""
    first = dice.randrange(EVERY)
    chosen = [name for name in pack.members if not name.startswith("ir/")] + list(pack.members)[first::EVERY]
    for name in dict.fromkeys(chosen):
        for number in range(IN_MEMBER):
            data = {name: damaged(pack.members[name], dice)}
            yield f"{name} {number}", lambda folder, data=data: pack.write(folder, members=data), tuple(CODES), ""


def put(manifest, path, value):
    """The manifest with `value` at the path, "[]" being the first element; None: with nothing there."""
    manifest = json.loads(json.dumps(manifest))
    at, *parts = manifest, *path.split(".")
    for number, part in enumerate(parts):
        key, each, last = part.removesuffix("[]"), part.endswith("[]"), number == len(parts) - 1
        if each and last:
            at[key] = [value]
        elif last and value is None:
            at.pop(key, None)
        elif last:
            at[key] = value
        else:
            at = at[key][0] if each else at[key]
    return manifest


def wrong_values(kind, need, low, high):
    """Values outside of a field's domain, by its row of the table."""
    yield from {"OBJECT": ([], "x"), "ARRAY": ({}, "x"), "INTEGER": ("1", 1.5, -1)}.get(kind, (1, [], {}))
    if kind == "INTEGER":
        yield from (int(low) - 1, -1 << 63)
    elif kind == "ARRAY":
        yield ["x"] * (int(high) + 1)
    elif kind != "OBJECT":
        yield from ("x" * (int(high) + 1), "\x1b[2J" if kind != "TEXT" else 1)
    if need == "REQUIRED":
        yield None


def lies(kind, low, high):
    """Values in the domain, of which nothing is true."""
    limits = {"UINT32_MAX": 2**32 - 1, "INT64_MAX": 2**63 - 1}
    if kind == "INTEGER":
        yield from (int(low), limits.get(high) or int(high))
    elif kind in ("LABEL", "VALUES", "TEXT"):
        yield "9" * int(high)


# Parts that the table has below `bisect`, and that no finding has at once.
WHOLE = {"run": {"number": 1, "line": 1, "turns": [{"line": 1, "turn": 0}]}, "against": {"differs": "tile", "pass": "tile"}, "suspects": ["tile"]}


def of_fields(pack, _):
    """A field of what bisecting and minimising leave is wrong, or in its domain and a lie."""
    rows = FIELD.findall((ROOT / "harness/run/pack_fields.def").read_text())
    assert len(rows) > 40 and {row[0].split(".")[0] for row in rows} == {"parent", "minimize", "bisect"}, rows
    sizes = {"operations_before": 2, "operations": 1, "bytes_before": 8, "bytes": 4}
    sound = {**pack.manifest, "minimize": sizes, "bisect": {**pack.manifest["bisect"], **WHOLE}}
    yield "sound", lambda folder: pack.write(folder, sound), ("REPRODUCED_EXACT",), ""
    yield "unknown", lambda folder: pack.write(folder, put(sound, "bisect.extra", 1)), ("INVALID_PACK",), "bisect.extra"
    for path, kind, need, low, high in rows:
        for value in [*wrong_values(kind, need, low, high)][:2 if SHORT else None]:
            changed = put(sound, path, value) if value is not None or not path.endswith("[]") else put(sound, path[:-2], [None])
            yield f"{path} {str(value)[:40]!r}", lambda folder, changed=changed: pack.write(folder, changed), ("INVALID_PACK",), path
        for value in [] if SHORT else lies(kind, low, high):
            changed = put(sound, path, value)
            yield f"{path} lie", lambda folder, changed=changed: pack.write(folder, changed), ("REPRODUCED_EXACT",), ""
    if SHORT:
        changed = sound
        for path, kind, _, low, high in rows:
            for value in list(lies(kind, low, high))[-1:]:
                changed = put(changed, path, value)
        yield "all lie", lambda folder: pack.write(folder, changed), ("REPRODUCED_EXACT",), ""


def complaint(ended, folder, verdicts, words):
    """None: the command ended as it must."""
    try:
        said = json.loads(ended.stdout)
    except ValueError:
        said = {}
    verdict = said.get("verdict")
    beside = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    made = ["bad.pack"] if verdict == "INVALID_PACK" else ["bad.pack", "new.pack"]
    if verdict is None and ended.returncode == 4 and "within the budget" in ended.stderr:
        return None
    if verdict not in verdicts or ended.returncode not in (CODES[verdict], 4):
        return f"exit {ended.returncode}, {verdict}, not {' or '.join(verdicts)}: {ended.stderr[-300:]}"
    if words not in str(said.get("why")):
        return f"it does not name {words}: {said.get('why')}"
    return None if set(beside) <= set(made) else f"files beside it: {beside}"


def one(row):
    name, write, verdicts, words = row
    told = []
    # A case that damage has made a large one ends after a second, with a verdict; one that must fail again has all its time.
    shorter = ("--timeout", "1") if len(verdicts) > 1 else ()
    for way in WAYS:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            write(folder)
            began = monotonic()
            try:
                why = complaint(tsr(folder, "replay", "bad.pack", *way, *shorter, "-o", "new.pack", "--json"), folder, verdicts, words)
            except subprocess.TimeoutExpired:
                why = f"no end after {SECONDS} s"
            told.append((f"{name} {way[0]}", monotonic() - began, why))
    return told


def main():
    dice = random.Random(1)
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name in ("TMPDIR", "HOME"):
            (folder / name).mkdir()
            os.environ[name] = str(folder / name)
        os.environ.update(TSR_CACHE=place + "/cache", TSR_DB=place + "/results.db", LC_ALL="C")
        (folder / "norm.tsr").write_text(KERNEL)
        tsr(folder, "pack-repro", "norm", "--case", "some", "--backend", "cpu", "--threads", "1", "--inject", "swap-operands", "-o", "first.pack",
            "norm.tsr")
        tsr(folder, "replay", "first.pack", "--bisect", "-o", "sound.pack")
        pack = Pack(folder / "sound.pack")
        for rows in of_bytes, of_members, of_fields:
            with ThreadPoolExecutor(2) as pool:
                told = [each for result in pool.map(one, rows(pack, dice)) for each in result]
            for name, _, why in told:
                if why:
                    failures += 1
                    print(f"NOT OK - {name}: {why}")
            longest = max(told, key=lambda each: each[1])
            print(f"ok - {rows.__doc__} {len(told)} commands, the longest {longest[1]:.1f} s: {longest[0]}")
        left = sorted(str(path.relative_to(folder)) for name in ("TMPDIR", "HOME") for path in (folder / name).rglob("*"))
        if left:
            failures += 1
            print(f"NOT OK - files are left: {left[:5]}")
    print(f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
