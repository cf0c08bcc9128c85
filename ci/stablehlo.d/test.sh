#!/usr/bin/env bash
# test.sh BUILD - kernels as StableHLO, judged by jaxlib, by our own reader and by XLA (export.py): a few files of the corpus that have something of
# everything; all of it by hand (ci/stablehlo --export). Some for several devices, too (sharded.py). 77: JAX is missing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
for python in "${TESSERA_PYTHON:-}" "$root/build/peers-python/bin/python3" /usr/bin/python3; do
    [ -x "$python" ] && "$python" -c "import jax" 2>/dev/null && break
done
cd "$root/corpus" || exit 1
"$python" -B "$root/ci/stablehlo.d/sharded.py" --build "$1" matmul/matmul_f32.tsr attention/attention.tsr collectives/placed.tsr || exit
exec "$python" -B "$root/ci/stablehlo.d/export.py" --build "$1" normalisation/softmax.tsr attention/attention.tsr elementwise/{integers,dropout}.tsr \
    programs/{control,scatter}.tsr reduction/positions.tsr types/{policies,float8}.tsr stablehlo/loops.mlir
