#!/usr/bin/env python3
"""Trains a small network with plain JAX: python mlp.py, or on Tessera: JAX_PLATFORMS=tessera python mlp.py

It learns in which of ten spirals a point of the plane lies. Nothing in it knows the device; on Tessera every bit of it is the same on every machine
and with every number of threads, so the last line is, too.
"""
import hashlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

CLASSES, HIDDEN, BATCH = 10, 64, 256


def points(key, count):
    """Points on spiral arms, with noise, and the number of each one's arm."""
    arms, distances, noises = jax.random.split(key, 3)
    arm = jax.random.randint(arms, (count,), 0, CLASSES)
    distance = jax.random.uniform(distances, (count,), minval=0.1)
    angle = 2 * jnp.pi * arm / CLASSES + 3 * distance + 0.05 * jax.random.normal(noises, (count,))
    return jnp.stack([distance * jnp.cos(angle), distance * jnp.sin(angle)], axis=1), arm


def start(key):
    sizes = [2, HIDDEN, HIDDEN, CLASSES]
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * jnp.sqrt(2 / m), jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def scores(parameters, x):
    for weights, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    weights, bias = parameters[-1]
    return x @ weights + bias


def loss(parameters, x, arm):
    logs = jax.nn.log_softmax(scores(parameters, x))
    return -jnp.mean(jnp.take_along_axis(logs, arm[:, None], axis=1))


@jax.jit
def draw(key):
    return points(key, BATCH)


def step(parameters, moments, x, arm):
    """One step of gradient descent with momentum. The old parameters are given away for the new ones."""
    value, gradient = jax.value_and_grad(loss)(parameters, x, arm)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradient)
    parameters = jax.tree.map(lambda p, m: p - 0.05 * m, parameters, moments)
    return parameters, moments, value


def main(steps=300):
    train = jax.jit(step, donate_argnums=(0, 1))
    first, data = jax.random.split(jax.random.key(0))
    parameters = start(first)
    moments = jax.tree.map(jnp.zeros_like, parameters)
    for number, key in enumerate(jax.random.split(data, steps)):
        parameters, moments, value = train(parameters, moments, *draw(key))
        if number % 50 == 0 or number == steps - 1:
            print(f"step {number}: loss {value:.4f}")
    x, arm = points(jax.random.key(1), 2000)
    right = jnp.mean(jnp.argmax(scores(parameters, x), axis=1) == arm)
    bits = hashlib.sha256(b"".join(np.asarray(p).tobytes() for p in jax.tree.leaves(parameters))).hexdigest()
    print(f"{right:.1%} right; parameters {bits[:16]}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
