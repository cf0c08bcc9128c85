"""test.py ptx | hsaco TSR_HSACO_LINK - ci/ptx-check and ci/hsaco-check on code whose loops are known (cases/).

Skipped (77) where the tools that they call are missing.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CI = HERE.parent
CASES = HERE / "cases"

# (kernel, path into its document, what stands there)
PTX = (
    ("chain", ("hot_loop", "fmas"), 8),
    ("chain", ("hot_loop", "classes", "FFMA"), 8),
    ("chain", ("hot_loop", "classes", "LDS"), 2),
    ("chain", ("hot_loop", "classes", "BAR"), 1),
    ("chain", ("loops",), 2),
    ("chain", ("shared_bytes",), 4096),
    ("chain", ("spill_store_bytes",), 0),
    ("units", ("hot_loop", "classes", "HMMA"), 1),
    ("units", ("hot_loop", "fma_share"), 0.0),
    ("straight", ("hot_loop",), None),
    ("straight", ("whole", "fmas"), 1),
)
HOPPER = (
    ("warpgroup", ("hot_loop", "classes", "WGMMA"), 1),
    ("warpgroup", ("hot_loop", "classes", "LDGSTS"), 1),
    ("warpgroup", ("hot_loop", "classes", "BAR"), 2),
    ("warpgroup", ("hot_loop", "uniform"), 1),
)
HSACO = (
    ("chain", ("hot_loop", "instructions"), 14),
    ("chain", ("hot_loop", "issue_slots"), 12),
    ("chain", ("hot_loop", "fmas"), 8),
    ("chain", ("hot_loop", "fma_share"), 0.5),
    ("chain", ("hot_loop", "uniform"), 6),
    ("chain", ("hot_loop", "classes"),
     {"barrier": 1, "branch": 1, "fma": 4, "lds_read": 2, "pk_fma": 2, "scalar": 2, "wait": 2, "other": 0}),
    ("chain", ("loops",), 2),
    ("chain", ("shared_bytes",), 4096),
    ("chain", ("vgprs",), 32),
    ("chain", ("argument_bytes",), 16),
    ("units", ("hot_loop", "classes", "mfma"), 1),
    ("units", ("hot_loop", "fmas"), 0),
    ("units", ("vgpr_spills",), 5),
    ("units", ("scratch_bytes",), 20),
    ("straight", ("hot_loop",), None),
    ("straight", ("agprs",), 0),
)

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def at(document, path):
    for key in path:
        document = document[key]
    return document


def compare(document, rows):
    for kernel, path, expected in rows:
        found = at(document["kernels"][kernel], path)
        if isinstance(expected, dict):
            expected = {name: n for name, n in expected.items() if n}
        check(found == expected, f"{kernel}.{'.'.join(path)}: {found}, expected {expected}")


def spilling(values):
    """PTX of a kernel that keeps `values` numbers over a loop, in 24 registers."""
    every = range(values)
    return "\n".join([
        ".version 8.0", ".target sm_80", ".address_size 64", ".visible .entry spills(.param .u64 out, .param .u32 n)", ".maxnreg 24",
        "{", ".reg .pred %p<2>;", ".reg .b32 %r<4>;", ".reg .b64 %rd<3>;", f".reg .f32 %f<{values + 1}>;",
        "ld.param.u64 %rd1, [out];", "cvta.to.global.u64 %rd2, %rd1;", "ld.param.u32 %r1, [n];", "mov.u32 %r2, 0;",
        *(f"ld.global.f32 %f{i}, [%rd2+{4 * i}];" for i in every),
        "TURN:", '.pragma "nounroll";',
        *(f"fma.rn.f32 %f{i}, %f{i}, %f{(i + 7) % values}, %f{(i + 3) % values};" for i in every),
        "add.u32 %r2, %r2, 1;", "setp.lt.u32 %p1, %r2, %r1;", "@%p1 bra TURN;",
        *(f"st.global.f32 [%rd2+{4 * i}], %f{i};" for i in every), "ret;", "}", ""])


def test_ptx(folder):
    done = run(CI / "ptx-check", CASES / "loops.ptx", "sm_80")
    if done.returncode == 77:
        return done.stderr
    check(done.returncode == 0, f"ptx-check: {done.stderr}")
    document = json.loads(done.stdout)
    check(sorted(document["kernels"]) == ["chain", "straight", "units"], f"kernels {sorted(document['kernels'])}")
    compare(document, PTX)
    compare(json.loads(run(CI / "ptx-check", CASES / "hopper.ptx", "sm_90a").stdout), HOPPER)
    share = document["kernels"]["chain"]["hot_loop"]["fma_share"]
    check(0.3 < share < 0.8, f"a loop of 8 FFMA, 2 loads, a barrier and its counting has a share of {share}")
    (folder / "spills.ptx").write_text(spilling(48), encoding="utf-8")
    found = json.loads(run(CI / "ptx-check", folder / "spills.ptx", "sm_80").stdout)["kernels"]["spills"]
    check(found["spill_store_bytes"] > 0 and found["hot_loop"]["classes"].get("LOCAL", 0) > 0, f"nothing spilled: {found}")
    check(found["hot_loop"]["fmas"] == 48, f"the loop has 48 multiply-adds: {found}")
    (folder / "wrong.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n", encoding="utf-8")
    check(run(CI / "ptx-check", folder / "wrong.ptx", "sm_80").returncode == 1, "PTX that is none was taken")
    check(run(CI / "ptx-check", CASES / "loops.ptx", "sm_1").returncode == 1, "an architecture that is none was taken")
    check(run(CI / "ptx-check", folder / "nothing.ptx", "sm_80").returncode == 2, "a file that is not there")
    return None


def test_hsaco(folder, link):
    for tool in ("llvm-mc-19", "llvm-readelf-19", "llvm-objdump-19"):
        if not shutil.which(tool):
            return f"skipped: {tool} is not installed (Debian: llvm-19)"
    made = run("llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", CASES / "loops.s", "-o", folder / "loops.o")
    check(made.returncode == 0, f"llvm-mc-19: {made.stderr}")
    made = run(link, folder / "loops.o", folder / "loops.hsaco")
    check(made.returncode == 0, f"link: {made.stderr}")
    done = run(CI / "hsaco-check", folder / "loops.hsaco")
    check(done.returncode == 0, f"hsaco-check: {done.stderr}")
    document = json.loads(done.stdout)
    check(document["arch"] == "gfx942", f"architecture {document['arch']}")
    compare(document, HSACO)
    check(run(CI / "hsaco-check", link).returncode == 1, "a program of the host was taken")
    check(run(CI / "hsaco-check", folder / "nothing.hsaco").returncode == 1, "a file that is not there")
    return None


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        skipped = test_ptx(folder) if sys.argv[1] == "ptx" else test_hsaco(folder, sys.argv[2])
    if skipped:
        print(skipped.strip())
        return 77
    print(f"{failures} failures" if failures else "what the checks say is what is there")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
