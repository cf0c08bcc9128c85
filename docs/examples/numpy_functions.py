"""NumPy's own ways to compute kernels of corpus/: for `tsr check --with docs/examples/numpy_functions.py` (docs/findings.md)."""

import numpy as np


def only_f32(*arrays):
    if any(a.dtype != np.float32 for a in arrays):
        raise NotImplementedError("f32 alone")


def matmul_f32(x, y):
    return x @ y


def sum_rows(x):
    only_f32(x)
    return x.sum(axis=1)


def sum_columns(x):
    only_f32(x)
    return x.sum(axis=0)


def softmax_rows(x):
    only_f32(x)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
