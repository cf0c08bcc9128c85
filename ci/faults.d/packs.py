"""packs - what becomes of a fault that was caught: its failure is packed and replayed, here, at another level and with one thread, and without
the fault; then its pass is looked for, and the pack made small, where tsr replay can."""
import json
import re
from pathlib import Path

import nets

OTHER_LEVELS = {"cpu": "x86-64-v3", "ptx-emulated": "sm_75", "rocm-emulated": "gfx90a"}
BISECTION_S = 90
PASSED = "PASSED"
SAME = ("REPRODUCED_EXACT", "REPRODUCED_CLASS")
STAND_IN = {"x86-64-v3": "x86-64-v2+fma"}


def net_named(name):
    return next(net for net in nets.NETS if net.name == name)


def verdict_of(ended):
    """The verdict of a replay; how it ended where it has none. A case that passed as it was packed, as a race may, shows nothing."""
    try:
        document = json.loads(ended.out)
        verdict = PASSED if document.get("recorded", {}).get("status") == "ok" else document.get("verdict")
    except ValueError:
        verdict = None
    return verdict or f"exit {ended.code}: {nets.last_line(ended)[:120]}"


def replay(tsr, pack, room, fault, *more):
    return verdict_of(nets.run([str(tsr), "replay", str(pack), "--json", *more], room, fault))


def option_of(net, name):
    return net.words[net.words.index(name) + 1] if name in net.words else None


def pack_again(tsr, net, result, file, room, fault, name, *more):
    """A pack of the case, as it fails with these options; None: it does not fail so, or there is none."""
    out = room / name
    words = [str(tsr), "pack-repro", result["kernel"], "--case", result["case"], "--backend", net.backend, "-o", str(out)]
    words += ["--profile", result["profile"]] if result.get("profile") else []
    words += [word for word in ("--generic", "--unoptimised") if word in net.words]
    words += [word for name in ("--device", "--ranks") if option_of(net, name) for word in (name, option_of(net, name))]
    ended = nets.run([*words, *more, file], room, fault)
    return out if out.is_file() else None, ended


def abilities(tsr, room):
    said = nets.run([str(tsr), "replay", "--help"], room).out
    return {name for name in ("--bisect", "--minimize") if re.search(rf"^  {name}\b", said, re.M)}


def story(coverage, fault, result, room, own):
    """Verdicts: at the place of the failure, at another level, with one thread, and by the program without the fault."""
    net, tsr = net_named(result["net"]), coverage.planted.tsr
    if not net.backend or not result["case"]:
        return {}
    file, told = coverage.files[result["kernel"]], {}
    level = option_of(net, "--isa")
    levels = ("--isa", level) if level else ()
    if result["pack"] and Path(result["pack"]).is_file():
        pack = Path(result["pack"])
    else:
        pack, ended = pack_again(tsr, net, result, file, room, fault.number, "first", *levels)
        if not pack:
            return {"verdict": f"no pack: {nets.last_line(ended)[:120]}"}
    told["bytes"] = pack.stat().st_size
    told["verdict"] = replay(tsr, pack, room, fault.number)
    told["clean"] = replay(own, pack, room, 0)
    other = STAND_IN.get(level) or OTHER_LEVELS.get(net.backend)
    if other:
        told["level"] = replay(tsr, pack, room, fault.number, "--isa", other)
    if net.backend == "cpu":
        alone, _ = pack_again(tsr, net, result, file, room, fault.number, "alone", "--threads", "1", *levels)
        told["thread"] = replay(tsr, alone, room, fault.number) if alone else "no pack"
    can = abilities(tsr, room) if told["verdict"] != PASSED else set()
    if "--bisect" in can:
        told["bisect"] = found_by(tsr, pack, room, fault, "--bisect")
    if "--minimize" in can:
        told["minimize"] = found_by(tsr, pack, room, fault, "--minimize")
    return told


def found_by(tsr, pack, room, fault, option):
    """That member of the replay's document, with the seconds that it took; how it ended where there is none."""
    ended = nets.run([str(tsr), "replay", str(pack), option, "--json", "--timeout", "5", "--failures", str(room / "made")], room, fault.number,
                     longest=BISECTION_S)
    try:
        found = json.loads(ended.out).get(option.strip("-"))
    except ValueError:
        found = None
    found = found if isinstance(found, dict) else {"why": f"exit {ended.code}: {nets.last_line(ended)[:120]}"}
    return {**found, "seconds": round(ended.seconds, 1)}


def names_of(fault):
    """The words by which a bisection names the fault's place: more than one where passes share its code."""
    stage = fault.stage
    if stage == "runtime/base":  # the interpreter calls it, and so does what makes inputs
        return {"interpreter", "inputs", "code", "program"}
    if stage.startswith(("compiler/target/llvm", "runtime")):
        return {"code", "program"}
    other = {"compiler/math": "expand-math", "compiler/program": "program", "compiler/target/interp": "interpreter", "compiler/check": "read"}
    names = {other.get(stage, stage), *([fault.also] if fault.also else [])}
    return names | ({"jvp", "vjp"} if fault.file.startswith(("compiler/ops/derivatives/", "compiler/transforms/derive")) else set())


def localised(fault, bisect):
    """`pass`: the bisection has named the fault's pass, and no other; `suspect`: it is one of several that it names; or ""."""
    names, suspects = names_of(fault), bisect.get("suspects") or ()
    place = bisect.get("pass") or bisect.get("place")
    if place in names and set(suspects) <= {place}:
        return "pass"
    return "suspect" if names & set(suspects) else ""


# ---- the short form

def file_of(kernel):
    """The corpus' file that has the kernel; names are unique in the whole corpus."""
    named = re.compile(rf"(?:\bdef |@){re.escape(kernel)}\b")
    for file in sorted([*nets.CORPUS.rglob("*.tsr"), *nets.CORPUS.rglob("*.mlir")]):
        if named.search(file.read_text()):
            return str(file)
    return str(nets.CORPUS)


def again(tsr, net_name, rows, room, fault):
    """The run that rows of the page name, of one net."""
    net = net_named(net_name)
    cases = [f"{row['kernel']}/{row['case']}" for row in rows]
    return nets.run(net.command(tsr, cases, sorted({file_of(row["kernel"]) for row in rows}), room), room, fault, folder=net.folder())


def pack_of_row(tsr, row, room, fault):
    """The pack of the case that a row names, or None."""
    return pack_again(tsr, net_named(row["net"]), row, file_of(row["kernel"]), room, fault.number, "short")[0]


def bisect_again(tsr, pack, room, fault):
    """The word that `localised` has for what bisecting finds."""
    return localised(fault, found_by(tsr, pack, room, fault, "--bisect")) if pack else ""


def minimize_again(tsr, pack, room, fault):
    """Counts the operations that are left; None: there is no smaller case."""
    return found_by(tsr, pack, room, fault, "--minimize").get("operations") if pack else None
