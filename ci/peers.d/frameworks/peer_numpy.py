"""NumPy as an implementation of ci/peers.d/kernels.tsr: what its users write, into the array that is given where it can."""
import numpy as np

EPSILON = np.float32(1e-5)


def only_f32(*arrays):
    if any(a.dtype != np.float32 for a in arrays):
        raise NotImplementedError("only of f32")


def matmul_f32(x, y, out):
    only_f32(x, y)
    np.matmul(x, y, out=out)


def linear_f32(x, w, out):
    only_f32(x, w)
    np.matmul(x, w.T, out=out)


def softmax_f32(x, out):
    only_f32(x)
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


def layernorm_f32(x, gain, bias, out):
    only_f32(x, gain, bias)
    np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    out /= np.sqrt((out * out).mean(axis=1, keepdims=True) + EPSILON)
    out *= gain
    out += bias


def rmsnorm_f32(x, gain, out):
    only_f32(x, gain)
    np.divide(x, np.sqrt((x * x).mean(axis=1, keepdims=True) + EPSILON), out=out)
    out *= gain


def saxpy_f32(x, y, out):
    only_f32(x, y)
    np.multiply(x, np.float32(0.5), out=out)
    out += y


def chain_f32(x, y, z, out):
    only_f32(x, y, z)
    np.maximum(x * y + z, np.float32(0), out=out)
    out /= np.float32(1) + np.abs(z)


def transpose_f32(x, out):
    only_f32(x)
    np.copyto(out, x.T)


def sum_rows_f32(x, out):
    only_f32(x)
    x.sum(axis=1, out=out)


def sum_columns_f32(x, out):
    only_f32(x)
    x.sum(axis=0, out=out)


def attention_f32(q, k, v, out):
    only_f32(q, k, v)
    scores = q @ k.swapaxes(-1, -2)
    scores *= np.float32(1) / np.sqrt(np.float32(q.shape[-1]))
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    np.matmul(scores, v, out=out)
