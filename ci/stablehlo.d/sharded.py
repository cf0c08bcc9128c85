#!/usr/bin/env python3
"""sharded.py [--build FOLDER] [FILE...] - kernels as StableHLO for four devices, in the sizes of a matrix unit.

Each kernel of the files, by default of some folders of corpus/, is lowered by tsr-opt with pad-for-tpu and annotate-sharding: jaxlib parses and
verifies the text, and this compiler reads and writes it as it is. Where libtpu is (a package that nothing needs; --libtpu FOLDER, unpacked),
it compiles each for four chips of a v5e, partitioned by Shardy, and runs nothing. Kernels that say themselves how their values lie on a mesh
(corpus/collectives/placed.tsr) are written so, and XLA's CPU compiles them for as many devices.

77: jax is missing. 1: a text is not parsed, is another one when it is written again, or does not compile.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("attention", "matmul", "normalisation")
MESH = "data=2,model=2"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
try:
    import jax
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
except ImportError as missing:
    print(f"sharded.py: skipped: {missing}")
    sys.exit(77)


def says_itself(path):
    return "sharding(" in path.read_text()


def lowered(opt, path, name, case):
    if says_itself(path):
        return subprocess.run([opt.parent / "tsr", "compile", path, "--kernel", name, "--case", case, "--emit", "stablehlo"], capture_output=True, text=True)
    words = [opt, path, "--kernel", name, "--case", case, "--pass", "lower-to-stablehlo", "--pass", "pad-for-tpu", "--pass", f"annotate-sharding={MESH}"]
    return subprocess.run(list(map(str, words)), capture_output=True, text=True)


def written_again(opt, text):
    """The text as the reader and the printer give it, with a pass that finds nothing to do."""
    return subprocess.run([str(opt), "-", "--pass", "pad-for-tpu"], input=text, capture_output=True, text=True).stdout


def kernels(build, path):
    """The last small case of each kernel."""
    listed = subprocess.run([build / "tsr", "bench", "--list", "--quick", "--backend", "interp", path], capture_output=True, text=True).stdout
    return dict(line.split("@")[0].partition("/")[::2] for line in listed.splitlines() if "/" in line)


def compile_here(text):
    """For the CPU, of which XLA makes several devices; the collective operations of the program."""
    import numpy as np
    from jax._src import compiler
    from jax._src.lib import xla_client

    count = int(re.search(r"mhlo.num_partitions = (\d+)", text)[1])
    devices = jax.devices("cpu")[:count]
    options = compiler.get_compile_options(num_replicas=1, num_partitions=count, device_assignment=np.arange(count).reshape(1, -1))
    with mlir.make_ir_context():
        made = devices[0].client.compile_and_load(ir.Module.parse(text), xla_client.DeviceList(tuple(devices)), options)
    return exchanges(made)


def exchanges(made):
    return re.findall(r"= \S+ (all-[a-z]+|collective-permute|reduce-scatter)(?:-start)?\(", made.hlo_modules()[0].to_string())


class Chips:
    """Four chips that are not here."""

    def __init__(self, folder):
        from jax._src import compiler
        from jax.experimental import topologies

        library = Path(folder) / "libtpu/libtpu.so"
        if not library.is_file():
            raise FileNotFoundError(f"no {library}")
        os.environ.update({"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_LIBRARY_PATH": str(library)})
        devices = topologies.get_topology_desc("v5e:2x2", platform="tpu").devices
        self.backend, self.devices, self.compiler = devices[0].client, devices, compiler

    def compile(self, text):
        """The collective operations of the program that comes out."""
        import numpy as np
        from jax._src.lib import xla_client

        options = self.compiler.get_compile_options(
            num_replicas=1, num_partitions=len(self.devices), device_assignment=np.arange(len(self.devices)).reshape(1, -1)
        )  # of one replica; partitioned by Shardy unless JAX is told otherwise
        with mlir.make_ir_context():
            made = self.backend.compile(ir.Module.parse(text), xla_client.DeviceList(tuple(self.devices)), options)
        return exchanges(made)


def chips_of(folder):
    """None where there are none, with the reason told."""
    try:
        return Chips(folder)
    except Exception as missing:  # noqa: BLE001 - of another version, or none at all
        print(f"skipped: four chips of a v5e: {type(missing).__name__}: {str(missing).splitlines()[0]}")
        return None


def judge(opt, chips, path, name, case):
    """(why it does not hold, collective operations); nothing where the kernel is not expressed."""
    done = lowered(opt, path, name, case)
    if done.returncode:
        return f"tsr-opt: {done.stderr.strip()[-200:]}", []
    try:
        with mlir.make_ir_context():
            ir.Module.parse(done.stdout).operation.verify()
    except Exception as error:  # noqa: BLE001
        return f"jaxlib: {str(error)[:200]}", []
    if not says_itself(path) and written_again(opt, done.stdout) != done.stdout:
        return "it is another text when it is written again", []
    try:
        if says_itself(path):
            return None, compile_here(done.stdout)
        return None, chips.compile(done.stdout) if chips else []
    except Exception as error:  # noqa: BLE001
        return f"{'XLA' if says_itself(path) else 'libtpu'}: {str(error)[:300]}", []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--libtpu", type=Path, default=ROOT / "build/pjrt/libtpu", metavar="FOLDER")
    parser.add_argument("files", nargs="*", type=Path)
    o = parser.parse_args()
    opt, chips = o.build / "tsr-opt", chips_of(o.libtpu)
    files = [one if one.exists() else ROOT / "corpus" / one for one in o.files]
    files = files or [one for folder in FOLDERS for one in sorted((ROOT / "corpus" / folder).glob("*.tsr"))]
    held = failed = exchanging = 0
    for path in files:
        for name, case in kernels(o.build, path).items():
            why, collectives = judge(opt, chips, path, name, case)
            held, failed, exchanging = held + (not why), failed + bool(why), exchanging + bool(collectives)
            if why:
                print(f"{name}/{case}: {why}")
    print(f"JAX {jax.__version__}: {held} texts are parsed and written again as they are, {failed} are not")
    if chips:
        print(f"libtpu compiled {held} for {len(chips.devices)} partitions; {exchanging} of them exchange something")
    return failed > 0 or not held


if __name__ == "__main__":
    sys.exit(main())
