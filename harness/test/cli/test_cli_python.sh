# test_cli_python.sh - the package tessera: kernels on arrays, modules, the harness from Python, its page, and its wheel.
source "$(dirname "$0")/lib.sh"
package=$(dirname "$tsr")/python
if [ ! -f "$package/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
for python in python3 /usr/bin/python3; do
    "$python" -c "import numpy" 2>/dev/null && break
done
export PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 TESSERA_PYTHON=$python
unset TSR
exits 0 "the package" "$python" "$root/harness/test/cli/python/test_package.py" "$root"
has err "^Ran [1-9]" "tests ran"
hasnt err "^(ERROR|FAIL):" "none failed"

# Arrays of others on GPUs that pretend.
stubs=$(dirname "$tsr")/runtime
for one in cuda:2 hip:10; do
    library=$stubs/libstub_${one%:*}.so
    exits 0 "arrays on ${one%:*}" env STUB="$library" TESSERA_CUDA_LIBRARY="$stubs/libstub_cuda.so" TESSERA_HIP_LIBRARY="$stubs/libstub_hip.so" \
        "$python" "$root/harness/test/cli/python/on_stub.py" "${one%:*}" "${one#*:}"
    has out "^done$" "are shared both ways"
done

# The package alone, unpacked where there is no pip; test_cli_wheel.sh has the other way. Compiled quickly here.
if [ ! -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]; then
    echo "skipped: installing the package: $python has no headers"
    finish
fi
export CFLAGS=-O0
exits 0 "a wheel is made" "$python" "$root/harness/python/build_wheel.py" . none
exits 0 "and unpacked" "$python" -m zipfile -e "$(cat out)" installed
PYTHONPATH=$PWD/installed TSR=$tsr exits 0 "it runs from there" "$python" -c "
import array, tessera
twice = tessera.compile('''
from tessera import *
@kernel
def twice(x: Tensor[3, f32]) -> Tensor[3, f32]:
    return x * 2
''')
print(tessera.__file__, memoryview(twice(array.array('f', [1, 2, 3]))).tolist())"
has out "installed/tessera/__init__.py \[2.0, 4.0, 6.0\]" "it is the installed one, and right"
PYTHONPATH=$PWD/installed PATH=/none TSR='' exits 1 "without the program" "$(command -v "$python")" -c "
import tessera
tessera.bench('k.tsr')"
has err "tessera.Error: the program tsr is neither beside the package nor on PATH" "it says where tsr is looked for"
exits 1 "a build that is not finished" "$python" "$root/harness/python/build_wheel.py" . absent
has err "absent is no finished build: tsr" "it says which file is missing"
finish
