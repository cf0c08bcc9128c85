#!/bin/sh
# same_page.sh PAGE MARKER COMMAND... - what the command prints is the page; with a MARKER other than -, what stands on the page between the lines
# "<!-- MARKER -->" and "<!-- end of the table -->", which may be comments of Python ("# <!-- ..."). Runs in the folder of the page.
set -u
page=$1
marker=$2
shift 2
scratch=$(mktemp -d) || exit 1
trap 'rm -r "$scratch"' EXIT

"$@" >"$scratch/printed" || exit
if [ "$marker" != - ]; then
    awk -v begin="<!-- $marker -->" '{line = $0; sub(/^# /, "", line)} line == "<!-- end of the table -->" {on = 0} on {print} line == begin {on = 1}' "$page" >"$scratch/page"
else
    cp "$page" "$scratch/page"
fi
diff "$scratch/page" "$scratch/printed"
