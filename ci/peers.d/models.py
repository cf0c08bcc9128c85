#!/usr/bin/env python3
"""models - a GPT of four layers in f32, ours beside PyTorch and JAX: a prompt of 128 tokens, and one token more with a cache of 1,024 places.

Each library runs in a process of its own on the cores that it is given; rounds alternate, and a ratio is the median of those of the
rounds. All results are compared first. Room is the memory that is planned for values between inputs and results. Ours is strict.
Rows of ours alone: the launch in a token's step, without Python's part, and a read of as many bytes as the weights have.
`ci/peers --models`; what is missing is left out, with the reason.
"""
import argparse
import functools
import json
import os
import statistics
import sys
import time

import served

LAYERS, WIDTH, HEADS, GROUPS, DEPTH, INNER, WORDS = 4, 512, 8, 4, 64, 1536, 8192
PROMPT, ROOM, FILLED = 128, 1024, 512
FILLS = (PROMPT, FILLED)  # of the cache, before the tokens whose share of a read is told
ENOUGH_S = 0.25


def weights():
    import numpy as np

    draw = np.random.default_rng(7)
    narrow = GROUPS * DEPTH

    def matrix(*shape):
        return draw.normal(0, shape[0] ** -0.5, shape).astype(np.float32)

    layers = [
        dict(
            first=np.ones(WIDTH, np.float32), second=np.ones(WIDTH, np.float32), wq=matrix(WIDTH, WIDTH), wk=matrix(WIDTH, narrow),
            wv=matrix(WIDTH, narrow), wo=matrix(WIDTH, WIDTH), gate=matrix(WIDTH, INNER), up=matrix(WIDTH, INNER), down=matrix(INNER, WIDTH),
        )
        for _ in range(LAYERS)
    ]
    return dict(embedding=draw.normal(0, 1, (WORDS, WIDTH)).astype(np.float32), last=np.ones(WIDTH, np.float32), layers=layers)


def inputs():
    import numpy as np

    draw = np.random.default_rng(11)
    tokens = draw.integers(0, WORDS, PROMPT).astype(np.int32)
    caches = [(draw.normal(0, 1, (GROUPS, ROOM, DEPTH)).astype(np.float32), draw.normal(0, 1, (GROUPS, ROOM, DEPTH)).astype(np.float32)) for _ in range(LAYERS)]
    angles = np.arange(ROOM)[:, None] * (10000.0 ** (-np.arange(DEPTH // 2) / (DEPTH // 2)))[None, :]
    return tokens, caches, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


# ---- ours ----


def ours():
    import numpy as np
    import tessera

    import models_tessera as model

    w = weights()
    tokens, caches, cosines, sines = inputs()
    layers = [model.Layer(**one) for one in w["layers"]]
    states = tessera.device_put([tessera.KVCache(K=k[None], V=v[None], length=np.int32(FILLED)) for k, v in caches])
    whole = tessera.device_put([w["embedding"], w["last"], layers])
    kept = {"states": states}

    def taken(kind, filled=FILLED):
        if kind == "prompt":
            return tokens, *whole, cosines[:PROMPT], sines[:PROMPT]
        for one in kept["states"]:  # the same place again
            one.length = np.int32(filled)
        return tokens[:1], *whole, cosines[filled : filled + 1], sines[filled : filled + 1], kept["states"]

    def run_prompt():
        return model.prompt(*taken("prompt"))

    def run_token(filled=FILLED):
        logits, kept["states"] = model.token(*taken("token", filled))
        return logits

    def room(kind):
        return getattr(model, kind).module_for(*taken(kind)).metadata["program"]["arena_bytes"]

    def launch_s(filled):
        run_token(filled)
        return timed.seconds

    module = model.token.module_for(*taken("token"))
    timed = module._loaded = Timed(module._loaded)
    count = sum(array.size for array in arrays_of(w))
    read = model.total.module_for(line := tessera.device_put(np.ones(count, np.float32)))
    runs = {"prompt": run_prompt, "token": run_token, "read": lambda: read(line)}
    for filled in FILLS:
        runs[f"token {filled}"] = functools.partial(run_token, filled)
        runs[f"launch {filled}"] = functools.partial(launch_s, filled)
    return runs, room


class Timed:
    """A loaded module whose launches are timed."""

    def __init__(self, loaded):
        self.loaded = loaded

    def __getattr__(self, name):
        return getattr(self.loaded, name)

    def run(self, *given):
        start = time.perf_counter()
        result = self.loaded.run(*given)
        self.seconds = time.perf_counter() - start
        return result


def arrays_of(weights):
    return [weights["embedding"], weights["last"], *(array for layer in weights["layers"] for array in layer.values())]


# ---- the others ----


def torch_runs(threads):
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    w, (tokens, caches, cosines, sines) = weights(), inputs()
    t = torch.from_numpy
    embedding, last, layers = t(w["embedding"]), t(w["last"]), [{name: t(x) for name, x in one.items()} for one in w["layers"]]
    caches = [(t(k), t(v)) for k, v in caches]
    cosines, sines = t(cosines), t(sines)
    later = torch.full((PROMPT, PROMPT), float("-inf")).triu(1)

    def norm(x, g):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g

    def turned(x, c, s):
        low, high = x[..., :32], x[..., 32:]
        return torch.cat([low * c - high * s, high * c + low * s], -1)

    def heads_of(x, many):
        return x.view(x.shape[0], many, DEPTH).transpose(0, 1)

    def attended(q, k, v, mask):
        scores = torch.matmul(q, k.repeat_interleave(2, 0).transpose(1, 2)) * DEPTH**-0.5
        return torch.matmul(torch.softmax(scores + mask, -1), v.repeat_interleave(2, 0))

    def layer(x, w, c, s, cache):
        n = norm(x, w["first"])
        q, k, v = turned(heads_of(n @ w["wq"], HEADS), c, s), turned(heads_of(n @ w["wk"], GROUPS), c, s), heads_of(n @ w["wv"], GROUPS)
        if cache is None:
            y = attended(q, k, v, later)
        else:
            cache[0][:, FILLED : FILLED + 1], cache[1][:, FILLED : FILLED + 1] = k, v
            keys, values = cache[0][:, : FILLED + 1], cache[1][:, : FILLED + 1]
            scores = torch.matmul(q.reshape(GROUPS, 2, DEPTH), keys.transpose(1, 2)) * DEPTH**-0.5  # two heads share keys
            y = torch.matmul(torch.softmax(scores, -1), values).reshape(HEADS, 1, DEPTH)
        x = x + y.transpose(0, 1).reshape(x.shape[0], WIDTH) @ w["wo"]
        h = norm(x, w["second"])
        return x + (torch.nn.functional.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def run(tokens, first, caches):
        x = embedding[t(tokens).long()]
        c, s = cosines[first : first + len(tokens)], sines[first : first + len(tokens)]
        for w, cache in zip(layers, caches):
            x = layer(x, w, c, s, cache)
        return (norm(x, last) @ embedding.T).numpy()

    return {"prompt": lambda: run(tokens, 0, [None] * LAYERS), "token": lambda: run(tokens[:1], FILLED, caches)}, lambda kind: None


def jax_runs(threads):
    import jax
    import jax.numpy as jnp
    import numpy as np

    w, (tokens, caches, cosines, sines) = jax.device_put(weights()), inputs()
    caches = jax.device_put(caches)

    def norm(x, g):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g

    def turned(x, c, s):
        low, high = x[..., :32], x[..., 32:]
        return jnp.concatenate([low * c - high * s, high * c + low * s], -1)

    def heads_of(x, many):
        return x.reshape(x.shape[0], many, DEPTH).transpose(1, 0, 2)

    def attended(q, k, v, mask):
        scores = q @ k.repeat(2, 0).transpose(0, 2, 1) * DEPTH**-0.5
        return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1) @ v.repeat(2, 0)

    def rest(x, y, w):
        x = x + y.transpose(1, 0, 2).reshape(x.shape[0], WIDTH) @ w["wo"]
        h = norm(x, w["second"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def parts(x, w, c, s):
        n = norm(x, w["first"])
        return turned(heads_of(n @ w["wq"], HEADS), c, s), turned(heads_of(n @ w["wk"], GROUPS), c, s), heads_of(n @ w["wv"], GROUPS)

    @jax.jit
    def prompt(w, tokens, c, s):
        x = w["embedding"][tokens]
        mask = jnp.tril(jnp.ones((PROMPT, PROMPT), bool))
        for one in w["layers"]:
            q, k, v = parts(x, one, c, s)
            x = rest(x, attended(q, k, v, mask), one)
        return norm(x, w["last"]) @ w["embedding"].T

    def token_(w, tokens, c, s, caches, length):
        x, kept = w["embedding"][tokens], []
        seen = jnp.arange(ROOM)[None, None, :] <= length
        for one, (keys, values) in zip(w["layers"], caches):
            q, k, v = parts(x, one, c, s)
            keys, values = jax.lax.dynamic_update_slice(keys, k, (0, length, 0)), jax.lax.dynamic_update_slice(values, v, (0, length, 0))
            kept.append((keys, values))
            scores = q.reshape(GROUPS, 2, DEPTH) @ keys.transpose(0, 2, 1) * DEPTH**-0.5
            y = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1) @ values
            x = rest(x, y.reshape(HEADS, 1, DEPTH), one)
        return norm(x, w["last"]) @ w["embedding"].T, kept

    token = jax.jit(token_, donate_argnums=4)
    kept = {"caches": caches}

    def taken(kind):
        if kind == "prompt":
            return w, tokens, cosines[:PROMPT], sines[:PROMPT]
        return w, tokens[:1], cosines[FILLED : FILLED + 1], sines[FILLED : FILLED + 1], kept["caches"], FILLED

    def run_token():
        logits, kept["caches"] = token(*taken("token"))
        return np.asarray(logits)

    def room(kind):
        made = (prompt if kind == "prompt" else token).lower(*taken(kind)).compile()
        return made.memory_analysis().temp_size_in_bytes

    return {"prompt": lambda: np.asarray(prompt(*taken("prompt"))), "token": run_token}, room


KINDS = ("prompt", "token")
RUNS = {"tessera": lambda threads: ours(), "torch": torch_runs, "jax": jax_runs}


# ---- processes ----


def serve(name, threads):
    """Answers each line, a name of KINDS, with the least time of a round, and before with the results themselves."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import numpy as np

    runs, room = RUNS[name](threads)
    for kind in KINDS:
        for _ in range(3):
            result = runs[kind]()
        np.save(f"{sys.argv[-1]}/{name}.{kind}.npy", np.asarray(result))
    print(json.dumps({kind: room(kind) for kind in KINDS}), flush=True)
    for line in sys.stdin:
        kind, times = line.strip(), []
        end = time.perf_counter() + ENOUGH_S
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            result = runs[kind]()
            times.append(result if kind.startswith("launch") else time.perf_counter() - start)
        print(min(times), flush=True)


def started(name, threads, folder):
    """With this Python, or the system's: a library may need another NumPy than the others."""
    return served.started([__file__, "--serve", name, "--threads", str(threads), folder], (sys.executable, "/usr/bin/python3"))


def compared(folder, names):
    import numpy as np

    for kind in KINDS:
        wanted = np.load(f"{folder}/tessera.{kind}.npy").reshape(-1)
        for name in names[1:]:
            found = np.load(f"{folder}/{name}.{kind}.npy").reshape(-1)
            if not np.allclose(found, wanted, rtol=1e-3, atol=1e-2):
                sys.exit(f"ci/peers: {name} gives other logits for a {kind}: {abs(found - wanted).max()} apart")


def shares_of_a_read(process, rounds):
    """Time of a read of the weights, and what that is of a token's step and of the launch in it, for each fill: medians of rounds."""
    kinds = [f"{part} {filled}" for filled in FILLS for part in ("token", "launch")]
    times = [{kind: served.asked(process, kind) for kind in ("read", *kinds)} for _ in range(rounds)]
    shares = {kind: statistics.median(one["read"] / one[kind] for one in times) for kind in kinds}
    return {"read_ms": 1e3 * statistics.median(one["read"] for one in times), "share": shares}


def measured(threads, rounds, folder):
    live = {name: process for name in RUNS if (process := started(name, threads, folder))}
    if "tessera" not in live:
        sys.exit("ci/peers: ours does not run")
    compared(folder, list(live))
    rows = []
    for kind in KINDS:
        times = [{name: served.asked(process, kind) for name, process in live.items()} for _ in range(rounds)]
        row = {"model": kind, "threads": threads, "ms": 1e3 * statistics.median(one["tessera"] for one in times)}
        row["room"] = {name: process.known[kind] for name, process in live.items() if process.known[kind] is not None}
        for name in live:
            if name != "tessera":
                ratios = sorted(one[name] / one["tessera"] for one in times)
                row[name] = [statistics.median(ratios), ratios[0], ratios[-1]]
        rows.append(row)
    rows.append({"model": "token", "threads": threads, **shares_of_a_read(live["tessera"], rounds)})
    served.ended(live.values())
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("folder", nargs="?")
    given = parser.parse_args()
    if given.serve:
        return serve(given.serve, int(given.threads))
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        rows = [row for threads in map(int, given.threads.split(",")) for row in measured(threads, given.rounds, folder)]
    if given.json:
        print(json.dumps(rows, indent=1))
        return None
    names = [name for name in RUNS if name != "tessera" and any(name in row for row in rows)]
    print("| model | threads | ours, ms | " + " | ".join(f"{name} / ours" for name in names) + " | room, kB |\n" + "|---" * (4 + len(names)) + "|")
    for row in (row for row in rows if "ms" in row):
        cells = [f"{row[name][0]:.2f} ({row[name][1]:.2f} to {row[name][2]:.2f})" if name in row else "" for name in names]
        room = ", ".join(f"{name} {size / 1e3:.1f}" for name, size in row["room"].items())
        print(f"| {row['model']} | {row['threads']} | {row['ms']:.2f} | " + " | ".join(cells) + f" | {room} |")
    for row in (row for row in rows if "share" in row):
        shares = [f"{row['share'][f'token {filled}']:.0%} of a token's step behind {filled} others "
                  f"({row['share'][f'launch {filled}']:.0%} of the launch in it)" for filled in FILLS]
        print(f"\nA read of the weights on {row['threads']} thread{'s' if row['threads'] > 1 else ''}: {row['read_ms']:.2f} ms, {', '.join(shares)}.")
    return None


if __name__ == "__main__":
    main()
