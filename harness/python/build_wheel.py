"""Builds the wheel of the package (PEP 517): with the program of a build of this checkout, where there is one.

`pip install --config-settings build=FOLDER` names the build folder; else it is `build` of the checkout. Without one, or with build=none, the wheel
has the package alone, whose C part is compiled here ($CC and $CFLAGS are honoured). `python3 build_wheel.py FOLDER [BUILD]` writes the wheel into a folder.
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
ROOT = HERE.parent.parent
RUNTIME = ROOT / "runtime"
HARNESS = HERE.parent
FLAGS = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-D_GNU_SOURCE"]
LIBRARIES = ["jansson", "yaml-0.1", "libcrypto"]
HEADERS = ["libxxhash"]


def version():
    """That of the program."""
    return re.search(r'#define TSR_VERSION "(.*)"', (HARNESS / "common/version.h").read_text())[1]


# ---- what a build has ----

# Below tessera/program, as an installation has it; and the C part of the package.
PROGRAM = {
    "bin/tsr": "tsr",
    "libexec/tessera/tessera-guest": "tessera-guest",
    "lib/tessera/libtessera-capture.so": "libtessera-capture.so",
    "lib/tessera/libtessera_pjrt.so": "libtessera_pjrt.so",
}
EXTENSION = "python/tessera/_tessera.abi3.so"
# Libraries of every machine; all others are named in the metadata, or carried where the build's C part looks for them.
COMMON = re.compile(r"ld-linux|linux-vdso|lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so")


def is_finished(build):
    if not all((build / file).is_file() for file in (*program_parts(build).values(), EXTENSION)):
        return False
    said = subprocess.run([build / "tsr", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if said != version():
        sys.exit(f"{build} has tsr {said}, and this checkout is {version()}: build it again")
    return True


def stripped(file):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["strip", "-o", f"{folder}/stripped", file], check=True)
        return pathlib.Path(folder, "stripped").read_bytes()


def needs_of(file):
    """The names of the libraries that it is linked with."""
    said = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
    return [name for name in re.findall(r"NEEDED\s+(\S+)", said) if not COMMON.match(name)]


def path_of(name, file):
    said = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    return re.search(rf"^\s*{re.escape(name)} => (/\S+)", said, re.M)[1]


def program_parts(build):
    """The files of the program; LLVM is a file of its own where it is not linked in."""
    own_llvm = {} if is_self_contained(build) else {"lib/tessera/libtessera-llvm.so": "libtessera-llvm.so"}
    return {**PROGRAM, **own_llvm}


def is_self_contained(build):
    cache = build / "CMakeCache.txt"
    return cache.is_file() and bool(re.search("^TSR_SELF_CONTAINED:BOOL=(ON|TRUE|1)$", cache.read_text(), re.M | re.I))


def program_files(build):
    """The files of the program, and the names of the libraries that it takes from the machine."""
    files = {f"tessera/program/{place}": stripped(build / file) for place, file in program_parts(build).items()}
    carried = {}
    if is_self_contained(build):
        carried = {name: path_of(name, build / EXTENSION) for name in needs_of(build / EXTENSION)}
        files.update({f"tessera/program/lib/tessera/{name}": pathlib.Path(path).read_bytes() for name, path in carried.items()})
    needed = {name for file in (EXTENSION, *program_parts(build).values()) for name in needs_of(build / file)}
    return files, sorted(needed - set(carried))


# ---- the package alone ----


def sources():
    devices = [RUNTIME / "comm", RUNTIME / "device", *sorted(folder for folder in (RUNTIME / "device").iterdir() if folder.is_dir())]
    folders = [HERE / "extension", RUNTIME / "base", RUNTIME / "chip", RUNTIME, *devices, HARNESS / "capture/record"]
    guest = [RUNTIME / "guest/serve.c", RUNTIME / "guest/confine.c", RUNTIME / "guest/describe.c"]
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


def entry_points(with_program):
    """Those of pyproject.toml, as pip reads them in a wheel; and tsr as a command."""
    groups = dict(tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["entry-points"])
    if with_program:
        groups["console_scripts"] = {"tsr": "tessera._program:main"}
    lines = [[f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())] for group, entries in groups.items()]
    return "\n".join("\n".join(group) for group in lines) + "\n"


def metadata(needed):
    about = "Tensor kernels whose every bit is known beforehand"
    lines = ["Metadata-Version: 2.1", "Name: tessera", f"Version: {version()}", f"Summary: {about}", "Requires-Python: >=3.11"]
    return "\n".join([*lines, *(f"Requires-External: {name}" for name in needed)]) + "\n"


def write_wheel(path, extension, program, needed):
    information = f"tessera-{version()}.dist-info"
    files = {f"tessera/{file.name}": file.read_bytes() for file in sorted((HERE / "tessera").iterdir()) if file.is_file()}
    for name in ("state.tsr", "stdlib.tsr"):
        files[f"tessera/{name}"] = (ROOT / "compiler/library" / name).read_bytes()
    files["jax_plugins/tessera/__init__.py"] = (HERE / "jax_plugins/tessera/__init__.py").read_bytes()
    files["tessera/_tessera.abi3.so"] = extension
    files.update(program)
    files[f"{information}/METADATA"] = metadata(needed).encode()
    files[f"{information}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tessera\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    files[f"{information}/entry_points.txt"] = entry_points(bool(program)).encode()
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.external_attr = (0o100755 if "/bin/" in name or "/libexec/" in name else 0o100644) << 16
            wheel.writestr(member, data, zipfile.ZIP_DEFLATED)
        wheel.writestr(f"{information}/RECORD", f"{record}{information}/RECORD,,\n")


# ---- PEP 517 ----


def get_requires_for_build_wheel(config_settings=None):
    return []


def write_with_program(path, build):
    program, needed = program_files(build)
    write_wheel(path, stripped(build / EXTENSION), program, needed)
    print(f"{path.name}: tsr of {build}, {path.stat().st_size >> 20} MiB", file=sys.stderr)
    print(f"beside the C library it needs {', '.join(needed) or 'nothing'}", file=sys.stderr)


def write_alone(path, why):
    with tempfile.TemporaryDirectory() as folder:
        extension = f"{folder}/_tessera.abi3.so"
        compile_extension(extension)
        write_wheel(path, pathlib.Path(extension).read_bytes(), {}, [])
    print(f"{path.name}: without the program tsr, since {why}; launching compiled modules needs none", file=sys.stderr)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"tessera-{version()}-{tag()}.whl"
    path = pathlib.Path(wheel_directory) / name
    named = (config_settings or {}).get("build")
    build = pathlib.Path(named or ROOT / "build").absolute()
    if named == "none":
        write_alone(path, "build=none was said")
    elif is_finished(build):
        write_with_program(path, build)
    elif named:
        sys.exit(f"{build} is no finished build: {', '.join([*program_parts(build).values(), EXTENSION])} are not all there")
    else:
        write_alone(path, f"{build} is no finished build")
    return name


def build_sdist(sdist_directory, config_settings=None):
    sys.exit("there is no source distribution: the C part is made of a checkout")


if __name__ == "__main__":
    print(build_wheel(sys.argv[1], {"build": sys.argv[2]} if len(sys.argv) > 2 else None))
