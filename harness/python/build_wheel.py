"""Builds the wheel of the package (PEP 517): compiles its C part with the runtime's sources of this checkout.

$CC and $CFLAGS are honoured. `python3 build_wheel.py FOLDER` writes the wheel into a folder.
"""

import base64
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "runtime"
HARNESS = HERE.parent
FLAGS = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-D_GNU_SOURCE"]
LIBRARIES = ["jansson", "libcrypto"]
HEADERS = ["libxxhash"]


def version():
    """That of the program."""
    return re.search(r'#define TSR_VERSION "(.*)"', (HARNESS / "common/version.h").read_text())[1]


def sources():
    folders = [HERE / "extension", RUNTIME / "base", RUNTIME, RUNTIME / "device", HARNESS / "capture/record"]
    guest = [RUNTIME / "guest/serve.c", RUNTIME / "guest/describe.c"]
    return [file for folder in folders for file in sorted(folder.glob("*.c"))] + guest


def package_flags(option, packages):
    try:
        found = subprocess.run(["pkg-config", option, *packages], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        sys.exit("pkg-config is missing")
    except subprocess.CalledProcessError as error:
        sys.exit(f"headers of {' and '.join(packages)} are missing: {error.stderr}")
    return shlex.split(found.stdout)


def compile_extension(output):
    compiler = shlex.split(os.environ.get("CC", "cc"))
    include = [f"-I{RUNTIME}", f"-I{HARNESS}", f"-I{RUNTIME / 'include'}", f"-I{sysconfig.get_path('include')}"]
    flags = [*FLAGS, f'-DTESSERA_PACKAGE_VERSION="{version()}"', *shlex.split(os.environ.get("CFLAGS", "")), *include, *package_flags("--cflags", LIBRARIES + HEADERS)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [f"{folder}/{number}.o" for number in range(len(sources()))]
        commands = [[*compiler, *flags, "-c", str(file), "-o", made] for file, made in zip(sources(), objects)]
        list(pool.map(lambda command: subprocess.run(command, check=True), commands))
        subprocess.run([*compiler, "-shared", *objects, "-o", output, *package_flags("--libs", LIBRARIES), "-pthread", "-lm"], check=True)


def tag():
    return "cp311-abi3-" + re.sub(r"[^a-z0-9_]", "_", sysconfig.get_platform())


def entry_points():
    """Those of pyproject.toml, as pip reads them in a wheel."""
    groups = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [[f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())] for group, entries in groups.items()]
    return "\n".join("\n".join(group) for group in lines) + "\n"


def metadata():
    about = "Tensor kernels whose every bit is known beforehand"
    return f"Metadata-Version: 2.1\nName: tessera\nVersion: {version()}\nSummary: {about}\nRequires-Python: >=3.11\n"


def write_wheel(path, extension):
    information = f"tessera-{version()}.dist-info"
    files = {f"tessera/{file.name}": file.read_bytes() for file in sorted((HERE / "tessera").iterdir()) if file.is_file()}
    files["tessera/_tessera.abi3.so"] = pathlib.Path(extension).read_bytes()
    files[f"{information}/METADATA"] = metadata().encode()
    files[f"{information}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tessera\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{information}/entry_points.txt"] = entry_points().encode()
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            wheel.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        wheel.writestr(f"{information}/RECORD", f"{record}{information}/RECORD,,\n")


# ---- PEP 517 ----


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"tessera-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory() as folder:
        extension = f"{folder}/_tessera.abi3.so"
        compile_extension(extension)
        write_wheel(pathlib.Path(wheel_directory) / name, extension)
    return name


def build_sdist(sdist_directory, config_settings=None):
    sys.exit("there is no source distribution: the C part is made of a checkout")


if __name__ == "__main__":
    print(build_wheel(*sys.argv[1:2]))
