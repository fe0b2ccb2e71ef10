#!/bin/bash
# What no compiler checks. Every rule prints the lines that break it.
set -euo pipefail
# The last part of a pipe runs in this shell: `rule` sets `failed`.
shopt -s lastpipe
cd "$(dirname "$0")/.."

failed=0
rule() { # DESCRIPTION; the offending lines on stdin
    local lines
    lines=$(cat)
    [ -z "$lines" ] && return
    printf '%s:\n%s\n' "$1" "$lines"
    failed=1
}
files() { # PATTERN...: what is, or would be, under version control, without this file
    git ls-files --cached --others --exclude-standard -- "$@" ':!ci/hygiene.sh' | while read -r f; do
        [ -f "$f" ] && printf '%s\n' "$f"
    done
}
search() { # REGULAR-EXPRESSION PATTERN...
    local expression=$1
    shift
    files "$@" | xargs -r grep -nE "$expression" || true
}

search '\b(todo|unimplemented|dbg)!' '*.rs' | rule "nothing is left half done, no traces of debugging"
search '// SAFETY: (as|see|like) (above|below|in|for|before)\b' '*.rs' | rule "each proof stands by itself"
search '#\[ignore' '*.rs' | rule "a test that is not run proves nothing"
search '\b(TODO|FIXME|XXX)\b' '*.rs' '*.sh' '*.toml' '*.md' | rule "what is missing stands in docs/design.md, not in comments"
search '^[^/]*(process|libc)::exit\(' 'shmem-core/src/*.rs' 'shmem-launch/src/*.rs' 'shmem-rt/src/*.rs' 'shmem-c/src/*.rs' |
    rule "a library ends the process by process_exit::end: exit destroys what transfers still write"

# A file has one subject, and one that is much longer than others may have two. Generated bindings do not count.
files '*/src/*.rs' ':!*/tests/*' ':!*/tests.rs' ':!*/bindings.rs' | xargs -r wc -l | awk '$2 != "total" && $1 > 800' | rule "source files have at most 800 lines"
files '*utils*' '*helpers*' '*common*' | rule "modules are named after what they hold"

# Text that only some readers can follow: paths of one machine, numbers of a tracker.
search '(^|[^A-Za-z0-9_.}$)-])/(work|home|root|tmp)/[A-Za-z.]' '*.rs' '*.toml' '*.sh' '*.md' '*.stderr' |
    rule "paths that exist on one machine only"
search '\b([Ii]ssue|[Tt]icket|[Tt]ask|[Ss]ession|[Ss]eed) #?[0-9]' '*.rs' '*.toml' '*.sh' '*.md' |
    rule "references that only some readers can follow"

# What design.md says of where things are.
# shellcheck disable=SC2016
grep -oE '`[a-z-]+(/[a-z_.-]+)+`' docs/design.md | tr -d '`' | grep -E '^(shmem-|tools/|ui-tests/|docs/|ci/|examples/)' | sort -u |
    while read -r path; do [ -e "$path" ] || printf '%s\n' "$path"; done |
    rule "paths in docs/design.md that lead nowhere"

# A package that is built alone must give its dependencies the same features as the whole workspace, so that nothing is built
# twice.
features() { # PACKAGES
    cargo tree --quiet --locked --edges normal,build --format '{p} [{f}]' --prefix none "$@" | sed 's/ (\*)//' | sort -u
}
together=$(features --workspace)
for package in shmem-rt shmem-c shmrun shmem-examples; do
    comm -13 <(echo "$together") <(features --package "$package")
done | rule "dependencies that a package built alone has with other features (Cargo.toml)"

# The tables of CONTRIBUTING.md that ci/test.sh reads must have every step and every file.
steps=$(ci/test.sh --list)
for script in ci/*.sh; do
    grep -qE "	$script( |\$)" <<<"$steps" || [ "$script" = ci/bindings.sh ] ||
        grep -E "^[^#]*$script" .ci/run ci/*.sh ci/numa-vm | grep -qv "^$script:" || printf '%s\n' "$script"
done | rule "scripts that no group of CONTRIBUTING.md has, and no other script calls"
cut -f 2 <<<"$steps" | while read -r script _; do [ -x "$script" ] || printf '%s\n' "$script"; done |
    rule "steps in CONTRIBUTING.md that are no scripts"
turns=$(cut -f 1 <<<"$steps" | grep -vxE 'first|release' | sort -u | wc -l)
[ $((turns % 2)) -eq 1 ] && [ "$turns" -le 8 ] ||
    rule "groups in turn: at most 8, and an odd number, since a day has 8 turns and one landing a day must meet all" <<<"$turns"
mapfile -t all < <(git ls-files --cached --others --exclude-standard)
ci/test.sh --groups-of "${all[@]}" 2>&1 >/dev/null | rule "files without a row in CONTRIBUTING.md"
# A test program that README's command does not run is run by a step.
awk '/^\[/ { inside = $0 == "[[test]]" } inside && /^name = / { split($0, part, "\""); name = part[2] }
    inside && $0 == "test = false" { print name }' ./*/Cargo.toml ./*/*/Cargo.toml |
    while read -r name; do grep -qE -- "(--test|binary) $name\b" ci/*.sh ci/numa/*.sh || printf '%s\n' "$name"; done |
    rule "test programs that no step runs"
# A filter that fits no test lets a step pass without it. Tests by path: `name_on_3` is `name` for 3 PEs.
tests=$(files '*.rs' | xargs awk 'FNR == 1 { path = FILENAME; sub(/\.rs$/, "", path); sub(/\/mod$/, "", path); gsub(/\//, "::", path) }
    match($0, /(fn|mod) [a-z_0-9]+/) { name = substr($0, RSTART, RLENGTH); sub(/.* /, "", name); print path "::" name "::" }
    # Names in tables of macros.
    match($0, /^ +[a-z_0-9]+: ([0-9]+,|[A-Z][a-z]+, &)/) { name = $1; sub(/:/, "", name); print path "::" name "::" }')
{
    grep -hoE '\b[a-z_]+::[a-z_0-9:]*' ci/{fabric,shim,sanitize,hosts,network-faults,mutants,loopback,check,miri,arm,equipped}.sh
    # Filters without `::`, behind `--`.
    sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' ci/{fabric,shim,arm,equipped,miri}.sh |
        grep -oP '(cargo .*test .* -- |^ *tests .* -- |^ *under \S+ )\K.*' | tr -s ' ' '\n' | grep -xE '[a-z_0-9]+'
    grep -ohE -- '--skip[ =][a-z_0-9:]+' ci/*.sh ci/numa/*.sh | sed 's/^--skip.//'
} | sed -E 's/(^|_)on_[0-9]+$//' | sort -u | while read -r filter; do
    grep -qF -- "$filter" <<<"$tests" || printf '%s\n' "$filter"
done | rule "filters in ci/ that fit no test"

exit "$failed"
