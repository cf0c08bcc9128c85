# test_cli_usage.sh - wrong command lines, help, completion, the man page, docs/cli.md.
source "$(dirname "$0")/lib.sh"

exits 2 "no command" "$tsr"
exits 2 "an unknown command" "$tsr" bnech
has err "did you mean bench" "an unknown command gets a suggestion"
exits 2 "an unknown option" "$tsr" bench --qiuck
has err "did you mean --quick" "an unknown option gets a suggestion"
exits 2 "an option of another command" "$tsr" devices --quick
has err "^tsr: --quick is of .*bench.*, and not of devices" "is told with those that have it"
exits 2 "a missing value" "$tsr" bench --filter
exits 2 "a value for a flag" "$tsr" bench --quick=yes
exits 2 "an empty value" "$tsr" bench --filter=
exits 2 "an option given twice" "$tsr" bench --db a --db b
exits 2 "an unknown backend" "$tsr" bench --backend cpuu
has err "did you mean cpu" "an unknown backend gets a suggestion"
exits 2 "an unknown profile" "$tsr" bench --profile strickt
has err "did you mean strict" "an unknown profile gets a suggestion"
exits 2 "an unknown ISA level" "$tsr" bench --isa x86-64-v9
exits 2 "no number of threads" "$tsr" bench --threads two
exits 2 "a seed that is no number" "$tsr" bench --seed -3
exits 2 "an unknown export format" "$tsr" bench --export xml=a
exits 2 "an export without a file" "$tsr" bench --export json=
exits 2 "a wrong --color" "$tsr" bench --color sometimes
exits 2 "an unknown golden verb" "$tsr" golden recrod
exits 2 "golden without a verb" "$tsr" golden
exits 2 "compile without a file" "$tsr" compile
exits 2 "an unknown level" "$tsr" compile --emit shedule x.tsr
has err "did you mean schedule" "an unknown level gets a suggestion"
exits 2 "a binary to the terminal" "$tsr" compile --emit module x.tsr
exits 2 "an unknown pass" "$tsr" compile --emit-after nosuchpass x.tsr
exits 2 "completion for no shell" "$tsr" completion
exits 2 "help on nothing known" "$tsr" help nosuch
exits 2 "help on what is nearly known" "$tsr" help numerix
has err "did you mean numerics" "has a suggestion"
exits 0 "a page" "$tsr" help numerics
same "$root/docs/numerics.md" out "is that of docs/"
exits 0 "a page of a command's name" "$tsr" help gate.md
same "$root/docs/gate.md" out "is asked for with .md"

exits 0 "--version" "$tsr" --version
has out "^tsr [0-9]+\.[0-9]+\.[0-9]+ " "--version names it"
exits 0 "help" "$tsr" help
for command in bench golden diff compile run devices roofline log completion help; do
    exits 0 "help on $command" "$tsr" help $command
    cp out by_help
    exits 0 "$command -h" "$tsr" $command -h
    same by_help out "help and -h say the same of $command"
    has out "^usage: tsr $command" "help on $command begins with its usage"
done
exits 0 "passes are listed" "$tsr" compile --emit-after list
has out "." "there are passes"

exits 0 "bash completion" "$tsr" completion bash
exits 0 "bash completion is bash" bash -n out
"$tsr" completion bash >completion.bash
exits 0 "bash completes an option" bash -c '
    source ./completion.bash
    COMP_WORDS=(tsr bench --qui) COMP_CWORD=2
    _tsr
    [ "${COMPREPLY[*]}" = --quick ]'
exits 0 "zsh completion" "$tsr" completion zsh
has out "^#compdef tsr" "zsh completion begins as such"
exits 0 "fish completion" "$tsr" completion fish
cp out completion.fish
if command -v fish >/dev/null; then
    exits 0 "fish completes an option" fish --no-config -c 'source completion.fish; complete -C "tsr bench --qui"'
    has out "^--quick" "by its name"
else
    echo "skipped: fish is not installed"
fi
exits 0 "the man page" "$tsr" help --man
has out "^\.TH TSR 1" "the man page has a title"
exits 0 "the command reference" "$tsr" help --markdown
same "$root/docs/cli.md" out "docs/cli.md is what tsr help --markdown prints"

exits 4 "a closed standard output is no success" bash -c "'$tsr' help >/dev/full"
exits 0 "a reader that leaves" /usr/bin/python3 -c '
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.call([sys.argv[1], "help", "numerics"], stdout=writer) not in (141, -13))' "$tsr"
[ ! -s err ] && pass "hears no complaint" || fail "hears no complaint"
finish
