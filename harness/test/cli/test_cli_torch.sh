# test_cli_torch.sh - PyTorch: functions of it as implementations, and kernels of ours on its tensors.
source "$(dirname "$0")/lib.sh"
package=$(dirname "$tsr")/python
if [ ! -f "$package/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
for TESSERA_PYTHON in python3 /usr/bin/python3; do
    command "$TESSERA_PYTHON" -c "import torch" 2>/dev/null && break
done
if ! command "$TESSERA_PYTHON" -c "import torch" 2>/dev/null; then
    echo "skipped: no Python here has torch (python3-torch)"
    exit 77
fi
export TESSERA_PYTHON PYTHONDONTWRITEBYTECODE=1
cat >k.tsr <<'END'
from tessera import *


@cases(case("small", M=5, N=7, T=f32), case("wide", M=5, N=7, T=f64), case("narrow", M=5, N=7, T=bf16), case("none", M=0, N=7, T=f32))
@kernel
def twice(x: Tensor["M", "N", "T"]) -> Tensor["M", "N", "T"]:
    return x * 2


@cases(case("small", M=5, N=7))
@kernel
def soft(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x, axis=-1)
END
cat >mine.py <<'END'
import torch


def twice(x):
    assert type(x) is torch.Tensor
    return x * 2


def into(x, out):
    torch.mul(x, 2, out=out)


def turned(x):
    return (x.T * 2).T


def soft(x):
    return torch.softmax(x, dim=1)


def with_gradients(x):
    return x.clone().requires_grad_() * 2


def halves(x):
    return torch.tril(x.half()).float()


def refuses(x):
    raise RuntimeError("\"twice_cpu\" not implemented for 'Half'")
END
cat >pick.py <<'END'
import json
for r in json.load(open("out"))["results"]:
    if r["backend"] != "cpu":
        print(f"{r['backend']} {r['kernel']}/{r['case']}", r["status"], "bitwise" if r["check"]["bitwise"] else "other", r.get("why"))
END
columns=()
for name in into turned with_gradients refuses; do
    columns+=(--with "mine.py:$name=twice")
done
exits 1 "functions of torch" "$tsr" bench k.tsr --quick --threads 1 --db r.db --failures packs --json --with mine.py "${columns[@]}"
python3 pick.py >picked
for case in small wide narrow none; do
    has picked "^mine.py twice/$case ok bitwise" "$case, returned"
    has picked "^mine.py:into twice/$case ok bitwise" "$case, written"
    has picked "^mine.py:turned twice/$case ok bitwise" "$case, with strides"
done
has picked "^mine.py soft/small ok" "softmax"
has picked "^mine.py:with_gradients twice/small error .*require gradient" "a tensor with a gradient is no array"
has picked "^mine.py:refuses twice/small unsupported" "what torch has no code for"

cat >kernels.py <<'END'
import tessera
import torch
from tessera import f32


@tessera.kernel
def scaled(x: tessera.Tensor["M", "N", "T"], s: tessera.Tensor["M", "T"]) -> tessera.Tensor["M", "N", "T"]:
    return x * s[:, None]


for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
    x, s = torch.arange(15).reshape(3, 5).to(dtype), torch.tensor([1, 2, 3]).to(dtype)
    y = scaled(x, s)
    assert type(y) is torch.Tensor and y.dtype == dtype and torch.equal(y, x * s[:, None]), (dtype, y)
x, s = torch.arange(15.0).reshape(5, 3).T, torch.tensor([1.0, 0, 2, 0, 3])[::2]
assert torch.equal(scaled(x, s), x * s[:, None])
try:
    scaled(x.requires_grad_(), s)
except (tessera.Error, BufferError, RuntimeError, TypeError) as error:
    assert "grad" in str(error), error
else:
    raise AssertionError("a tensor that wants gradients was taken")
assert torch.equal(scaled(x.detach(), s), x.detach() * s[:, None])
END
PYTHONPATH=$package exits 0 "kernels on tensors of torch" "$TESSERA_PYTHON" kernels.py

# The operator tessera::call: a kernel within autograd, and its shapes without values.
cat >gates.py <<'END'
import tessera
import torch
from tessera import f32, i32


@tessera.kernel
def gates(x: tessera.Tensor["M", "N", f32], s: tessera.Tensor["M", f32], at: tessera.Tensor["K", i32]):
    return tanh(x) * s[:, None], sum(take(x, at, axis=0), axis=1), at + 1


def by_torch(x, s, at):
    return torch.tanh(x) * s[:, None], x[at.long()].sum(1), at + 1


own = tessera.as_torch(gates)
x, s, at = torch.randn(4, 6), torch.randn(4), torch.tensor([0, 2, 2], dtype=torch.int32)
gradients = []
for function in (own, by_torch):
    a, b = x.clone().requires_grad_(), s.clone().requires_grad_()
    first, second, third = function(a, b, at)
    assert torch.allclose(first, by_torch(x, s, at)[0], atol=1e-6) and torch.equal(third, at + 1)
    ((first**2).sum() + 3 * second.sum()).backward()
    gradients.append((a.grad, b.grad))
for mine, theirs in zip(*gradients):
    assert torch.allclose(mine, theirs, atol=1e-5), (mine, theirs)
a = x.clone().requires_grad_()
own(a, s, at)[1].sum().backward()  # one result of three
assert torch.equal(a.grad, torch.tensor([1.0, 0, 2, 0])[:, None].expand(4, 6))
assert not own(x, s, at)[0].requires_grad
made = torch.ops.tessera.call([one.to("meta") for one in (x, s, at)], 0, False)
assert [tuple(one.shape) for one in made] == [(4, 6), (3,), (3,)]
try:
    own(x.int(), s, at)
except tessera.Error as error:
    assert "'x'" in str(error)
else:
    raise AssertionError("integers were taken for f32")
END
PYTHONPATH=$package exits 0 "a kernel as an operator of torch" "$TESSERA_PYTHON" gates.py
finish
