#!/usr/bin/env bash
# test.sh TSR EVERY - a part of ci/numerics; and that it can fail: with another constant in a function, goldens differ.
set -euo pipefail
tsr=$1
every=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "skipped: /usr/bin/python3 has no numpy (Debian: python3-numpy)"
    exit 77
fi
/usr/bin/python3 -B "$here/run.py" --tsr "$tsr" --every "$every"

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
sed '/^## `exp`/,/^return/s/f32:3efffffe/f32:3effffff/' "$here/../../docs/functions.md" >"$scratch/functions.md"
if cmp -s "$here/../../docs/functions.md" "$scratch/functions.md"; then
    echo "exp has no such constant any more: choose another one here"
    exit 1
fi
code=0
/usr/bin/python3 -B "$here/run.py" --tsr "$tsr" --filter 'softmax_rows/prime' --functions "$scratch/functions.md" >/dev/null || code=$?
if [ "$code" -ne 1 ]; then
    echo "a wrong constant was not seen: exit code $code"
    exit 1
fi
