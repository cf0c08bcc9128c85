"""planting - the table of faults, where each one stands in the sources, and a build that has all of them.

Each mutated file is compiled once, as the build's own compile_commands.json says, with `(tsr_fault(N) ? planted : original)` in each of its
anchors (mutant schemata: Untch, Offutt and Harrold, 1993), and linked with the objects of that build. TSR_FAULT=N chooses one.
"""
import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "faults.txt"
FIELDS = ("class", "pass", "also", "file", "in", "from", "to", "why", "short")
OPTIONAL = ("also", "in", "short")
TARGETS = ("tessera_compiler", "tessera_runtime", "tessera_devices", "tessera_chip", "tessera_base", "tessera_harness", "tessera_repro")
PROGRAMS = ("tsr", "libtessera-llvm.so")
TESTS = ("compiler/compiler_far", "compiler/compiler_gpu_code", "compiler/compiler_shlo_bytecode", "compiler/compiler_shlo_text",
         "compiler/compiler_shlo_values", "compiler/compiler_source", "compiler/tsr-conversions", "runtime/runtime_abi_test", "runtime/runtime_comm_test", "runtime/runtime_host_pool_test",
         "runtime/runtime_prepare_test", "runtime/runtime_program_test", "tsr-opt")


class Mend(Exception):
    """A row that must be mended, or a build that cannot be used."""


@dataclass
class Fault:
    number: int
    line: int
    fields: dict

    def __getattr__(self, name):
        return self.fields[{"kind": "class", "stage": "pass", "within": "in", "old": "from", "new": "to"}.get(name, name)]

    def complain(self, what):
        return Mend(f"{TABLE.relative_to(ROOT)}:{self.line}: fault {self.number}: {what}")


def passes():
    text = (ROOT / "compiler/passes.def").read_text()
    return set(re.findall(r'^[PM]\(\w+, "([a-z-]+)"', text, re.M))


def read_table(text=None):
    """The rows, in the order of the table: `fault N`, then a field a line, then an empty one."""
    faults, fault = [], None
    for number, line in enumerate((text if text is not None else TABLE.read_text()).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            fault = None if not line.strip() else fault
            continue
        word, _, rest = line.strip().partition(" ")
        if word == "fault":
            fault = Fault(int(rest), number, dict.fromkeys(OPTIONAL, ""))
            faults.append(fault)
        elif fault is None or word not in FIELDS or fault.fields.get(word):
            raise Mend(f"{TABLE.relative_to(ROOT)}:{number}: `{word}`: no field of a fault, or given twice, or outside of one")
        else:
            fault.fields[word] = rest.strip()
    known, seen = passes(), set()
    for fault in faults:
        missing = [name for name in FIELDS if name not in fault.fields]
        if missing:
            raise fault.complain(f"has no `{missing[0]}`")
        if fault.number in seen or not 0 < fault.number < 4096:
            raise fault.complain("numbers are 1 to 4095, and each is given once")
        seen.add(fault.number)
        if any(fault.fields[name].count("(") != fault.fields[name].count(")") for name in ("from", "to")):
            raise fault.complain("`from` and `to` are whole expressions or statements: a parenthesis is left over")
        if fault.stage not in known and not (ROOT / fault.stage).is_dir():
            raise fault.complain(f"pass `{fault.stage}` is neither in compiler/passes.def nor a folder")
        if fault.also not in known | {"", "code"}:
            raise fault.complain(f"also `{fault.also}`: neither a pass nor `code`")
        if not (ROOT / fault.file).is_file() or not fault.file.endswith(".c"):
            raise fault.complain(f"file {fault.file} is not there, or no .c file")
    return faults


def pattern_of(anchor):
    """Blanks and line ends are one: what clang-format breaks anew is found again."""
    return r"\s+".join(map(re.escape, anchor.split()))


def place_of(fault, text):
    """The place of its anchor: once in the file, or once behind the first place of `in` and before the end of that function."""
    begin, end = 0, len(text)
    if fault.within:
        where = [m.start() for m in re.finditer(pattern_of(fault.within), text)]
        if len(where) != 1:
            raise fault.complain(f"`in {fault.within}` occurs {len(where)} times in {fault.file}, not once: mend the row")
        begin = where[0]
        end = text.find("\n}\n", begin)
        end = len(text) if end < 0 else end
    found = list(re.finditer(pattern_of(fault.old), text[begin:end]))
    if len(found) != 1:
        raise fault.complain(f"`from {fault.old}` occurs {len(found)} times in {fault.file}{' there' if fault.within else ''}, not once: "
                             "mend the row (`in` names its function)")
    return begin + found[0].start(), begin + found[0].end()


def schema_of(fault, original):
    if fault.old.endswith(";"):
        return f"{{ if (tsr_fault({fault.number})) {{ {fault.new} }} else {{ {original} }} }}"
    return f"(tsr_fault({fault.number}) ? ({fault.new}) : ({original}))"


def mutated(file, faults):
    """The text of a file with all of its faults."""
    text = (ROOT / file).read_text()
    places = sorted(((*place_of(fault, text), fault) for fault in faults if fault.file == file), key=lambda place: place[0])
    for (_, end, _), (begin, _, later) in zip(places, places[1:]):
        if begin < end:
            raise later.complain("stands within another fault's anchor")
    for begin, end, fault in reversed(places):
        text = text[:begin] + schema_of(fault, text[begin:end]) + text[end:]
    return text


def check_anchors(faults):
    for file in sorted({fault.file for fault in faults}):
        mutated(file, faults)


# ---- the build

def run(command, folder):
    done = subprocess.run(command, cwd=folder, shell=isinstance(command, str), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Mend(f"{command if isinstance(command, str) else shlex.join(command)}\n{done.stderr.strip()}"[-6000:])
    return done.stdout


def last_command(build, target):
    return run(["ninja", "-t", "commands", "-s", target], build).strip().splitlines()[-1]


def compile_one(entry, source, output):
    """Makes an object of the mutated text, as the build makes its own; the compiler's words where it refuses. Warnings are no concern here."""
    words = [w for w in shlex.split(entry["command"]) if not w.startswith(("-W", "-MD", "-MT", "-MF"))]
    original = Path(entry["file"])
    words[words.index("-o") + 1] = str(output)
    words[words.index("-c") + 1] = str(source)
    words[1:1] = ["-include", str(HERE / "fault.h"), "-iquote", str(original.parent), "-w", "-fmax-errors=5"]
    done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


class Planted:
    """A build folder's programs with faults in them, in FOLDER."""

    def __init__(self, build, folder, faults):
        self.build, self.folder, self.faults = Path(build).resolve(), Path(folder).resolve(), faults
        self.tsr = self.folder / "tsr"

    def entries(self):
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            entry["output"] = words[words.index("-o") + 1]
            target = re.search(r"/CMakeFiles/(\w+)\.dir/", entry["output"])
            if target and target[1] in TARGETS:
                yield Path(entry["file"]).resolve(), entry

    def objects(self):
        """Compiles what has changed; {the build's object: ours}, and how many were compiled."""
        by_file = dict(self.entries())
        work, replaced = [], {}
        for file in sorted({fault.file for fault in self.faults}):
            entry = by_file.get((ROOT / file).resolve())
            if not entry:
                raise Mend(f"{self.build} does not compile {ROOT / file}: build this tree first")
            text, source = mutated(file, self.faults), self.folder / "source" / file
            output = source.with_suffix(".o")
            made = self.build / entry["output"]
            if not made.is_file():
                raise Mend(f"{made} is not there: build {self.build} first")
            source.parent.mkdir(parents=True, exist_ok=True)
            if not (source.is_file() and source.read_text() == text and output.is_file()
                    and output.stat().st_mtime > made.stat().st_mtime):
                source.write_text(text)
                work.append((entry, source, output))
            replaced[entry["output"]] = output
        with ThreadPoolExecutor(2) as pool:
            wrong = [words for words in pool.map(lambda each: compile_one(*each), work) if words]
        if wrong:
            raise Mend("\n".join(wrong))
        return replaced, len(work)

    def archive(self, path, replaced):
        """One of the build's archives, thin, with our objects in place of its own."""
        steps = last_command(self.build, path).split(" && ")
        members = [word for step in steps if " qc " in step for word in shlex.split(step) if word.endswith(".o")]
        ours = self.folder / Path(path).name
        ours.unlink(missing_ok=True)
        run(["ar", "qcsT", str(ours), *[str(replaced.get(w, self.build / w)) for w in members]], self.build)
        return ours

    def make(self, programs=PROGRAMS + TESTS):
        """Builds the programs; how many files were compiled anew."""
        self.folder.mkdir(parents=True, exist_ok=True)
        replaced, count = self.objects()
        core = self.folder / "fault.o"
        run(["cc", "-O2", "-fPIC", "-D_GNU_SOURCE", "-c", str(HERE / "fault.c"), "-o", str(core)], HERE)
        archives = {}
        library = (self.build / "compiler/libtessera-compiler.so").resolve()
        if library.is_file() and len(programs) > len(PROGRAMS):
            programs = (*programs, f"compiler/{library.name}")
            (self.folder / "compiler").mkdir(exist_ok=True)
            for name, to in (("compiler/libtessera-compiler.so", f"../{library.name}"), ("python", self.build / "python")):
                (self.folder / name).unlink(missing_ok=True)
                (self.folder / name).symlink_to(to)
        for program in programs:
            command = next(step for step in last_command(self.build, program).split(" && ") if " -o " in step)
            words = shlex.split(command)
            words = [str(replaced.get(word, word)) for word in words]
            for i, word in enumerate(words):
                if re.search(r"(^|/)libtessera_\w+\.a$", word):
                    if word not in archives:
                        archives[word] = self.archive(word, replaced)
                    words[i] = str(archives[word])
            words[words.index("-o") + 1] = str(self.folder / Path(program).name)
            run([*words, str(core)], self.build)
        return count
