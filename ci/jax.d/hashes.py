#!/usr/bin/env python3
"""hashes.py [--build FOLDER] - one hash each: training steps of JAX have the same bits at every level of CPUs, on any backend, on any number of threads.

Three programs: an MLP of JAX alone; a step of a GPT by flax with AdamW by optax; a step of a diffusion model (convolutions, groups that are
normalised, noise drawn in the step). Each is initialised, makes three steps in one process of each row, and its loss and parameters are hashed.
Rows that this machine does not have are named. The last row is AArch64 under an emulator: the three steps as one program, exported, whose bits by NEON
and SVE are the interpreter's (harness/test/cross), which has the hash. Without flax and optax the latter two are skipped. 77: JAX is missing. 1: hashes
differ, or a row fails.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = [
    *({"TESSERA_ISA": isa} for isa in ("x86-64-v2+fma", "x86-64-v3", "x86-64-v4", "x86-64-v4+dot")),
    *({"TESSERA_THREADS": threads} for threads in ("1", "3")),
    *({"TESSERA_BACKEND": backend} for backend in ("vulkan", "ptx-emulated", "rocm-emulated")),
]
EMULATED = {"AArch64": "NEON, SVE"}
ABSENT = ("skipped: ", "is no ISA level of this machine", "there is no device of the backend", "cannot be used")
STEPS = 3

try:
    import jax
    import jax.export
    import jax.numpy as jnp
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def trained(step, state, *batch):
    """A function of nothing: the last loss, and all of the state, from this one on."""
    step = jax.jit(step)

    def train():
        now = state
        for number in range(STEPS):
            now, loss = step(now, number, *batch)
        return jax.tree.leaves((now, loss))

    return train


def mlp():
    draw = np.random.default_rng(3)
    keys = jax.random.split(jax.random.key(0), 3)
    sizes = [(24, 40), (40, 40), (40, 5)]
    state = [(jax.random.normal(key, size) / size[0] ** 0.5, jnp.zeros(size[1])) for key, size in zip(keys, sizes)]
    x, y = draw.standard_normal((16, 24), dtype=np.float32), draw.integers(0, 5, 16)

    def loss_of(state, x, y):
        for w, b in state[:-1]:
            x = jax.nn.gelu(x @ w + b)
        scores = jax.nn.log_softmax(x @ state[-1][0] + state[-1][1])
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean()

    def step(state, _, x, y):
        loss, slopes = jax.value_and_grad(loss_of)(state, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, slopes), loss

    return trained(step, state, x, y)


def optimised(loss_of, parameters, *batch):
    """Steps of AdamW, with the gradient clipped."""
    import optax

    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    def step(state, number, *batch):
        parameters, kept = state
        loss, slopes = jax.value_and_grad(loss_of)(parameters, number, *batch)
        changes, kept = rule.update(slopes, kept, parameters)
        return (optax.apply_updates(parameters, changes), kept), loss

    return trained(step, (parameters, rule.init(parameters)), *batch)


def gpt():
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(x[..., 0])
            x = x + nn.SelfAttention(num_heads=4)(nn.LayerNorm()(x), mask=mask)
            return x + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x))))

    class Gpt(nn.Module):
        @nn.compact
        def __call__(self, letters):
            x = nn.Embed(19, 32)(letters) + self.param("places", nn.initializers.normal(0.02), (12, 32))
            for _ in range(2):
                x = Block()(x)
            return nn.Dense(19)(nn.LayerNorm()(x))

    letters = np.random.default_rng(4).integers(0, 19, (2, 13))
    model = Gpt()
    parameters = model.init(jax.random.key(1), letters[:, :-1])

    def loss_of(parameters, _, letters):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(parameters, letters[:, :-1]), letters[:, 1:]).mean()

    return optimised(loss_of, parameters, letters)


def diffusion():
    import flax.linen as nn

    class Denoiser(nn.Module):
        @nn.compact
        def __call__(self, x, time):
            angles = time[:, None] * jnp.exp(-jnp.arange(8) / 2.0)
            mark = nn.Dense(8)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1))
            h = nn.Conv(8, (3, 3))(x)
            down = nn.Conv(8, (3, 3), strides=2)(nn.silu(nn.GroupNorm(4)(h)) + mark[:, None, None])
            up = nn.ConvTranspose(8, (2, 2), strides=(2, 2))(nn.silu(nn.GroupNorm(4)(down)))
            return nn.Conv(x.shape[-1], (3, 3))(jnp.concatenate([h, up], axis=-1))

    pictures = np.random.default_rng(5).standard_normal((2, 8, 8, 3), dtype=np.float32)
    model = Denoiser()
    parameters = model.init(jax.random.key(2), pictures, jnp.zeros(2))

    def loss_of(parameters, number, pictures):
        of_time, of_noise = jax.random.split(jax.random.fold_in(jax.random.key(7), number))
        time = jax.random.uniform(of_time, (2,))
        noise = jax.random.normal(of_noise, pictures.shape)
        kept = jnp.cos(time * jnp.pi / 2)[:, None, None, None]
        found = model.apply(parameters, kept * pictures + jnp.sqrt(1 - kept**2) * noise, time * 100)
        return ((found - noise) ** 2).mean()

    return optimised(loss_of, parameters, pictures)


def hash_of(leaves):
    return hashlib.sha256(b"".join(np.asarray(one).tobytes() for one in leaves)).hexdigest()[:16]


def print_hashes(folder):
    """Those of this process; with a folder each whole training goes there as a program, too."""
    for program in (mlp, gpt, diffusion):
        name = program.__name__
        try:
            train = program()
        except ImportError as missing:
            print(name, "skipped:", missing)
            continue
        leaves = train()
        assert all(np.isfinite(np.asarray(one, np.float64)).all() for one in leaves), name
        print(name, hash_of(leaves))
        if folder:

            def whole(train=train):
                return train()

            whole.__name__ = name
            (folder / f"{name}.mlirbc").write_bytes(jax.export.export(jax.jit(whole), platforms=["cpu"])().mlir_module_serialized)


def run(build, row, *words):
    """Hashes by program, or why there are none."""
    own = {"JAX_PLATFORMS": "tessera", "PYTHONPATH": str(build.absolute() / "python"), **row}
    told = subprocess.run([sys.executable, "-B", __file__, "--hashes", *words], env={**os.environ, **own}, capture_output=True, text=True)
    if told.returncode:
        return told.stderr.strip().splitlines()[-1]
    return dict(line.split(" ", 1) for line in told.stdout.splitlines())


def interpreted(build, file, out):
    """The hash of what a program without inputs gives by the interpreter."""
    subprocess.run([build / "tsr", "run", file, "--backend", "interp", "--out", out], check=True, capture_output=True)
    return hash_of(np.load(out / f"r{at}.npy") for at in range(len(list(out.iterdir()))))


def emulated(build):
    """Hashes by program as AArch64 code has them, or why there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "programs"
        folder.mkdir()
        told = run(build, {}, folder)
        if isinstance(told, str):
            return told
        cross = ROOT / "harness/test/cross/test_aarch64.sh"
        done = subprocess.run([cross, build / "harness/write_images", ROOT, "1", folder], capture_output=True, text=True)
        if done.returncode:
            return next((line for line in done.stdout.splitlines() if line.startswith(("NOT OK", "skipped"))), done.stderr[-160:])
        files = {file.stem: file for file in folder.iterdir()}
        return {name: interpreted(build, files[name], Path(scratch) / name) if name in files else words for name, words in told.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--hashes", action="store_true", help="print those of this process alone")
    options.add_argument("folder", nargs="?", type=Path, help="with --hashes: the programs are written there")
    given = options.parse_args()
    if given.hashes:
        print_hashes(given.folder)
        return 0
    first, failed = None, 0
    for row in ({}, *ROWS, EMULATED):
        name = " ".join(f"{key}={value}" for key, value in row.items()) or "as it comes"
        found = emulated(given.build) if row is EMULATED else run(given.build, row)
        if isinstance(found, str):
            absent = row and any(words in found for words in ABSENT)
            failed += not absent
            print(f"{name:30} {'skipped' if absent else 'failed'}: {found[-160:]}", flush=True)
            continue
        first = first or found
        failed += found != first
        print(f"{name:30} {'  '.join(f'{program} {words}' for program, words in found.items())}{'' if found == first else '  OTHER BITS'}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
