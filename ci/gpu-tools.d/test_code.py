"""test_code.py - ci/gpu-code finds code that a vendor's tools refuse: with a compiler that is none.

Skipped (77) where the tools of both vendors are missing.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GPU_CODE = HERE.parent / "gpu-code"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = HEAD + ".visible .entry k() { ret; }\n"

# A compiler: lists one case, and as code writes what it finds in a file, for kernel:1 nonsense; or fails as a compiler does.
COMPILER = """#!/bin/sh
[ "$1" = bench ] && { echo "k/one@interp,strict,1"; exit; }
case "$*" in
*"--emit metadata"*) cat "{folder}/metadata"; exit ;;
*"-o "*" --kernel kernel:1"*) echo nonsense >"$6"; exit ;;
*"-o "*" --kernel kernel:0"*) cat "{folder}/code" >"$6"; exit ;;
esac
for word; do out=$word; done
cat "{folder}/said" >&2
[ -s "{folder}/said" ] || cp "{folder}/code" "$out"
[ ! -s "{folder}/said" ] || exit 3
"""

ONE, TWO = "{}", '{"program": {"kernels": ["kernel:0", "kernel:1"]}}'

# A row: its name, the code, words on stderr, the metadata, the chip, the exit code of ci/gpu-code, words that it prints.
ROWS = (
    ("good PTX", GOOD.encode(), "", ONE, "sm_80", 0, "1 accepted, 0 refused"),
    ("an instruction that is none", (HEAD + ".visible .entry k() {\n  nonsense.f32 %f1;\n  ret; }\n").encode(), "", ONE, "sm_80", 1,
     "nonsense.f32 %f1;"),
    ("PTX for a later chip", GOOD.replace("sm_80", "sm_90a").encode(), "", ONE, "sm_80", 1, "REFUSED k/one sm_80"),
    ("a compiler that dies", b"", "LLVM ERROR: no", ONE, "sm_80", 1, "REFUSED k/one sm_80: LLVM ERROR: no"),
    ("an order without code alone", b"", "tsr: error[E0622]: no code", ONE, "sm_80", 1, "nothing was looked at"),
    ("no ELF", b"nonsense", "", ONE, "gfx942", 1, "REFUSED k/one gfx942"),
    ("a program whose second kernel is nonsense", GOOD.encode(), "", TWO, "sm_80", 1, "REFUSED k/one sm_80"),
    ("no metadata", GOOD.encode(), "", "", "sm_80", 1, "REFUSED k/one sm_80"),
)


def run(folder, chip):
    environment = {**os.environ, "TSR": str(folder / "tsr")}
    return subprocess.run([GPU_CODE, "--chip", chip, folder / "k.tsr"], capture_output=True, text=True, check=False, env=environment)


def main():
    failures, looked = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k.tsr").write_text("@kernel\ndef k():\n", encoding="utf-8")
        (folder / "tsr").write_text(COMPILER.replace("{folder}", name), encoding="utf-8")
        (folder / "tsr").chmod(0o755)
        for what, code, said, metadata, chip, wanted, words in ROWS:
            (folder / "code").write_bytes(code)
            (folder / "metadata").write_text(metadata, encoding="utf-8")
            (folder / "said").write_text(said, encoding="utf-8")
            done = run(folder, chip)
            if done.returncode == 77:
                print(f"skipped: {what}: {done.stdout.strip()}")
                continue
            looked += 1
            if done.returncode != wanted or words not in done.stdout:
                failures += 1
                print(f"FAILED: {what}: exit {done.returncode}, {done.stdout}{done.stderr}")
    print(f"{looked} looked at, {failures} failures")
    return 1 if failures else 0 if looked else 77


if __name__ == "__main__":
    sys.exit(main())
