"""beside.py TSR CORPUS OUT - our kernels for a GPU beside PyTorch's functions (cuBLAS, cuDNN and its own) on the same arrays in device memory.

Each row is compiled by TSR to PTX, loaded by the driver, and launched in turn with its peer, both timed by events of the same stream around as many
launches, recorded as a graph, as take some milliseconds. The ratio is the peer's time by ours, the median of the pairs, with the least and the greatest. An output is
compared with f64 on the device first: a row that is wrong has no time. Prints a table and writes OUT/beside.json. Exit code 77: no PyTorch or no CuPy.
"""
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import warnings

try:
    import cupy
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "witness/gpu-code"))
import cuda  # noqa: E402 - the launches of PTX that share nothing with ours

PAIRS, BATCH_MS = 15, 4.0
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
nn = torch.nn.functional


# A row: source, kernel, profile, dimensions, what makes the inputs, the peer on them, whether its products may be of tf32, a schedule.
def row(where, profile, dims, make, peer, tf32=False, schedule=""):
    source, kernel = where.split(":")
    return source, kernel, profile, dims, make, peer, tf32, schedule


def matmul(where, size, dtype, profile, schedule=""):
    return row(where, profile, {"M": size, "N": size, "K": size}, lambda r: (r(size, size, dtype), r(size, size, dtype)), lambda x, y: x @ y,
               schedule=schedule)


def rows(where, function, *more, m=8192, n=4096, dims=None):
    return row(where, "strict", {"M": m, "N": n, **({"T": "f32"} if dims is None else dims)},
               lambda r: (r(m, n, F32), *(r(*(size if isinstance(size, tuple) else (size,)), F32) for size in more)), function)


def attention(kernel, profile, keys, dtype, name):
    return row(f"attention/attention.tsr:{kernel}", profile, {"B": 1, "H": 16, "Sq": keys, "Sk": keys, "D": 64, "T": name},
               lambda r: tuple(r(1, 16, keys, 64, dtype) for _ in range(3)),
               lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=kernel == "attention_causal"))


def conv(x, w):
    return nn.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=w.shape[0] // 2).permute(0, 2, 3, 1)


def images(kernel, n, side, c, o, k, **more):
    return row(f"convolution/conv2d.tsr:{kernel}", "strict", {"N": n, "H": side, "W": side, "C": c, "O": o, **more},
               lambda r: (r(n, side, side, c, F32), r(k, k, c, o, F32)), conv)


def indices(size, below):
    return torch.randint(0, below, (size,), device="cuda", dtype=torch.int32)


TABLE = [
    *(matmul("matmul/matmul_f32.tsr:matmul_f32", s, F32, "strict") for s in (1024, 4096, 8192)),
    *(matmul("matmul/matmul_bf16.tsr:matmul_bf16", s, BF16, "deterministic") for s in (1024, 4096, 8192)),
    *(matmul("matmul/matmul_bf16.tsr:matmul_bf16", s, BF16, "deterministic", "LOADER=0") for s in (1024, 4096, 8192)),
    matmul("matmul/matmul_bf16.tsr:matmul_bf16", 4096, BF16, "strict"),
    matmul("matmul/matmul_f16.tsr:matmul_f16", 4096, F16, "deterministic"),
    rows("normalisation/softmax.tsr:softmax_rows", lambda x: torch.softmax(x, 1)),
    rows("normalisation/norms.tsr:layernorm_rows", lambda x, g, b: nn.layer_norm(x, (4096,), g, b), 4096, 4096),
    rows("elementwise/activations.tsr:gelu_bias", lambda x, b: nn.gelu(x + b, approximate="tanh"), 4096),
    rows("movement/transpose.tsr:transpose2d", lambda x: x.t().contiguous()),
    rows("reduction/sum.tsr:sum_rows", lambda x: x.sum(1)),
    rows("reduction/sum.tsr:sum_columns", lambda x: x.sum(0), dims={}),
    attention("attention_full", "strict", 2048, F32, "f32"),
    attention("attention_full", "deterministic", 2048, BF16, "bf16"),
    attention("attention_causal", "deterministic", 2048, BF16, "bf16"),
    # The other kernels that models are made of.
    row("matmul/matmul_f32.tsr:matmul_f32_yt", "strict", {"M": 4096, "N": 4096, "K": 4096}, lambda r: (r(4096, 4096, F32), r(4096, 4096, F32)), lambda x, y: x @ y.t()),
    row("matmul/matmul_f32.tsr:matmul_f32", "strict", {"M": 1, "N": 4096, "K": 4096}, lambda r: (r(1, 4096, F32), r(4096, 4096, F32)), lambda x, y: x @ y),
    row("matmul/decode.tsr:decode", "strict", {"M": 1, "N": 4096, "K": 4096, "T": "f32"}, lambda r: (r(1, 4096, F32), r(4096, 4096, F32)), lambda x, w: x @ w.t()),
    row("matmul/batched.tsr:matmul_batched", "strict", {"B": 64, "M": 512, "N": 512, "K": 64}, lambda r: (r(64, 512, 64, F32), r(64, 64, 512, F32)), lambda x, y: x @ y),
    row("matmul/linear.tsr:linear_gelu", "strict", {"M": 4096, "N": 4096, "K": 1024, "T": "f32"},
        lambda r: (r(4096, 1024, F32), r(1024, 4096, F32), r(4096, F32)), lambda x, w, b: nn.gelu(torch.addmm(b, x, w), approximate="tanh")),
    row("matmul/linear.tsr:linear_gelu", "deterministic", {"M": 4096, "N": 4096, "K": 1024, "T": "bf16"},
        lambda r: (r(4096, 1024, BF16), r(1024, 4096, BF16), r(4096, BF16)), lambda x, w, b: nn.gelu(torch.addmm(b, x, w), approximate="tanh")),
    images("conv2d_3x3", 32, 56, 64, 64, 3, T="f32"),
    images("conv2d_1x1", 32, 56, 64, 256, 1),
    rows("normalisation/softmax.tsr:softmax_rows", lambda x: torch.softmax(x, 1), m=65536, n=256),
    rows("normalisation/softmax.tsr:softmax_columns", lambda x: torch.softmax(x, 0), dims={}),
    rows("normalisation/softmax.tsr:logsumexp_rows", lambda x: torch.logsumexp(x, 1), dims={}),
    rows("normalisation/norms.tsr:rmsnorm_rows", lambda x, g: nn.rms_norm(x, (4096,), g), 4096),
    rows("normalisation/norms.tsr:layernorm_residual", lambda x, r, g, b: nn.layer_norm(x + r, (4096,), g, b), (8192, 4096), 4096, 4096, dims={}),
    rows("reduction/extrema.tsr:max_min_rows", lambda x: torch.aminmax(x, dim=1)[1]),
    rows("reduction/extrema.tsr:max_mean_columns", lambda x: (x.amax(0), x.mean(0))[0], dims={}),
    rows("reduction/positions.tsr:arg_rows", lambda x: (x.argmax(1), x.argmin(1))[0]),
    rows("reduction/running.tsr:cumsum_rows", lambda x: x.cumsum(1), m=4096),
    rows("reduction/running.tsr:cumsum_columns", lambda x: x.cumsum(0), m=4096),
    rows("reduction/sorted.tsr:topk_rows", lambda x: torch.topk(x, 32, 1)[0], m=4096, n=1024, dims={"K": 32}),
    row("reduction/sum.tsr:sum_all_squares", "strict", {"N": 1 << 25}, lambda r: (r(1 << 25, F32),), lambda x: (x * x).sum()),
    row("reduction/sum.tsr:sum_outer_axes", "strict", {"A": 64, "B": 128, "C": 4096}, lambda r: (r(64, 128, 4096, F32),), lambda x: x.sum((0, 2))),
    row("movement/gather.tsr:embedding", "strict", {"V": 50000, "D": 1024, "N": 16384, "T": "f32"},
        lambda r: (r(50000, 1024, F32), indices(16384, 50000)), lambda table, tokens: table[tokens]),
    row("movement/transpose.tsr:split_heads", "strict", {"B": 8, "S": 1024, "H": 16, "D": 64}, lambda r: (r(8, 1024, 1024, F32), r(16, F32)),
        lambda x, h: (x.view(8, 1024, 16, 64) * h[:, None]).transpose(1, 2).contiguous()),
    row("training/cross_entropy.tsr:cross_entropy_mean", "strict", {"N": 8192, "V": 16384, "T": "f32"},
        lambda r: (r(8192, 16384, F32), indices(8192, 16384)), lambda x, target: nn.cross_entropy(x, target.long())),
    row("elementwise/activations.tsr:silu_gate", "strict", {"N": 1 << 25, "T": "f32"}, lambda r: (r(1 << 25, F32), r(1 << 25, F32)), lambda x, g: nn.silu(g) * x),
    rows("movement/pieces.tsr:lower_triangle", torch.tril, m=8192, n=8192, dims={}),
]


def compiled(tsr, source, kernel, profile, dims, schedule):
    """The phases as functions with their launches, and the workspace's bytes."""
    words = [tsr, "compile", source, "--kernel", kernel, "--profile", profile, "--isa", CHIP,
             "--dims", ",".join(f"{name}={value}" for name, value in dims.items()), *(["--schedule", schedule] if schedule else []), "--emit"]
    meta = json.loads(subprocess.run([*words, "metadata"], check=True, capture_output=True, text=True).stdout)
    path = pathlib.Path(sys.argv[3], "ptx", "-".join((kernel, profile, schedule, *map(str, dims.values()))) + ".ptx")  # CuPy keeps modules by path
    path.parent.mkdir(exist_ok=True)
    path.write_text(subprocess.run([*words, "ptx"], check=True, capture_output=True, text=True).stdout)
    module = cupy.RawModule(path=str(path))
    phases = []
    for phase in meta["phases"]:
        function = module.get_function(phase["symbol"])
        shared = meta["launch"]["smem_bytes"]
        if shared > 48 << 10:
            function.max_dynamic_shared_size_bytes = shared
        count = len(re.findall(rf"\.param \.u64 {phase['symbol']}_param_", path.read_text()))
        phases.append((function, int(phase["grid"]), shared, count, meta["resources"]["threads"], phase.get("maps", ())))
    return phases, meta


class Recorded:
    """Launches as a graph, so that no time of the host is in them."""

    def __init__(self, run):
        run()
        torch.cuda.synchronize()
        self.launches = 1
        self.launches = max(1, int(BATCH_MS / max(self.of(run).ms(), 1e-3)))
        self.of(run)
        self.ms()

    def of(self, run):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(self.launches):
                run()
        return self

    def ms(self):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / self.launches


def launcher(phases, meta, inputs):
    types = {"f32": F32, "bf16": BF16, "f16": F16, "i32": torch.int32}
    outputs = [torch.empty(tuple(o["shape"]), dtype=types[o["dtype"]], device="cuda") for o in meta["outputs"]]
    for o in outputs:
        o.reshape(-1).view(torch.uint8).fill_(255)
    workspace = torch.empty(max(meta["workspace_bytes"], 1), dtype=torch.uint8, device="cuda")
    places = [cupy.uint64(t.data_ptr()) for t in (*inputs, *outputs, workspace)] + [cupy.uint64(0)]

    driver = cuda.Driver()
    buffers = (*inputs, *outputs)
    maps = [[numpy.frombuffer(bytes(cuda.map_of(driver, one, ctypes.c_uint64(buffers[one["buffer"]].data_ptr()))), f"V{cuda.MAP_BYTES}")[0]
             for one in phase[-1]] for phase in phases]

    def run():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            for (function, grid, shared, count, threads, _), own in zip(phases, maps):
                function((grid,), (threads,), (*places[:count], *own), shared_mem=shared)
    run.workspace = workspace  # else PyTorch unmaps it when a graph is recorded
    return run, outputs


def measured(tsr, corpus, row):
    source, kernel, profile, dims, make, peer, tf32, schedule = row
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    inputs = make(lambda *a: torch.randn(*a[:-1], device="cuda").to(a[-1]))
    run, outputs = launcher(*compiled(tsr, f"{corpus}/{source}", kernel, profile, dims, schedule), inputs)
    run()
    torch.cuda.synchronize()
    wide = [i.double() if i.is_floating_point() else i for i in inputs]
    exact = peer(*wide) if inputs[0].numel() < 1 << 26 else peer(*inputs)
    off = ((outputs[0].double() - exact.double()).norm() / exact.double().norm()).item()
    if not off < 0.02:
        return {"error": off}
    ours, theirs = Recorded(run), Recorded(lambda: peer(*inputs))
    pairs = [(ours.ms(), theirs.ms()) for _ in range(PAIRS)]
    ratios = sorted(b / a for a, b in pairs)
    return {"error": off, "ours_ms": statistics.median(a for a, _ in pairs), "peer_ms": statistics.median(b for _, b in pairs),
            "ratio": statistics.median(ratios), "least": ratios[0], "greatest": ratios[-1]}


def main():
    warnings.simplefilter("ignore", DeprecationWarning)  # of CuPy's streams
    tsr, corpus, out = sys.argv[1:4]
    results = []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; ratio: its time by ours")
    for row in TABLE:
        source, kernel, profile, dims, schedule = *row[:4], row[-1]
        name = f"{kernel} {' '.join(f'{k}={v}' for k, v in dims.items())} {profile} {schedule}"
        try:
            got = measured(tsr, corpus, row)
        except Exception as why:  # a row that cannot be run is a row of the table
            got = {"why": (getattr(why, "stderr", None) or str(why)).strip()[-300:]}
        results.append({"kernel": kernel, "dims": dims, "profile": profile, "schedule": schedule, **got})
        if "ratio" in got:
            print(f"{name:66} {got['ours_ms']:9.4f} ms {got['peer_ms']:9.4f} ms  {got['ratio']:.2f} ({got['least']:.2f} to {got['greatest']:.2f})")
        else:
            print(f"{name:66} {got}")
    pathlib.Path(out, "beside.json").write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": results}, indent=1))
    return 0 if all("ratio" in r for r in results) else 1


CHIP = "sm_%d%da" % torch.cuda.get_device_capability() if torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0) else "sm_80"
if __name__ == "__main__":
    sys.exit(main())
