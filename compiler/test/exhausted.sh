#!/bin/sh
# exhausted.sh PROGRAM - the code of every specified and every correctly rounded function is the code whose inputs were all
# tried, and the table in docs/numerics.md is what `ci/exhaustive --list` prints. Runs in the root of the tree. Skipped where
# a function was never tried; one whose code was changed since is a failure.
set -u
table=$(mktemp)
trap 'rm -f "$table" "$table.page" "$table.said"' EXIT

"$1" --list >"$table" 2>"$table.said"
code=$?
cat "$table.said"
sed -n '/^<!-- ci\/exhaustive --list -->$/,/^<!-- end of the table -->$/p' docs/numerics.md |
    sed -e '1d' -e '$d' >"$table.page"
if ! diff "$table.page" "$table"; then
    echo "docs/numerics.md does not show what ci/exhaustive --list prints; ci/exhaustive FUNCTION writes it" >&2
    exit 1
fi
if "$1" no-such-function 2>/dev/null || [ $? -ne 2 ]; then
    echo "an unknown function is not a usage error" >&2
    exit 1
fi
if [ "$code" -eq 1 ] && ! grep -qv ': not tried yet; run: ' "$table.said"; then
    echo "skipped: some functions were never tried at all inputs"
    exit 77
fi
exit "$code"
