"""page - the table of docs/proof.md, which results fill in, and which names the kernel that catches a fault."""
import re
import statistics
from collections import Counter

import packs
from planting import ROOT, Mend

PAGE = ROOT / "docs/proof.md"
BEGIN, END = "<!-- ci/faults --write -->", "<!-- end of the table -->"
ROW = re.compile(r"^\| (\d+) \| [^|]* \| [^|]* \| [^|]* \| ([^|`]+?)(?: `([^/`|]*)/?([^`|]*)`)? \|[^|]*\|[^|]*\| ([^|]*) \|$", re.M)


def result_of(fault, all_results):
    return all_results.get(str(fault.number))


def missed(faults, results):
    return [fault for fault in faults if not (result_of(fault, results) or {}).get("net")]


def caught_by(result):
    place = "/".join(part for part in (result["kernel"], result["case"]) if part)
    return f"{result['net']} `{place}`" if place else result["net"]


def tested(fault, result):
    """The words for what its pack has shown."""
    pack = result.get("pack") or {}
    if not pack.get("verdict"):
        return "-"
    words = ["same" if pack["verdict"] in packs.SAME else pack["verdict"].split(":")[0].lower()]
    words += [name for name in ("level", "thread") if pack.get(name) in packs.SAME]
    words += [packs.localised(fault, pack["bisect"])] if "bisect" in pack and packs.localised(fault, pack["bisect"]) else []
    small = pack.get("minimize") or {}
    words += [f"{small['operations']} of {small['operations_before']}"] if "operations" in small else []
    words += ["gone"] if pack.get("clean") == "NOT_REPRODUCED" else ["clean build: " + str(pack.get("clean")).split(":")[0].lower()]
    return ", ".join(words)


def line_of(fault, result):
    if not result["net"]:
        how = f"reached {result['reached']} times" if result["reached"] else "not reached"
        return f"{fault.number} {fault.kind}, {fault.stage}: {fault.why}: NOT CAUGHT, {how}, {result['seconds']} s"
    return f"{fault.number} {fault.kind}, {fault.stage}: {fault.why}: {caught_by(result)} {result['status']} {result['seconds']} s; {tested(fault, result)}"


def row_of(fault, result):
    if not result or not result["net"]:
        return f"| {fault.number} | {fault.kind} | {fault.stage} | {fault.why} | not caught | | | |"
    return (f"| {fault.number} | {fault.kind} | {fault.stage} | {fault.why} | {caught_by(result)} | {result['status']} | {result['seconds']:.1f} | "
            f"{tested(fault, result)} |")


def counts(faults, results):
    known = [result_of(fault, results) for fault in faults]
    caught = [result for result in known if result and result["net"]]
    told = [result["pack"] for result in caught if (result.get("pack") or {}).get("verdict")]
    return known, caught, told


def smaller(all_of_them):
    """Says how much of the cases is left, counted in operations with those in blocks; one that got no smaller case is left whole."""
    made = [each for each in all_of_them if "operations" in each]
    if not made:
        return []
    shares = [share_of(each) for each in all_of_them]
    large = [share_of(each) for each in made if each["operations_before"] >= 10]
    few = sum(each["operations"] <= max(1, each["operations_before"] / 10) for each in made)
    return [f"{len(made)} of {len(all_of_them)} got a smaller case, of which {few} have one operation or at most a tenth of them",
            f"medians: of {statistics.median(each['operations_before'] for each in made):.0f} operations "
            f"{statistics.median(each['operations'] for each in made):.0f} left; {100 * statistics.median(shares):.1f} % of a case, "
            f"{100 * statistics.median(large):.1f} % of the {len(large)} that had ten or more"]


def share_of(minimized):
    return minimized["operations"] / max(1, minimized["operations_before"]) if "operations" in minimized else 1


def summary(faults, results):
    known, caught, told = counts(faults, results)
    same = sum(pack["verdict"] in packs.SAME for pack in told)
    levels = [pack for pack in told if "level" in pack]
    threads = [pack for pack in told if "thread" in pack]
    parts = [f"{len(caught)} of {len(faults)} caught",
             f"{len(told)} packed, {same} replayed with the same verdict",
             f"at another level {sum(pack['level'] in packs.SAME for pack in levels)} of {len(levels)}",
             f"with one thread {sum(pack['thread'] in packs.SAME for pack in threads)} of {len(threads)}",
             f"by the build without the fault not reproduced {sum(pack.get('clean') == 'NOT_REPRODUCED' for pack in told)} of {len(told)}"]
    bisected = [(fault, result["pack"]["bisect"]) for fault, result in zip(faults, known) if "bisect" in ((result or {}).get("pack") or {})
                and result["pack"]["verdict"] in packs.SAME]
    if bisected:
        found = Counter(packs.localised(*each) for each in bisected)
        parts.append(f"of {len(bisected)} of these that were bisected {found['pass']} localised to the pass, {found['suspect']} to a few passes with it")
    parts += smaller([pack["minimize"] for pack in told if "minimize" in pack])
    if None in known:
        parts.append(f"{known.count(None)} not looked for yet")
    return "; ".join(parts)


def table(faults, results):
    _, caught, _ = counts(faults, results)
    by_net = Counter(result["net"] for result in caught)
    lines = [f"{summary(faults, results)}.", "",
             "Caught by: " + ", ".join(f"{net} {count}" for net, count in by_net.most_common()) + ".", "",
             "| fault | class | pass | what is planted | caught by | as | s | its pack |", "|---|---|---|---|---|---|---|---|"]
    return "\n".join([*lines, *[row_of(fault, result_of(fault, results)) for fault in faults]]) + "\n"


def write(faults, results):
    text = PAGE.read_text()
    if BEGIN not in text or END not in text.split(BEGIN)[1]:
        raise Mend(f"{PAGE.relative_to(ROOT)} has no place for the table: {BEGIN} and {END}")
    before, rest = text.split(BEGIN, 1)
    PAGE.write_text(f"{before}{BEGIN}\n{table(faults, results)}{END}{rest.split(END, 1)[1]}")


def read():
    """{fault: how it is caught}, of those whose check names a kernel and a case."""
    part = PAGE.read_text().split(BEGIN, 1)
    rows = ROW.findall(part[1].split(END)[0]) if len(part) == 2 else []
    return {int(number): {"net": net, "kernel": kernel, "case": case, "localised": "pass" in told.split(", "), "left": operations_left(told)}
            for number, net, kernel, case, told in rows if kernel and case}


def operations_left(told):
    """Reads how many operations a row says are left; None: it has no smaller case."""
    found = re.search(r"\b(\d+) of \d+\b", told)
    return int(found[1]) if found else None
