#!/usr/bin/env python3
"""training - the step of corpus/models/training.tsr (loss, gradients, clipping, AdamW), ours beside JAX and PyTorch.

Each library runs in a process of its own on the cores that it is given; rounds alternate, and a ratio is the median of those of the
rounds. The losses of all first steps are compared. `kept` computes blocks again (checkpoint, jax.checkpoint); `bf16` has products of bf16
and weights of f32 (PyTorch: autocast); `bf16-units` is the same of ours under `deterministic`, which may use matrix units.
Each digest, of the weights behind three steps, is compared with that of one thread, of plain steps, and of another process (--bits).
Room is the memory that is planned for values between inputs and results. `ci/peers --training`; what is missing is left out.
"""
import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import served

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS, HEADS, ROWS, PLACES, WIDTH, INNER, WORDS = 4, 4, 4, 256, 256, 1024, 4096
DEPTH = WIDTH // HEADS
KINDS = ("step", "kept", "bf16")
OURS = {"step": ("gpt_step", "strict"), "kept": ("gpt_step_kept", "strict"), "bf16": ("gpt_step_bf16", "strict"),
        "bf16-units": ("gpt_step_bf16", "deterministic")}
THEIRS = {"bf16-units": "bf16"}  # the step of others that stands beside one of ours
RATE, B1, B2, DECAY, SCALE = 1e-3, 0.9, 0.99, 0.1, 1024.0


def weights():
    import numpy as np

    draw = np.random.default_rng(7)

    def matrix(*shape):
        return draw.normal(0, 0.06, shape).astype(np.float32)

    def block():
        return dict(gains=[matrix(WIDTH), matrix(WIDTH)], qkv=matrix(WIDTH, 3 * WIDTH), out=matrix(WIDTH, WIDTH),
                    up=[matrix(WIDTH, INNER), matrix(WIDTH, INNER)], down=matrix(INNER, WIDTH))

    return dict(embedding=matrix(WORDS, WIDTH), blocks=[block() for _ in range(LAYERS)], gain=matrix(WIDTH))


def zeros(tree):
    if isinstance(tree, dict):
        return {name: zeros(one) for name, one in tree.items()}
    return [zeros(one) for one in tree] if isinstance(tree, list) else tree * 0


def text(step):
    import numpy as np

    row = step * ROWS + np.arange(ROWS)
    whole = (row % WORDS * 7919)[:, None] + (row % 7 + 1)[:, None] * np.arange(PLACES + 1)[None, :]
    return (whole % WORDS).astype(np.int32)


def angles():
    import numpy as np

    half = DEPTH // 2
    turns = np.arange(PLACES)[:, None] * np.exp(np.arange(half) * (-9.21 / half))[None, :]
    return np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)


def ours(threads):
    import numpy as np
    import tessera

    tsr = os.environ.get("TSR", str(ROOT / "build/tsr"))
    folder = tempfile.mkdtemp()

    def run_of(kernel, profile):
        path = f"{folder}/{kernel}-{profile}.tsrm"
        subprocess.run([tsr, "compile", str(ROOT / "corpus/models/training.tsr"), "--kernel", kernel, "--case", "large", "--profile", profile,
                        "--emit", "module", "-o", path], check=True)
        module = tessera.load(path, threads=threads)
        state = dict(weights=weights(), m=zeros(weights()), v=zeros(weights()), step=np.int32(0))
        if kernel == "gpt_step_bf16":
            state = dict(training=state, scale=np.float32(SCALE), good_steps=np.int32(0))
        kept = {"state": tessera.device_put(state)}

        def run():
            loss, kept["state"] = module(kept["state"])[:2]
            return float(tessera.device_get(loss))

        return run, module.metadata["program"]["arena_bytes"], lambda: tessera.device_get(kept["state"])

    return {kind: run_of(*step) for kind, step in OURS.items()}


def of_jax(threads):
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} intra_op_parallelism_threads={threads}"
    import jax
    import jax.numpy as jnp

    cosines, sines = angles()
    mask = jnp.tril(jnp.ones((PLACES, PLACES), bool))

    def norm(x, g):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * (1 + g)

    def turned(x):
        low, high = jnp.split(x, 2, -1)
        return jnp.concatenate([low * cosines - high * sines, high * cosines + low * sines], -1)

    def run_of(kind):
        narrow = jnp.bfloat16 if kind == "bf16" else jnp.float32
        scale = SCALE if kind == "bf16" else 1.0

        def product(x, w):
            return jnp.matmul(x.astype(narrow), w.astype(narrow), preferred_element_type=jnp.float32)

        def block(x, w):
            q, k, v = (one.reshape(ROWS, PLACES, HEADS, DEPTH).transpose(0, 2, 1, 3) for one in jnp.split(product(norm(x, w["gains"][0]), w["qkv"]), 3, -1))
            scores = product(turned(q), turned(k).swapaxes(-1, -2)) * DEPTH**-0.5
            y = product(jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1), v)
            x = x + product(y.transpose(0, 2, 1, 3).reshape(ROWS, PLACES, WIDTH), w["out"])
            h = norm(x, w["gains"][1])
            return x + product(jax.nn.silu(product(h, w["up"][0])) * product(h, w["up"][1]), w["down"])

        one = jax.checkpoint(block) if kind == "kept" else block

        def loss_of(w, tokens):
            x = w["embedding"][tokens[:, :-1]]
            for layer in w["blocks"]:
                x = one(x, layer)
            logits = product(norm(x, w["gain"]), w["embedding"].T)
            picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
            return (jax.nn.logsumexp(logits, -1) - picked).mean() * scale

        def step(w, m, v, tokens, count):
            loss, g = jax.value_and_grad(loss_of)(w, tokens)
            norm_ = jnp.sqrt(sum((x * x).sum() for x in jax.tree.leaves(g))) / scale
            clip = jnp.where(norm_ > 1, 1 / norm_, 1.0) / scale
            g = jax.tree.map(lambda x: x * clip, g)
            m = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, m, g)
            v = jax.tree.map(lambda v, g: B2 * v + (1 - B2) * g * g, v, g)
            c1, c2 = 1 - B1**count, 1 - B2**count
            w = jax.tree.map(lambda w, m, v: w - RATE * (m / c1 / (jnp.sqrt(v / c2) + 1e-8) + DECAY * w), w, m, v)
            return loss / scale, w, m, v

        kept = [jax.device_put(weights()), jax.device_put(zeros(weights())), jax.device_put(zeros(weights()))]
        made = jax.jit(step, donate_argnums=(0, 1, 2)).lower(*kept, text(0), 1.0).compile()
        count = [0]

        def run():
            loss, *kept[:] = made(*kept, text(count[0]), 1.0 + count[0])
            count[0] += 1
            return float(jax.block_until_ready(loss))

        return run, made.memory_analysis().temp_size_in_bytes, lambda: kept[0]

    return {kind: run_of(kind) for kind in KINDS}


def of_torch(threads, compiled=False):
    import torch
    from torch.nn import functional as F

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms("TRAINING_DETERMINISTIC" in os.environ)
    cosines, sines = map(torch.from_numpy, angles())

    def norm(x, g):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (1 + g)

    def turned(x):
        low, high = x.chunk(2, -1)
        return torch.cat([low * cosines - high * sines, high * cosines + low * sines], -1)

    def block(x, w):
        q, k, v = (one.reshape(ROWS, PLACES, HEADS, DEPTH).transpose(1, 2) for one in (norm(x, w["gains"][0]) @ w["qkv"]).chunk(3, -1))
        y = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(ROWS, PLACES, WIDTH) @ w["out"]
        h = norm(x, w["gains"][1])
        return x + (F.silu(h @ w["up"][0]) * (h @ w["up"][1])) @ w["down"]

    def loss_of(w, tokens):
        x = w["embedding"][tokens[:, :-1]]
        for layer in w["blocks"]:
            x = block(x, layer)
        return F.cross_entropy((norm(x, w["gain"]) @ w["embedding"].T).flatten(0, 1), tokens[:, 1:].flatten())

    def parameters(tree):
        if isinstance(tree, dict):
            return {name: parameters(one) for name, one in tree.items()}
        return [parameters(one) for one in tree] if isinstance(tree, list) else torch.from_numpy(tree).requires_grad_()

    def leaves(tree):
        if isinstance(tree, (dict, list)):
            return [leaf for one in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(one)]
        return [tree]

    of = torch.compile(loss_of) if compiled else loss_of

    def run_of(kind):
        narrow, scale = (True, SCALE) if kind == "bf16" else (False, 1.0)
        w, count = parameters(weights()), [0]
        every = leaves(w)
        optimiser = torch.optim.AdamW(every, lr=RATE, betas=(B1, B2), weight_decay=DECAY, foreach=True)

        def run():
            with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
                loss = of(w, torch.from_numpy(text(count[0])).long())
            optimiser.zero_grad()
            (loss * scale).backward()
            if narrow:
                torch._foreach_div_([one.grad for one in every], scale)
            norm = torch.nn.utils.clip_grad_norm_(every, 1.0)
            if not narrow or torch.isfinite(norm):
                optimiser.step()
            count[0] += 1
            return loss.item()

        return run, None, lambda: [one.detach() for one in every]

    return {kind: run_of(kind) for kind in ("step", "bf16")}


RUNS = {"tessera": ours, "jax": of_jax, "torch": of_torch, "torch.compile": lambda threads: of_torch(threads, True)}


def digest(tree):
    import numpy as np

    found = hashlib.sha256()

    def take(tree):
        if isinstance(tree, (dict, list, tuple)):
            for one in tree.values() if isinstance(tree, dict) else tree:
                take(one)
        elif hasattr(tree, "__dataclass_fields__"):
            take(vars(tree))
        else:
            found.update(np.asarray(tree).tobytes())

    take(tree)
    return found.hexdigest()


def serve(name, threads):
    """Answers each line, a name of KINDS, with the time of a step; before, with what is known of each kind: the losses of three first steps,
    the room, and a digest of the weights behind them."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a step prints is no answer
    runs = RUNS[name](threads)
    known = {kind: {"losses": [run() for _ in range(3)], "room": room, "digest": digest(state())} for kind, (run, room, state) in runs.items()}
    print(json.dumps(known), file=answers, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        runs[line.strip()][0]()
        print(time.perf_counter() - start, file=answers, flush=True)


def started(name, threads):
    return served.started([__file__, "--serve", name, "--threads", str(threads)])


def compared(live):
    for name, process in live.items():
        for kind, known in process.known.items():
            wanted = live["tessera"].known[kind]["losses"]
            if any(abs(a - b) > 1e-3 * abs(b) for a, b in zip(known["losses"], wanted)):
                sys.exit(f"ci/peers: {name} has other losses of {kind}: {known['losses']}, not {wanted}")


def measured(threads, rounds):
    live = {name: process for name in RUNS if (process := started(name, threads))}
    if "tessera" not in live:
        sys.exit("ci/peers: ours does not run")
    compared(live)
    for kind in OURS:
        theirs = {name: kind if name == "tessera" else THEIRS.get(kind, kind) for name in live}
        able = {name: process for name, process in live.items() if theirs[name] in process.known}
        times = [{name: served.asked(process, theirs[name]) for name, process in able.items()} for _ in range(rounds)]
        cells = [f"{1e3 * statistics.median(one['tessera'] for one in times):.0f}"]
        for name in RUNS:
            if name != "tessera":
                ratios = sorted(one[name] / one["tessera"] for one in times) if name in able else []
                cells.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})" if ratios else "")
        room = ", ".join(f"{name} {room / 1e6:.1f}" for name, process in able.items() if (room := process.known[theirs[name]]["room"]))
        print(f"| {kind} | {threads} | {' | '.join(cells)} | {room} |", flush=True)
    served.ended(live.values())


def told_bits():
    """Tells, for each library: do other threads, another process, and blocks that are computed again leave the weights' bits as they are?"""
    print("| | " + " | ".join(("another process", "two threads", "blocks computed again")) + " |\n" + "|---" * 4 + "|")
    for name in RUNS:
        runs = [started(name, threads) for threads in (1, 1, 2)]
        if not all(runs):
            continue
        first, again, two = (process.known for process in runs)
        cells = ["same" if first["step"]["digest"] == other["step"]["digest"] else "other" for other in (again, two)]
        if "kept" in first:
            cells.append("same" if first["step"]["digest"] == first["kept"]["digest"] else "other")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        served.ended(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--bits", action="store_true")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, int(given.threads))
        return
    if given.bits:
        os.environ["TRAINING_DETERMINISTIC"] = "1"  # PyTorch's deterministic mode
        told_bits()
        return
    others = [name for name in RUNS if name != "tessera"]
    print("| | threads | ours, ms | " + " | ".join(f"{name} / ours" for name in others) + " | room, MB |\n" + "|---" * (4 + len(others)) + "|")
    for threads in map(int, given.threads.split(",")):
        measured(threads, given.rounds)


if __name__ == "__main__":
    main()
