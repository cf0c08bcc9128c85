#!/bin/sh
# exhausted.sh PROGRAM - the code of every specified and every correctly rounded function is the code whose inputs were all
# tried, and the table in docs/numerics.md is what `ci/exhaustive --list` prints. Runs in the root of the tree.
set -u
table=$(mktemp)
trap 'rm -f "$table" "$table.page"' EXIT

code=0
"$1" --list >"$table" || code=$?
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
exit "$code"
