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

# Rules of derivatives that are wrong in a copy: each is seen in the kernel that is named.
mkdir -p "$scratch/ci"
cp -r "$here" "$scratch/ci/numerics.d"
ln -s "$here/../../docs" "$here/../../golden" "$here/../../corpus" "$scratch/"
planted=0
while IFS='|' read -r file kernel wrong; do
    sed -E "$wrong" "$here/$file" >"$scratch/ci/numerics.d/$file"
    if cmp -s "$here/$file" "$scratch/ci/numerics.d/$file"; then
        echo "nothing is replaced by $wrong: choose another rule here"
        exit 1
    fi
    /usr/bin/python3 -B "$scratch/ci/numerics.d/run.py" "$scratch/corpus/transforms" --tsr "$tsr" --filter "$kernel" >"$scratch/seen" || true
    cp "$here/$file" "$scratch/ci/numerics.d/$file"
    if ! grep -q "^$kernel: .*not the golden's" "$scratch/seen"; then
        echo "$wrong was not seen in $kernel"
        exit 1
    fi
    planted=$((planted + 1))
done <<'END'
derive.py|element_gradients/prime|s/list\(reversed\((contributions.*)\)\)$/list(\1)/
derive.py|loop_gradients/prime|s/inner.add\(n, by\[i\]\)/inner.sub(n, by[i])/
rules.py|element_gradients/equal|s/b.like\(0.5, y\), alone/b.like(1, y), alone/
rules.py|element_gradients/prime|s/^    total = chain\(b, (.*)\)$/    total = chain(b, (\1)[::-1])/
rules.py|attention_gradients/prime|s/b.mul\(b.mul\(p, z\), (.*)\)$/b.mul(p, b.mul(z, \1))/
rules.py|norm_gradients/prime|s/b.mul\(b.sub\(g, along\), (b.spread.*)\)$/b.sub(b.mul(g, \1), b.mul(along, \1))/
rules.py|sum_gradients/equal|s/b.div\(hit, .*$/hit/
rules.py|scatter_gradients/prime|s/number, 0, None/number, 0/
rules.py|running_gradients/prime|s/inner.add\(inner.mul\(parts/inner.sub(inner.mul(parts/
rules.py|running_gradients/exact|s/first, b.like\(1, x\), before/first, b.like(0, x), before/
rules.py|meeting_gradients/equal|s/return b.div\(own, n\), /return own, /
rules.py|meeting_gradients/prime|s/b.turned\(behind, 0\), met/behind, met/
derive.py|reduction_gradients/prime|s/carried \+ parts\)\)/parts + carried))/
derive.py|order_gradients/prime|s/results\[-1\], axis, last/number, axis, last/
END
echo "$planted wrong rules of derivatives were seen"
/usr/bin/python3 -B "$here/planted.py" "$tsr"
/usr/bin/python3 -B "$here/differences.py" "$tsr" --kernels 30
