"""beside.py TSR CORPUS OUT - our kernels for a GPU beside PyTorch's functions (cuBLAS, cuDNN and its own) on the same arrays in device memory.

Each row is compiled by TSR to PTX, loaded by the driver, and launched in turn with its peer, both timed by events of the same stream around as many
launches, recorded as a graph, as take some milliseconds. The ratio is the peer's time by ours, the median of the pairs, with the least and the greatest. An output is
compared with f64 on the device first: a row that is wrong has no time. Prints a table and writes OUT/beside.json. Exit code 77: no PyTorch or no CuPy.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import warnings

try:
    import cupy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PAIRS, BATCH_MS = 15, 4.0
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
nn = torch.nn.functional


def matmul(m, n, k, dtype, tf32=False):
    return {"M": m, "N": n, "K": k}, lambda r: (r(m, k, dtype), r(k, n, dtype)), lambda x, y: x @ y, tf32


def rows(kernel, m, n, function, *more):
    return {"M": m, "N": n, "T": "f32"}, lambda r: (r(m, n, F32), *(r(size, F32) for size in more)), function, False


def attention(function_of, s, dtype, name):
    dims = {"B": 1, "H": 16, "Sq": s, "Sk": s, "D": 64, "T": name}
    return dims, lambda r: tuple(r(1, 16, s, 64, dtype) for _ in range(3)), function_of, False


def sdpa(causal):
    return lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=causal)


TABLE = [
    *(("matmul/matmul_f32.tsr", "matmul_f32", p, *matmul(s, s, s, F32)) for s in (1024, 4096, 8192) for p in ("strict",)),
    *(("matmul/matmul_bf16.tsr", "matmul_bf16", p, *matmul(s, s, s, BF16)) for s in (1024, 4096, 8192) for p in ("deterministic",)),
    ("matmul/matmul_bf16.tsr", "matmul_bf16", "strict", *matmul(4096, 4096, 4096, BF16)),
    ("matmul/matmul_f16.tsr", "matmul_f16", "deterministic", *matmul(4096, 4096, 4096, F16)),
    ("normalisation/softmax.tsr", "softmax_rows", "strict", *rows("", 8192, 4096, lambda x: torch.softmax(x, 1))),
    ("normalisation/norms.tsr", "layernorm_rows", "strict",
     *rows("", 8192, 4096, lambda x, g, b: nn.layer_norm(x, (4096,), g, b), 4096, 4096)),
    ("elementwise/activations.tsr", "gelu_bias", "strict", *rows("", 8192, 4096, lambda x, b: nn.gelu(x + b, approximate="tanh"), 4096)),
    ("movement/transpose.tsr", "transpose2d", "strict", *rows("", 8192, 4096, lambda x: x.t().contiguous())),
    ("reduction/sum.tsr", "sum_rows", "strict", *rows("", 8192, 4096, lambda x: x.sum(1))),
    ("reduction/sum.tsr", "sum_columns", "strict", {"M": 8192, "N": 4096}, lambda r: (r(8192, 4096, F32),), lambda x: x.sum(0), False),
    ("attention/attention.tsr", "attention_full", "strict", *attention(sdpa(False), 2048, F32, "f32")),
    ("attention/attention.tsr", "attention_full", "deterministic", *attention(sdpa(False), 2048, BF16, "bf16")),
    ("attention/attention.tsr", "attention_causal", "deterministic", *attention(sdpa(True), 2048, BF16, "bf16")),
]


def compiled(tsr, source, kernel, profile, dims):
    """The phases as functions with their launches, and the workspace's bytes."""
    words = [tsr, "compile", source, "--kernel", kernel, "--profile", profile, "--isa", CHIP,
             "--dims", ",".join(f"{name}={value}" for name, value in dims.items()), "--emit"]
    meta = json.loads(subprocess.run([*words, "metadata"], check=True, capture_output=True, text=True).stdout)
    path = pathlib.Path(sys.argv[3], "ptx", "-".join((kernel, profile, *map(str, dims.values()))) + ".ptx")  # CuPy keeps modules by path
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
        phases.append((function, int(phase["grid"]), shared, count, meta["resources"]["threads"]))
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
    types = {"f32": F32, "bf16": BF16, "f16": F16}
    outputs = [torch.full(tuple(o["shape"]), float("nan"), dtype=types[o["dtype"]], device="cuda") for o in meta["outputs"]]
    workspace = torch.empty(max(meta["workspace_bytes"], 1), dtype=torch.uint8, device="cuda")
    places = [cupy.uint64(t.data_ptr()) for t in (*inputs, *outputs, workspace)] + [cupy.uint64(0)]

    def run():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            for function, grid, shared, count, threads in phases:
                function((grid,), (threads,), tuple(places[:count]), shared_mem=shared)
    run.workspace = workspace  # else PyTorch unmaps it when a graph is recorded
    return run, outputs


def measured(tsr, corpus, row):
    source, kernel, profile, dims, make, peer, tf32 = row
    torch.backends.cuda.matmul.allow_tf32 = tf32
    inputs = make(lambda *a: torch.randn(*a[:-1], device="cuda").to(a[-1]))
    run, outputs = launcher(*compiled(tsr, f"{corpus}/{source}", kernel, profile, dims), inputs)
    run()
    torch.cuda.synchronize()
    exact = peer(*(i.double() for i in inputs)) if inputs[0].numel() < 1 << 26 else peer(*inputs).double()
    off = ((outputs[0].double() - exact).norm() / exact.norm()).item()
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
        source, kernel, profile, dims = row[:4]
        name = f"{kernel} {' '.join(f'{k}={v}' for k, v in dims.items())} {profile}"
        try:
            got = measured(tsr, corpus, row)
        except Exception as why:  # a row that cannot be run is a row of the table
            got = {"why": (getattr(why, "stderr", None) or str(why)).strip()[-300:]}
        results.append({"kernel": kernel, "dims": dims, "profile": profile, **got})
        if "ratio" in got:
            print(f"{name:66} {got['ours_ms']:9.4f} ms {got['peer_ms']:9.4f} ms  {got['ratio']:.2f} ({got['least']:.2f} to {got['greatest']:.2f})")
        else:
            print(f"{name:66} {got}")
    pathlib.Path(out, "beside.json").write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": results}, indent=1))
    return 0 if all("ratio" in r for r in results) else 1


CHIP = "sm_%d%da" % torch.cuda.get_device_capability() if torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0) else "sm_80"
if __name__ == "__main__":
    sys.exit(main())
