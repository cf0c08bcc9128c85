"""iree.py - a second judge that is no XLA: IREE's compiler and runtime, by their programs iree-compile and iree-run-module.

Kernels whose tensors are of types that files of NumPy have; others are not asked.
"""
import shutil
import subprocess
from pathlib import Path

import numpy as np

ELEMENTS = {"f64", "f32", "f16", "i64", "i32", "i16", "i8", "ui64", "ui32", "ui16", "ui8"}
COMPILE = ["--iree-input-type=stablehlo", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false"]
SECONDS = 120


class Iree:
    def __init__(self, place, folder):
        """place: a folder with IREE's packages unpacked; the folder of PATH where it is "path"."""
        self.folder = Path(folder) / "iree"
        self.folder.mkdir(exist_ok=True)
        self.programs = [self.find(place, name) for name in ("iree-compile", "iree-run-module")]

    @staticmethod
    def find(place, name):
        found = [shutil.which(name)] if place == "path" else [str(one.resolve()) for one in sorted(Path(place).glob(f"**/{name}")) if "tracy" not in str(one)]
        if not found or not found[0]:
            raise SystemExit(f"export.py: there is no {name} in {place}: unpack iree-base-compiler and iree-base-runtime there")
        return found[0]

    @staticmethod
    def takes(shapes):
        return all(element in ELEMENTS and all(dims) for dims, element in shapes)

    def run(self, text, inputs, count):
        """The outputs; a message where it refuses."""
        source, module = self.folder / "text.mlir", self.folder / "text.vmfb"
        outputs = [self.folder / f"r{i}.npy" for i in range(count)]
        source.write_text(text)
        words = [self.programs[1], f"--module={module}", "--device=local-sync", "--function=main"]
        for i, array in enumerate(inputs):
            np.save(self.folder / f"a{i}.npy", array)
            words.append(f"--input=@{self.folder}/a{i}.npy")
        words += [f"--output=@{one}" for one in outputs]
        for command in ([self.programs[0], source, *COMPILE, "-o", module], words):
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return f"it took longer than {SECONDS} s"
            if done.returncode:
                return (done.stderr or done.stdout).strip().replace("\n", " ")
        return [np.load(one) for one in outputs]
