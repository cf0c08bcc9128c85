"""The process in which a Python callable runs as an implementation: `python3 -m tessera.guest`.

Started by the runtime for `tsr bench --with FILE.py`; of no use by hand. What a function is given and may return stands in
docs/python.md.
"""

import importlib
import importlib.util
import inspect
import io
import json
import os
import pathlib
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

EXIT_NOT_INSTALLED = 69

try:
    from tessera import _tessera
except ImportError as error:
    print(f"tessera: the package is not complete: {error}", file=sys.stderr)
    sys.exit(EXIT_NOT_INSTALLED)

Function = Callable[..., Any]
Arrays = tuple[Any, ...]

# In the environment of this process and of those that it starts (_program.py).
MARK = "TESSERA_IN_GUEST"
OWN_FOLDER = str(pathlib.Path(__file__).resolve().parent)
# In this order: a file that uses torch may use numpy beside it.
FRAMEWORKS = ("torch", "jax", "numpy")


class Unsupported(Exception):
    """The implementation cannot run here."""


# ---- finding the function ----


def load_module(path: str) -> types.ModuleType:
    """The module of FILE.py, or of a dotted name."""
    if not path.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(path)
    file = pathlib.Path(path)
    sys.path.insert(0, str(file.parent))
    specification = importlib.util.spec_from_file_location(file.stem, file)
    assert specification and specification.loader  # of a file that ends in .py
    module = importlib.util.module_from_spec(specification)
    sys.modules[file.stem] = module
    specification.loader.exec_module(module)
    return module


def functions_of(module: types.ModuleType) -> str:
    """The functions that the file itself defines, as the end of a sentence."""
    own = [name for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__]
    return f"; its functions: {', '.join(own[:8])}{', ...' if len(own) > 8 else ''}" if own else ""


def find_function(module: types.ModuleType, symbol: str) -> Function:
    found: Any = module
    for name in symbol.split("."):
        if not hasattr(found, name):
            raise Unsupported(f"{module.__name__} has no '{symbol}'{functions_of(module)}")
        owner, found = found, getattr(found, name)
    if isinstance(owner, type) and isinstance(found, types.FunctionType) and found.__code__.co_varnames[:1] == ("self",):
        raise TypeError(f"'{symbol}' is called with an object of {owner.__name__}, and there is none: make it a static method")
    if not callable(found):
        raise TypeError(f"'{symbol}' is no function but an object of {type(found)}")
    function: Function = found
    return function


def writes_outputs(function: Function, inputs: int, outputs: int) -> bool:
    """Tells whether it takes the outputs as well; refuses what it cannot take."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    any_number = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    if required == inputs + outputs:
        return True
    if required <= inputs and (any_number or inputs <= len(positional)):
        return False
    raise TypeError(
        f"it takes {required} arguments; the kernel has {inputs} inputs, which it may take alone, and {outputs} outputs"
    )


# ---- arrays ----


def package_of(value: Any) -> str:
    """The package that a value of a module's names comes from: 'torch' of torch.nn, or of a class of it."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return name.split(".")[0] if isinstance(name, str) else ""


def framework_of(function: Function, module: types.ModuleType) -> str:
    """The word for the arrays that it wants."""
    said = getattr(function, "tessera_arrays", None)
    if said is not None:
        if said not in (*FRAMEWORKS, "dlpack"):
            raise ValueError(f"tessera_arrays is {said!r}; it may be 'torch', 'jax', 'numpy' or 'dlpack'")
        return str(said)
    names = {**vars(module), **getattr(function, "__globals__", {})}
    used = {package_of(value) for value in names.values()} | {module.__name__.split(".")[0]}
    for name in FRAMEWORKS[:2]:
        if name in used:
            return name
    return "numpy" if importlib.util.find_spec("numpy") else "memoryview"


def maker_of(framework: str) -> Callable[[Arrays], Arrays]:
    """Makes a tuple of the framework's arrays of a tuple of tensors; they share the memory."""
    if framework == "dlpack":
        return lambda tensors: tensors
    if framework == "memoryview":
        return lambda tensors: tuple(map(memoryview, tensors))
    if framework == "numpy":
        import numpy

        return lambda tensors: tuple(map(numpy.asarray, tensors))
    share = importlib.import_module(framework + (".dlpack" if framework == "jax" else "")).from_dlpack
    return lambda tensors: tuple(map(share, tensors))


def finished(function: Function) -> Function:
    """jax returns before it has computed."""
    import jax  # type: ignore[import]

    return lambda *inputs: jax.block_until_ready(function(*inputs))


def open_function(description: str) -> tuple[Function, Callable[[Arrays], Arrays], bool]:
    """Opens a function for the C part: returns it, the maker of its arrays, and whether it writes outputs."""
    d = json.loads(description)
    try:
        module = load_module(d["path"])
        function = find_function(module, d["symbol"])
        framework = framework_of(function, module)
        make = maker_of(framework)
    except ModuleNotFoundError as error:
        raise Unsupported(f"cannot import it: {error}{place_of(error)}; install it for {sys.executable}, or name another Python with TESSERA_PYTHON=FILE") from error
    writes = writes_outputs(function, d["inputs"], len(d["tensors"]) - d["inputs"])
    if writes and framework == "jax":
        raise TypeError("it takes the outputs to write them, and arrays of jax cannot be written: return them")
    return (finished(function) if framework == "jax" else function), make, writes


# ---- failures ----


def is_users(name: str) -> bool:
    """Tells whether code of that file name is neither ours nor Python's."""
    library = (os.path.dirname(os.__file__), OWN_FOLDER, "<frozen", "<__array_function__")
    return not name.startswith(library)


def place_of(error: BaseException) -> str:
    """The innermost line of the user's, else of what is installed; nothing where all are Python's own."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    found = [frame for frame in frames if "-packages" not in frame.filename] or frames
    return f" ({found[-1].filename}:{found[-1].lineno} in {found[-1].name})" if found else ""


def is_refusal(error: BaseException) -> bool:
    """Not with these types: as Python says it, and as torch does of operators that it has no code for."""
    return isinstance(error, NotImplementedError) or (type(error) is RuntimeError and "not implemented for '" in str(error))


def explain(error: BaseException) -> tuple[int, str]:
    """Explains an exception to the C part: returns the status and the words."""
    if isinstance(error, SystemExit):
        leave(error.code)
    if isinstance(error, Unsupported):
        return _tessera.UNAVAILABLE, str(error)
    if isinstance(error, SyntaxError):
        return _tessera.INVALID, f"{type(error).__name__}: {error}"
    code = _tessera.UNAVAILABLE if is_refusal(error) else _tessera.INVALID
    return code, f"{type(error).__name__}: {error}{place_of(error)}".replace(": (", " (", 1)


def leave(code: str | int | None) -> NoReturn:
    """As Python ends on SystemExit, at once."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    sys.dont_write_bytecode = True
    os.environ[MARK] = "1"
    opened = os.environ.pop("TESSERA_OPENED", None)
    if opened:
        from tessera import _opened

        _opened.note(opened)
    sys.exit(_tessera.serve(open_function, explain))


if __name__ == "__main__":
    main()
