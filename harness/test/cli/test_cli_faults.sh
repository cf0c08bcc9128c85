# test_cli_faults.sh - damaged files, databases and modules (faults/faults.py has the table): each is named, none ends with 0,
# nothing is lost.
source "$(dirname "$0")/lib.sh"
small_corpus
exits 0 "every fault is caught" /usr/bin/python3 "$root/harness/test/cli/faults/faults.py" "$tsr" "$root"
has out ' faults, 0 not caught$' "all of them"
grep '^NOT OK' out
finish
