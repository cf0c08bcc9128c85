#!/usr/bin/env python3
"""devices.py [--build FOLDER] - programs of JAX on several devices of the plugin (TESSERA_DEVICES), each count in a process of its own.

- jit with shardings of arguments and results is the function that one device computes: one hash on 1, 2, 4 and 8 devices.
- A training step of an MLP whose batch is eight parts, summed as one tree (jax.shard_map, psum), is one hash on 1, 2, 4 and 8 devices.
- On 4 devices pmap and shard_map give what JAX's own CPU gives with 4 devices, within bounds; and psum has the bits of the tree that one device adds.
- More devices than there are, a mesh that does not divide and an array that was deleted are errors, after which all goes on.

77: JAX is missing. 1: something differs.
"""
import argparse
import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COUNTS = (1, 2, 4, 8)
PARTS = 8  # of a batch, whatever devices have them

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import AxisType, NamedSharding
    from jax.sharding import PartitionSpec as P
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def mesh_of(count, platform="tessera"):
    return jax.make_mesh((count,), ("d",), axis_types=(AxisType.Auto,), devices=jax.devices(platform)[:count])


def hash_of(tree):
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()[:16]


# ---- one hash on any number of devices ----


def sharded_jit(count):
    """Attention of a batch that the devices share, with weights that they cut, too."""
    mesh = mesh_of(count)
    rows, columns, whole = (NamedSharding(mesh, spec) for spec in (P("d"), P(None, "d"), P()))

    @functools.partial(jax.jit, in_shardings=(rows, columns, whole), out_shardings=(rows, whole))
    def attend(x, w, bias):
        h = jnp.tanh(x @ w + bias)
        scores = jax.nn.softmax(jnp.einsum("bik,bjk->bij", h, h) / 4)
        scores = jax.lax.with_sharding_constraint(scores, rows)
        return jnp.einsum("bij,bjk->bik", scores, h), scores.sum()

    out, total = attend(draw(8, 12, 16), draw(16, 32, seed=1), draw(32, seed=2))
    shapes = {shard.data.shape for shard in out.addressable_shards}
    assert len(out.addressable_shards) == count and shapes == {(8 // count, 12, 32)}, shapes
    assert {shard.device.id for shard in out.addressable_shards} == set(range(count))
    return out, total


def tree_sum(parts):
    """The sum of a power of two of parts: neighbours first, as psum adds those of devices."""
    while parts.shape[0] > 1:
        parts = parts[0::2] + parts[1::2]
    return parts[0]


def trained(count):
    """Ten steps of an MLP; a device has PARTS / count parts of the batch, and all of the parameters."""
    sizes = [(24, 40), (40, 5)]
    parameters = [(draw(*size, seed=number) / size[0] ** 0.5, np.zeros(size[1], np.float32)) for number, size in enumerate(sizes)]
    x, y = draw(PARTS, 4, 24, seed=7), np.random.default_rng(8).integers(0, 5, (PARTS, 4))

    def loss_of(parameters, x, y):
        for w, b in parameters[:-1]:
            x = jax.nn.gelu(x @ w + b)
        scores = jax.nn.log_softmax(x @ parameters[-1][0] + parameters[-1][1])
        return -jnp.take_along_axis(scores, y[:, None], axis=1).mean()

    def of_device(parameters, x, y):
        each = jax.vmap(jax.value_and_grad(loss_of), in_axes=(None, 0, 0))(parameters, x, y)
        return jax.tree.map(lambda leaf: jax.lax.psum(tree_sum(leaf), "d") / PARTS, each)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(parameters, x, y):
        summed = jax.shard_map(of_device, mesh=mesh_of(count), in_specs=(P(), P("d"), P("d")), out_specs=P(), check_vma=False)
        loss, slopes = summed(parameters, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, slopes), loss

    mesh = mesh_of(count)
    parameters = jax.device_put(parameters, NamedSharding(mesh, P()))
    x, y = jax.device_put((x, y), NamedSharding(mesh, P("d")))
    for _ in range(10):
        parameters, loss = step(parameters, x, y)
    return parameters, loss


# ---- four devices beside JAX's own ----


def exchanged(x):
    """All that devices do together, over the axis i."""
    lax = jax.lax
    number = lax.axis_index("i")
    ring = [(k, (k + 1) % 4) for k in range(4)]
    _, carried = lax.scan(lambda c, _: (lax.ppermute(c, "i", ring) * 0.5 + x, lax.pmax(c.sum(), "i")), x, None, length=5)
    return {
        "sum": lax.psum(x, "i"),
        "mean": lax.pmean(x, "i"),
        "greatest": lax.pmax(x, "i"),
        "least": lax.pmin(x, "i"),
        "number": number,
        "gathered": lax.all_gather(x, "i"),
        "tiled": lax.all_gather(x, "i", axis=1, tiled=True),
        "some": lax.ppermute(x, "i", [(0, 3), (3, 1)]),
        "swapped": lax.all_to_all(x, "i", 0, 1),
        "scattered": lax.psum_scatter(x, "i", scatter_dimension=0),
        "groups": lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]]),
        "scanned": carried,
        "chosen": lax.cond(number % 2 == 0, jnp.sin, jnp.cos, x),
        "random": jax.random.normal(jax.random.fold_in(jax.random.key(0), number), (3,)),
        "whole numbers": lax.psum(number * 3, "i"),
        "slope": jax.grad(lambda a: lax.psum((a * a).sum(), "i"))(x),
    }


def by_shard_map(mesh):
    def of_one(x):
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], exchanged(x[0]))

    return jax.jit(jax.shard_map(of_one, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False))


def beside_cpu():
    """Lists what does not hold of exchanged, by pmap and by shard_map."""
    x, wrong, made = draw(4, 4, 3, seed=5), [], {}
    for platform in ("cpu", "tessera"):
        own = jax.devices(platform)[:4]
        # One call at a time: on few cores JAX's CPU waits for devices that have no thread, and ends the process after 40 seconds.
        made[platform] = jax.block_until_ready(jax.pmap(exchanged, axis_name="i", devices=own)(x))
        mesh = jax.make_mesh((4,), ("i",), axis_types=(AxisType.Auto,), devices=own)
        made[platform, "map"] = jax.block_until_ready(by_shard_map(mesh)(x))
    for name, ours in made["tessera"].items():
        theirs = np.asarray(made["cpu"][name])
        if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-6):
            wrong.append(f"pmap: {name} is {np.asarray(ours)}, and {theirs} on JAX's CPU")
        if not np.array_equal(ours, made["tessera", "map"][name]):
            wrong.append(f"{name} by shard_map has other bits than by pmap")
    one = jax.jit(tree_sum, device=jax.devices("tessera")[0])(x)
    if not all(np.array_equal(part, one) for part in made["tessera"]["sum"]):
        wrong.append("psum has other bits than the tree that one device adds")
    return wrong


def meshes_of_two_axes():
    """Groups along either axis of a mesh, and one that is manual along one axis alone."""
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices("tessera")[:4])
    a, b = draw(4, 8), draw(8, 6, seed=1)

    def product(a, b):
        return jax.lax.psum(a @ b, "y"), jax.lax.psum(a, ("x", "y")), jax.lax.axis_index(("x", "y"))[None]

    specs = {"in_specs": (P("x", "y"), P("y", None)), "out_specs": (P("x", None), P(), P(("x", "y")))}
    made, total, numbers = jax.jit(jax.shard_map(product, mesh=mesh, **specs))(a, b)
    half = jax.shard_map(lambda a: jax.lax.psum(a, "y"), mesh=mesh, in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})
    wrong = [] if np.allclose(made, a @ b, rtol=1e-5, atol=1e-5) else ["a product over y is wrong"]
    if not np.allclose(total, a[:2, :4] + a[:2, 4:] + a[2:, :4] + a[2:, 4:], rtol=1e-5, atol=1e-6):
        wrong.append("a sum over both axes is wrong")
    if list(numbers) != [0, 1, 2, 3]:
        wrong.append(f"numbers of devices are {numbers}")
    if not np.array_equal(jax.jit(half)(a), a[:, :4] + a[:, 4:]):
        wrong.append("a sum over the one manual axis is wrong")
    return wrong


# ---- what is an error ----


def refused(call, words):
    try:
        call()
    except Exception as error:  # noqa: BLE001 - its words are what is asked for
        return [] if words in str(error) else [f"another error than '{words}': {error}"]
    return [f"no error, and '{words}' was to be one"]


def errors():
    own = jax.devices("tessera")
    lying = NamedSharding(mesh_of(4), P("d"))
    gone = jax.device_put(draw(8, 3), lying)
    gone.addressable_shards[2].data.delete()
    wrong = refused(lambda: jax.pmap(lambda x: x, devices=own)(draw(5, 2)), "5")
    wrong += refused(lambda: jax.jit(lambda x: x, in_shardings=lying)(draw(7, 3)), "evenly divide")
    wrong += refused(lambda: jax.jit(lambda x: x + 1)(gone).block_until_ready(), "deleted")
    wrong += refused(lambda: jax.make_mesh((8,), ("d",)), "8")
    return wrong + ([] if np.array_equal(jax.pmap(lambda x: x * 2, devices=own)(draw(4, 2)), draw(4, 2) * 2) else ["nothing goes on"])


# ---- all of them ----


def in_process():
    count = int(os.environ["TESSERA_DEVICES"])
    assert len(jax.devices("tessera")) == count
    print("hash sharded jit", hash_of(sharded_jit(count)))
    print("hash training step", hash_of(trained(count)))
    if count == 4:
        for what in beside_cpu() + meshes_of_two_axes() + errors():
            print(f"wrong {what}")
    print("all went on")


def run(build, count):
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "tessera,cpu",
        "TESSERA_DEVICES": str(count),
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}",
        "PYTHONPATH": str(build / "python"),
    }
    words = [sys.executable, "-B", __file__, "--in-process"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600, check=False)
    lines = done.stdout.splitlines()
    if "all went on" not in lines:
        return {}, [f"{count} devices: it ended with {done.returncode}: {done.stderr.strip().splitlines()[-3:]}"]
    hashes = dict(line[len("hash ") :].rsplit(" ", 1) for line in lines if line.startswith("hash "))
    return hashes, [f"{count} devices: {line[len('wrong '):]}" for line in lines if line.startswith("wrong ")]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.in_process:
        in_process()
        return 0
    wrong, rows = [], {}
    for count in COUNTS:
        rows[count], more = run(given.build, count)
        wrong += more
    for name in rows[COUNTS[0]]:
        found = {count: row.get(name) for count, row in rows.items()}
        print(f"{name}: {', '.join(f'{value} on {count}' for count, value in found.items())}")
        if len(set(found.values())) > 1:
            wrong.append(f"{name} has other bits on other numbers of devices")
    for what in wrong:
        print(f"WRONG: {what}")
    print("one hash each, and all that was asked holds" if not wrong else f"{len(wrong)} do not hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
