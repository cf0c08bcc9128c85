#!/usr/bin/env python3
"""speed.py [--build FOLDER] [--threads N,...] [--seconds S] [NAME...] - the plugin beside JAX's own CPU (XLA), in one process, on the same work.

Training steps of an MLP, a convolutional net and a GPT, attention forward, a call that does next to nothing, and the compiling of functions of one
operation. On so many processors as threads. The two take turns: a sample of one, then one of the other; what is printed is the median time of
each, and the median and the range of the ratios of neighbours (XLA's time by ours: more is better for us). Under `strict`, as the plugin is by
default; the bits of both turns are compared as ci/jax does. Nothing is asserted. 77: JAX is missing.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LEAST_SAMPLES, SAMPLE = 5, 0.05  # seconds of a sample of many calls


def drawn(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def stepped(loss_of):
    """A step of gradient descent."""

    def step(state, *batch):
        loss, slopes = jax.value_and_grad(loss_of)(state, *batch)
        return jax.tree.map(lambda p, g: p - 0.01 * g, state, slopes), loss

    return step


def mlp():
    sizes = [(784, 512), (512, 512), (512, 10)]
    state = [(drawn(at, *size) / size[0] ** 0.5, np.zeros(size[1], np.float32)) for at, size in enumerate(sizes)]
    labels = np.random.default_rng(9).integers(0, 10, 256)

    def loss_of(state, x, y):
        for w, b in state[:-1]:
            x = jax.nn.gelu(x @ w + b)
        scores = jax.nn.log_softmax(x @ state[-1][0] + state[-1][1])
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean()

    return stepped(loss_of), (state, drawn(8, 256, 784), labels)


def conv_net():
    kernels = [drawn(1, 3, 3, 3, 16) / 5, drawn(2, 3, 3, 16, 32) / 12, drawn(3, 3, 3, 32, 32) / 17]
    state = (kernels, drawn(4, 32, 10) / 6)
    labels = np.random.default_rng(9).integers(0, 10, 16)

    def loss_of(state, x, y):
        for w in state[0]:
            x = jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        scores = jax.nn.log_softmax(x.mean(axis=(1, 2)) @ state[1])
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean()

    return stepped(loss_of), (state, drawn(7, 16, 32, 32, 3), labels)


def attention():
    def forward(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) * q.shape[-1] ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores), v)

    return forward, tuple(drawn(at, 8, 512, 64) for at in range(3))


def gpt():
    width, heads, layers, letters = 128, 4, 2, 64
    blocks = [{"qkv": drawn(at, width, 3 * width) / 12, "out": drawn(at + 9, width, width) / 12, "up": drawn(at + 18, width, 4 * width) / 12,
               "down": drawn(at + 27, 4 * width, width) / 23, "gains": np.ones((2, width), np.float32)} for at in range(layers)]
    state = {"blocks": blocks, "letters": drawn(40, letters, width) / 12, "places": drawn(41, 128, width) / 12}
    text = np.random.default_rng(9).integers(0, letters, (4, 129))

    def norm(x, gain):
        x = x - x.mean(axis=-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gain

    def attend(x, b):
        q, k, v = (y.reshape(*y.shape[:-1], heads, -1).swapaxes(-2, -3) for y in jnp.split(x @ b["qkv"], 3, axis=-1))
        scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return (jax.nn.softmax(scores) @ v).swapaxes(-2, -3).reshape(x.shape) @ b["out"]

    def loss_of(state, text):
        x = state["letters"][text[:, :-1]] + state["places"]
        for b in state["blocks"]:
            x = x + attend(norm(x, b["gains"][0]), b)
            x = x + jax.nn.gelu(norm(x, b["gains"][1]) @ b["up"]) @ b["down"]
        scores = jax.nn.log_softmax(x @ state["letters"].T)
        return -jnp.take_along_axis(scores, text[:, 1:, None], axis=-1).mean()

    return stepped(loss_of), (state, text)


def call():
    return lambda x: x + 1.0, (drawn(0, 16),)


PROGRAMS = {"mlp": mlp, "conv_net": conv_net, "attention": attention, "gpt": gpt, "call": call}
DEVICES = ("tessera", "cpu")


class Calls:
    """A compiled function on one device, its arguments there."""

    def __init__(self, device, function, arguments):
        self.arguments = jax.device_put(arguments, jax.devices(device)[0])
        self.function = jax.jit(function)
        self.times, end = 1, time.perf_counter()
        jax.block_until_ready(self.function(*self.arguments))
        took = min(self.sample() for _ in range(3))
        self.times = max(1, round(SAMPLE / took))
        self.first = time.perf_counter() - end

    def sample(self):
        """Seconds of a call."""
        begin = time.perf_counter()
        for _ in range(self.times):
            result = self.function(*self.arguments)
        jax.block_until_ready(result)
        return (time.perf_counter() - begin) / self.times


class Compiles:
    """Functions of one operation, each of which is new."""

    def __init__(self, device):
        self.device, self.number = jax.devices(device)[0], 0
        self.argument = jax.device_put(drawn(0, 16), self.device)

    def sample(self):
        self.number += 1
        factor = 1.0 + self.number / 1024
        begin = time.perf_counter()
        jax.jit(lambda x: x * factor).lower(self.argument).compile()
        return time.perf_counter() - begin


def compared(name, pair, seconds):
    samples, until = [], time.perf_counter() + seconds
    while len(samples) < LEAST_SAMPLES or time.perf_counter() < until:
        samples.append(tuple(side.sample() for side in pair))
    ours, theirs = (statistics.median(side) for side in zip(*samples))
    ratios = sorted(b / a for a, b in samples)
    print(f"| {name} | {1e3 * ours:.4g} | {1e3 * theirs:.4g} | {statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f}) | {len(samples)} |",
          flush=True)


def measure(names, seconds):
    for name in names:
        if name == "compile":
            compared(name, [Compiles(device) for device in DEVICES], seconds)
        else:
            function, arguments = PROGRAMS[name]()
            compared(name, [Calls(device, function, arguments) for device in DEVICES], seconds)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--threads", default="1,2")
    options.add_argument("--seconds", type=float, default=4, help="of each program, after it was compiled")
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*PROGRAMS, "compile"]))
    given = options.parse_args()
    names = given.names or [*PROGRAMS, "compile"]
    unknown = [name for name in names if name not in PROGRAMS and name != "compile"]
    if unknown:
        options.error(f"no program is called {unknown[0]}; there are {', '.join([*PROGRAMS, 'compile'])}")
    if os.environ.get("TESSERA_SPEED"):
        measure(names, given.seconds)
        return 0
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "a CPU")
    for threads in given.threads.split(","):
        print(f"\n{model}, {threads} threads, JAX {jax.__version__}\n\n| | ours, ms | XLA, ms | XLA's by ours (range) | pairs |\n|---|---|---|---|---|", flush=True)
        own = {"JAX_PLATFORMS": "tessera,cpu", "PYTHONPATH": str(given.build.absolute() / "python"), "TESSERA_THREADS": threads,
               "TESSERA_SPEED": "1"}
        few = sorted(os.sched_getaffinity(0))[:int(threads)]
        done = subprocess.run([sys.executable, "-B", *sys.argv], env={**os.environ, **own}, check=False,
                              preexec_fn=lambda few=few: os.sched_setaffinity(0, few))
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
