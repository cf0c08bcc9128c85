"""What ci/peers knows of each kernel and of each library, as data."""

# For each kernel of kernels.tsr: the profile that ours is compiled with; the command for the libraries (serve.c);
# what is counted and the ceiling that it is held against; how far results may be apart, as a share of the greatest.
# A memory-bound kernel is counted in the bytes that must move, and its ceiling is a non-temporal copy, or a read, of as many.
KERNELS = {
    "matmul_f32": ("strict", "matmul f32 {M} {N} {K}", "2*M*N*K", "peak f32", 1e-5),
    "matmul_bf16": ("deterministic", "matmul bf16 {M} {N} {K}", "2*M*N*K", "peak bf16", 1e-2),
    "matmul_bf16_pairs": ("strict", "matmul bf16 {M} {N} {K}", "2*M*N*K", "peak bf16", 1e-2),
    "matmul_i8": ("strict", "matmul i8 {M} {N} {K}", "2*M*N*K", "peak i8", 0),
    "linear_f32": ("strict", "linear f32 {M} {N} {K}", "4*N*K", "read", 1e-5),
    "linear_bf16": ("strict", "linear bf16 {M} {N} {K}", "2*N*K", "read", 1e-2),
    "linear_i8": ("strict", "linear i8 {M} {N} {K}", "N*K", "read", 0),
    "attention_f32": ("strict", "attention {H} {S} {D}", "4*H*S*S*D", "peak f32", 1e-4),
    "conv3x3_f32": ("strict", "conv {B} {H} {W} {C} {K}", "2*B*(3*H-2)*(3*W-2)*C*K", "peak f32", 1e-4),
    "softmax_f32": ("strict", "softmax {M} {N}", "8*M*N", "copy", 1e-4),
    "layernorm_f32": ("strict", "layernorm {M} {N}", "8*M*N", "copy", 1e-4),
    "rmsnorm_f32": ("strict", None, "8*M*N", "copy", 1e-4),
    "gelu_f32": ("strict", "gelu {M} {N}", "8*M*N", "copy", 1e-4),
    "saxpy_f32": ("strict", None, "12*N", "copy", 1e-4),
    "chain_f32": ("strict", None, "16*N", "copy", 1e-4),
    "transpose_f32": ("strict", "transpose {M} {N}", "8*M*N", "copy", 0),
    "sum_rows_f32": ("strict", None, "4*M*N", "read", 1e-4),
    "sum_columns_f32": ("strict", None, "4*M*N", "read", 1e-4),
    "adam_f32": ("strict", None, "28*N", "copy", 1e-4),
}

# Inputs that ours has prepared outside of the time, because a library has: the weights of a convolution.
CONSTANTS = {"conv3x3_f32": "w"}

# Kernels that take roots of their inputs.
POSITIVE = {"adam_f32"}

# Each library with its Debian package and what makes it run its best kernels on processors that it does not know.
PEERS = {
    "openblas": ("libopenblas-dev", {"OPENBLAS_CORETYPE": "SkylakeX"}),
    "onednn": ("libdnnl-dev", {}),
    "blis": ("libblis-dev", {"BLIS_ARCH_TYPE": "skx"}),
    "xsmm": ("libxsmm-dev", {}),
}

# The settings hold for processors with AVX-512; on others the libraries choose for themselves.
NEEDS_AVX512 = {"OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE"}


def cases(path):
    """(kernel, case, dimensions, whether --quick runs it) of each line."""
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        dims = dict(word.split("=") for word in words[2:] if "=" in word)
        yield words[0], words[1], {name: int(value) for name, value in dims.items()}, "quick" in words[2:]


def work_of(kernel, dims):
    return eval(KERNELS[kernel][2], {"__builtins__": {}}, dims)  # pylint: disable=eval-used
