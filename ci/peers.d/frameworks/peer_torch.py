"""PyTorch as an implementation of ci/peers.d/kernels.tsr."""
import os

import torch
import torch.nn.functional as F

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
torch.set_grad_enabled(False)

EPSILON = 1e-5


def matmul_f32(x, y, out):
    torch.matmul(x, y, out=out)


matmul_bf16 = matmul_f32


def linear_f32(x, w):
    return F.linear(x, w)


linear_bf16 = linear_f32


def softmax_f32(x):
    return F.softmax(x, dim=1)


def layernorm_f32(x, gain, bias):
    return F.layer_norm(x, (x.shape[1],), gain, bias, EPSILON)


def rmsnorm_f32(x, gain):
    return x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + EPSILON) * gain


def gelu_f32(x):
    try:
        return F.gelu(x, approximate="tanh")
    except TypeError:
        raise NotImplementedError("gelu by tanh came with PyTorch 1.12") from None


def saxpy_f32(x, y, out):
    torch.add(y, x, alpha=0.5, out=out)


def chain_f32(x, y, z):
    return torch.relu(torch.addcmul(z, x, y)) / (1 + z.abs())


def transpose_f32(x, out):
    out.copy_(x.T)


def sum_rows_f32(x, out):
    torch.sum(x, dim=1, out=out)


def sum_columns_f32(x, out):
    torch.sum(x, dim=0, out=out)


def attention_f32(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    return F.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1) @ v


def conv3x3_f32(x, w):
    """Images lie by rows with their channels last, as PyTorch's channels_last does."""
    image = x.permute(0, 3, 1, 2)
    return F.conv2d(image, w.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1).contiguous()
