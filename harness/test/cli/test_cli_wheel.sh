# test_cli_wheel.sh - the package's wheel: built without the network, with this build's program, installed in a fresh virtual environment, and there
# all that docs/python.md says: its Python, the command tsr, the pytest plugin, and types.
source "$(dirname "$0")/lib.sh"
for python in python3 /usr/bin/python3; do
    "$python" -c "import numpy, pip, venv" 2>/dev/null && break
done
if ! "$python" -c "import pip, venv" 2>/dev/null || ! "$python" -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
    echo "skipped: no Python 3.11 or later with pip and venv (python3-pip, python3-venv)"
    exit 77
fi
if [ ! -f "$(dirname "$tsr")/python/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
unset PYTHONPATH TESSERA_PYTHON PYTEST_ADDOPTS TSR
export PYTHONDONTWRITEBYTECODE=1
pip=("$python" -m pip --disable-pip-version-check --quiet)
exits 0 "a wheel is made" "${pip[@]}" wheel --no-index --no-deps --wheel-dir wheels \
    --config-settings build="$(dirname "$tsr")" "$root/harness/python"
wheel=$(ls wheels)
[[ $wheel == tessera-*-cp311-abi3-*.whl ]] && pass "for every Python from 3.11 on: $wheel" || fail "for every Python from 3.11 on: $wheel"
# With the packages of this Python beside it: numpy and pytest are not the wheel's.
exits 0 "an environment" "$python" -m venv --without-pip --system-site-packages fresh
exits 0 "has it installed" "${pip[@]}" --python fresh/bin/python install --no-index --no-deps "wheels/$wheel"
own=$PWD/fresh/bin/python
exits 0 "it is found there" "$own" -c "import tessera; print(tessera.__file__)"
has out "^$PWD/fresh/lib/" "and nowhere else"
exits 0 "so is its program" fresh/bin/tsr --version
mv out version
has version "^tsr $("$own" -c "import tessera; print(tessera.__version__)") " "of one version number with the package"
[[ $wheel == tessera-"$(sed -n 's/^tsr \([^ ]*\) .*/\1/p' version)"-* ]] && pass "and with the wheel" || fail "and with the wheel: $wheel"
has version "^build $("$tsr" --version | sed -n 's/^build //p')$" "it is this build's"

sed -n '/^```python$/,/^```$/p' "$root/docs/python.md" | grep -v '^```' >page.py
if "$own" -c "import numpy" 2>/dev/null; then
    exits 0 "what docs/python.md shows" "$own" page.py
else
    echo "skipped: what docs/python.md shows: $python has no numpy"
fi
exits 0 "the examples of its functions" "$own" -c "
import doctest, importlib, pkgutil, tessera
names = [one.name for one in pkgutil.iter_modules(tessera.__path__) if one.name not in ('guest', 'pytest_plugin')]
results = [doctest.testmod(importlib.import_module('tessera.' + name)) for name in names]
assert sum(one.attempted for one in results) > 10 and not any(one.failed for one in results), results"

if "$own" -c "import pytest" 2>/dev/null; then
    exits 0 "pytest finds the plugin" "$own" -m pytest --help
    has out "tessera-packs=DIR" "with its option"
else
    echo "skipped: the plugin: $python has no pytest (python3-pytest)"
fi

# Its types are those of a package with py.typed: a use that is right, and some that are wrong.
cat >uses.py <<'END'
import tessera

module: tessera.Module = tessera.compile("k.tsr", "k", dims={"N": 3})
results: list[dict[str, object]] = tessera.check(None, "k.tsr:k", relations="batch,threads")
results = tessera.verify("libmine.so", "k.tsr:k", dims="N=3")
END
cat >misuses.py <<'END'
import tessera

tessera.check(None, "k.tsr:k", relation="batch")
tessera.compile("k.tsr", dims=3)
module: int = tessera.load("k.tsrm")
END
mypy=$(command -v mypy)
if [ -n "$mypy" ]; then
    exits 0 "what is right has its types" "$mypy" --strict --python-executable "$own" uses.py
    exits 1 "what is wrong is found" "$mypy" --strict --python-executable "$own" misuses.py
    has out "^Found 3 errors" "all of it"
    exits 0 "and the package itself" env MYPYPATH="$root/harness/python" "$mypy" --strict -p tessera
else
    echo "skipped: types: mypy is not installed"
fi
finish
