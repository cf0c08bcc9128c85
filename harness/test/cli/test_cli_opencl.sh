# test_cli_opencl.sh - SPIR-V on an OpenCL device: the same bits, from two processes at once; and what is said where there is no
# device. PoCL compiles slowly: few kernels, of all widths of floats. Kernels with barriers run where Intel's runtime is
# (ci/opencl-runtime).
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db POCL_CACHE_DIR=$scratch/pocl
mkdir "$POCL_CACHE_DIR"
python=/usr/bin/python3
saxpy=$root/corpus/elementwise/saxpy.tsr softmax=$root/corpus/normalisation/softmax.tsr

exits 4 "no loader" env TESSERA_OPENCL_LIBRARY=/dev/null/absent "$tsr" bench "$saxpy" --quick --backend opencl
has err "backend opencl cannot run here: the OpenCL loader \(Debian: ocl-icd-libopencl1\)" "what to install"

"$tsr" bench "$saxpy" --filter 'saxpy/one*' --quick --backend opencl --profile strict >out 2>err </dev/null
if grep -Eq "cannot run here|has no device" err; then
    echo "skipped: $(tail -n 1 err)"
    exit 77
fi

cat >check.py <<"END"
import json, sys
results = json.load(open(sys.argv[1]))["results"]
assert results
for r in results:
    assert r["status"] == "ok" and r["check"]["bitwise"], (r["kernel"], r["case"], r["status"])
    assert r["check"]["against"] in ("golden", "reference"), r["check"]
END

TSR_DB=$scratch/other.db "$tsr" bench "$saxpy" --filter 'fma_chain/f64*' --quick --backend opencl --profile strict --json >beside.json 2>beside.err </dev/null &
exits 0 "elements, halves among them" "$tsr" bench "$saxpy" "$root/corpus/elementwise/conversions.tsr" --quick --backend opencl --profile strict --json
cp out elements.json
exits 0 "their bits" $python check.py elements.json
# PoCL makes wrong code of barriers: it says so, or it has the bits.
"$tsr" bench "$softmax" --filter 'softmax_rows/blocks' --quick --backend opencl --profile strict --json >barriers.json 2>err </dev/null
exits 0 "no wrong bits with barriers" $python -c '
import json
one, = json.load(open("barriers.json"))["results"]
assert one["status"] == "ok" and one["check"]["bitwise"] or one["status"] == "unsupported" and "barriers" in one["why"], one'
wait $!
cp beside.json out
cp beside.err err
exits 0 "f64, by a process beside it" $python check.py beside.json

if ! vendors=$("$root/ci/opencl-runtime" --no-install 2>err); then
    echo "not run on Intel's runtime: $(tail -n 1 err)"
    finish
fi
export OCL_ICD_VENDORS=$vendors
exits 4 "a setting with which it has other bits" env CL_CONFIG_CPU_VECTORIZER_MODE=8 "$tsr" bench "$saxpy" --quick --backend opencl
has err "CL_CONFIG_CPU_VECTORIZER_MODE=1" "what to set"
families=()
for family in attention matmul movement normalisation; do
    families+=("$root/corpus/$family")
done
# Short: a case of each kernel, and those whose code has more barriers or other types; the full form has every size.
some=()
[ -z "${TSR_SHORT:-}" ] || some=(--filter '*/prime,*/blocks,*/f16,matmul_f32/chunks')
exits 0 "kernels with barriers" "$tsr" bench "${families[@]}" --quick --backend opencl --profile strict "${some[@]}" --json
cp out barriers.json
exits 0 "have the same bits" $python check.py barriers.json
finish
