"""models_tessera - the GPT of models.py, ours."""
import tessera
from tessera import Tensor, f32, i32


@tessera.record
class Layer:
    first: Tensor[512, f32]
    second: Tensor[512, f32]
    wq: Tensor[512, 512, f32]
    wk: Tensor[512, 256, f32]
    wv: Tensor[512, 256, f32]
    wo: Tensor[512, 512, f32]
    gate: Tensor[512, 1536, f32]
    up: Tensor[512, 1536, f32]
    down: Tensor[1536, 512, f32]


@tessera.jit
def total(x: Tensor["N", f32]) -> Tensor[f32]:
    return sum(x, axis=0)


def turned(x, c, s):
    low, high = x[:, :, :32], x[:, :, 32:]
    return concat([low * c - high * s, high * c + low * s], axis=-1)


def heads_of(x, many):
    return transpose(reshape(x, (x.shape[0], many, 64)), (1, 0, 2))


def repeated(x):
    return reshape(broadcast_to(x[:, None], (4, 2, x.shape[1], 64)), (8, x.shape[1], 64))


def mlp(x, w):
    h = rmsnorm(x, w.second)
    return x + (silu(h @ w.gate) * (h @ w.up)) @ w.down


def merged(y, w):
    return reshape(transpose(y, (1, 0, 2)), (y.shape[1], 512)) @ w.wo


@tessera.jit
def prompt(tokens: Tensor["S", i32], embedding: Tensor["V", 512, f32], last: Tensor[512, f32], layers: list[Layer, 4],
           c: Tensor["S", 32, f32], s: Tensor["S", 32, f32]) -> Tensor["S", "V", f32]:
    x = take(embedding, tokens)
    for w in layers:
        n = rmsnorm(x, w.first)
        q = turned(heads_of(n @ w.wq, 8), c, s)
        k = turned(heads_of(n @ w.wk, 4), c, s)
        x = x + merged(attention(q, repeated(k), repeated(heads_of(n @ w.wv, 4)), causal=True), w)
        x = mlp(x, w)
    return rmsnorm(x, last) @ transpose(embedding, (1, 0))


def stepped(x, w, cache, c, s):
    n = rmsnorm(x, w.first)
    cache = cache.append(turned(heads_of(n @ w.wk, 4), c, s)[None], heads_of(n @ w.wv, 4)[None])
    q = turned(heads_of(n @ w.wq, 8), c, s)
    seen = broadcast_to(cache.length, (2,))
    y = op.flash_attention(reshape(q, (4, 2, 64)), cache.K[0], cache.V[0], lengths=seen)  # two heads share keys
    x = x + reshape(y, (1, 512)) @ w.wo
    return mlp(x, w), cache


@tessera.jit
def token(tokens: Tensor[1, i32], embedding: Tensor["V", 512, f32], last: Tensor[512, f32], layers: list[Layer, 4],
          c: Tensor[1, 32, f32], s: Tensor[1, 32, f32], caches: list[tessera.KVCache[1, 4, "R", 64, f32], 4]) -> tuple[Tensor[1, "V", f32], list[tessera.KVCache[1, 4, "R", 64, f32], 4]]:
    x = take(embedding, tokens)
    x, first = stepped(x, layers[0], caches[0], c, s)
    x, second = stepped(x, layers[1], caches[1], c, s)
    x, third = stepped(x, layers[2], caches[2], c, s)
    x, fourth = stepped(x, layers[3], caches[3], c, s)
    return rmsnorm(x, last) @ transpose(embedding, (1, 0)), (first, second, third, fourth)

