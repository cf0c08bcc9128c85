"""Things that a guest opens beside its own file, for the pack of it: modules, files, and variables of the environment."""

import importlib.util
import os
import sys
from types import FrameType
from typing import Any

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
COMMON = tuple({os.path.join(folder, "") for folder in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), OWN_FOLDER)})
# Frames between a read of a variable and whoever asked.
BETWEEN = ("os.py", "_collections_abc.py", "<frozen os>", "<frozen _collections_abc>")


def is_users(name: str) -> bool:
    return not name.startswith((*COMMON, "<")) and "-packages" not in name


def note(path: str) -> None:
    """Writes a line "how\tname" into the file, once for each thing that is opened from now on."""
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    known: set[str] = set()

    def say(how: str, name: str) -> None:
        line = f"{how}\t{name}\n"
        if line not in known and line.count("\n") == 1:
            known.add(line)
            os.write(out, line.encode("utf-8", "surrogateescape"))

    def opened(name: Any, mode: Any, flags: Any) -> None:
        if not isinstance(name, (str, bytes, os.PathLike)) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            return
        file = os.path.abspath(os.fsdecode(name))
        frame: FrameType | None = sys._getframe(2)
        importing = bool(frame and frame.f_code.co_filename.startswith("<frozen importlib"))
        if importing and file.endswith(".pyc"):
            file = importlib.util.source_from_cache(file)
        if is_users(file) and os.path.isfile(file):
            say("imported" if importing else "read", file)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        try:
            if event == "open":
                opened(*arguments)
            elif event == "import" and isinstance(arguments[1], str) and is_users(arguments[1]):
                say("imported", os.path.abspath(arguments[1]))
            elif event == "ctypes.dlopen" and isinstance(arguments[0], str) and os.path.isfile(arguments[0]):
                say("loaded", os.path.abspath(arguments[0]))
        except (ValueError, OSError):
            pass  # a name that no file has

    kind = type(os.environ)
    get = kind.__getitem__

    def read(self: Any, key: Any) -> Any:
        value = get(self, key)
        frame: FrameType | None = sys._getframe(1)
        while frame and os.path.basename(frame.f_code.co_filename) in BETWEEN:
            frame = frame.f_back
        if frame and is_users(frame.f_code.co_filename) and isinstance(key, str):
            say("variable", key)
        return value

    setattr(kind, "__getitem__", read)
    sys.addaudithook(audit)
