# test_cli_programs_page.sh - docs/programs.md, docs/training.md and docs/collectives.md: each source compiles, each command ends as shown, and prints the lines that stand below it, in
# their order and among others; a line may go on.
source "$(dirname "$0")/lib.sh"
cat >page.py <<'END'
"""page.py PAGE TSR: runs a page's consoles in this folder."""
import pathlib
import re
import subprocess
import sys

page, tsr = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
ran = 0


def run(command, shown):
    """Runs one line, and looks for what is shown."""
    done = subprocess.run(re.sub(r"\btsr (?=run|bench|check|report)", f"{tsr} ", command), shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    code = 0
    if shown and (found := re.fullmatch(r"\[exit code (\d+)\]", shown[-1])):
        code = int(found[1])
        shown = shown[:-1]
    assert done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout}"
    printed = iter(sorted(done.stdout.splitlines(), key=lambda line: not line.startswith("tsr: goes on")))
    for line in shown:
        assert any(one.startswith(line) for one in printed), f"{command}: no line begins, in its place, with {line!r}\n{done.stdout}"


for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S):
    if kind == "python":
        name = re.match(r"# (\S+\.tsr)\n", text)[1]
        pathlib.Path(name).write_text(text)
        continue
    for one in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, *shown = one.splitlines()
        run(command, shown)
        ran += 1
print(ran, "commands")
END
for page in programs training collectives; do
    mkdir $page && cd $page || exit 1
    ln -s "$root/corpus" corpus
    exits 0 "what docs/$page.md shows" python3 ../page.py "$root/docs/$page.md" "$tsr"
    has out "^([89]|[12][0-9]) commands" "every command ran"
    cd ..
done
finish
