#!/bin/bash
# Runs groups of steps. CONTRIBUTING.md has the groups and their steps, and the groups that each file belongs to, in two tables
# that this script reads.
#
# usage: ci/test.sh [--tested]          what every landing runs: the group `first`, then the group whose turn it is
#        ci/test.sh GROUP...            these groups
#        ci/test.sh --touched REV       the groups of all files that differ from the commit REV
#        ci/test.sh --all               all groups but `release`, also behind a step that fails
#        ci/test.sh --groups-of FILE... prints the groups of files
#        ci/test.sh --list              prints the steps of each group
#   --tested  leaves out ci/unit.sh, because README's test command has passed (.ci/run)
#
# Needs Rust and bash 5.1. A step that can use more (a second toolchain, other libraries, a virtual machine, several hosts)
# installs it where it may, and prints what it leaves out.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the first two columns of a table of CONTRIBUTING.md, separated by a tab and without backquotes.
table() { # TITLE-OF-ITS-FIRST-COLUMN
    awk -F ' *[|] *' -v title="$1" '
        !/^[|]/ { inside = 0 }
        inside && $2 !~ /^-+$/ { gsub(/`/, ""); print $2 "\t" $3 }
        $2 == title { inside = 1 }' CONTRIBUTING.md
}
steps=$(table group)
steps_of() { # GROUP
    awk -F '\t' -v group="$1" '$1 == group { print $2 }' <<<"$steps"
}
mapfile -t groups < <(awk '!seen[$1]++ { print $1 }' <<<"$steps")
turns=()
for group in "${groups[@]}"; do
    case $group in first | release) ;; *) turns+=("$group") ;; esac
done
# A clean clone cannot remember which group ran last, so a turn is three hours of the clock.
turn=${turns[$(($(date +%s) / 10800 % ${#turns[@]}))]}

# Sets `chosen` to the groups of files: those of all rows with a prefix of a path.
choose_by_files() { # FILE...
    local -A groups_of=() seen=()
    local rows row prefix file known group
    rows=$(table touched)
    while IFS=$'\t' read -r row group; do
        for prefix in ${row//,/}; do groups_of[$prefix]=${group//,/}; done
    done <<<"$rows"
    for file in "$@"; do
        known=''
        for prefix in "${!groups_of[@]}"; do
            [[ $file == "$prefix"* ]] || continue
            known=1
            for group in ${groups_of[$prefix]}; do seen[$group]=1; done
        done
        [ -n "$known" ] || stop "the table \"touched\" of CONTRIBUTING.md has no row for $file"
    done
    for group in "${!seen[@]}"; do
        [[ " ${groups[*]} " == *" $group "* ]] || stop "the table \"touched\" of CONTRIBUTING.md has an unknown group, $group"
    done
    for group in "${groups[@]}"; do
        [ -z "${seen[$group]-}" ] || chosen+=("$group")
    done
}

stop() { # MESSAGE
    printf '%s\n' "$1" >&2
    exit 2
}
usage() {
    sed -n '/^# usage: /,/^#$/s/^# //p' ci/test.sh
    echo "groups: ${groups[*]}"
}
tested='' on='' chosen=()
case ${1-} in
'' | --tested)
    tested=${1-} chosen=(first "$turn")
    echo "the turn is that of the group $turn, of ${turns[*]}"
    ;;
--all) on=1 chosen=(first "${turns[@]}") ;;
--help) usage && exit ;;
--list)
    printf '%s\n' "$steps"
    exit
    ;;
--touched)
    base=$(git rev-parse --verify --quiet "${2-}^{commit}") || stop "there is no commit \"${2-}\""
    files=$(git -c core.quotePath=false diff --no-renames --name-only "$base" && git ls-files --others --exclude-standard)
    mapfile -t files <<<"$files"
    [ -z "${files[*]}" ] || choose_by_files "${files[@]}"
    echo "touched since $2: ${chosen[*]:-nothing}"
    ;;
--groups-of)
    choose_by_files "${@:2}"
    printf '%s\n' "${chosen[@]}"
    exit
    ;;
-*)
    usage >&2
    exit 2
    ;;
*) chosen=("$@") ;;
esac
for group in "${chosen[@]}"; do
    [ -n "$(steps_of "$group")" ] || stop "there is no group \"$group\""$'\n'"$(usage)"
done

# Everything is built once, so incremental builds would only take time. So would backtraces of the panics that tests expect.
export CARGO_INCREMENTAL=0 RUST_BACKTRACE=0

work=$(mktemp -d)
declare -A step_of=() started=()
# Ends the steps that still run when a step has failed.
down() {
    for pid in "${!step_of[@]}"; do
        kill -- "-$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap down EXIT

start() { # STEP: in a process group of its own, by which all that it has started can be ended
    set -m
    (
        status=0 me=$BASHPID
        $1 >"$work/$me.said" 2>&1 </dev/null || status=$?
        times >"$work/$me.times"
        exit "$status"
    ) &
    set +m
    step_of[$!]=$1 started[$!]=$SECONDS
}
# Waits for a step to end, and prints its output in one piece.
finish() {
    local pid status=0 step said used
    wait -n -p pid || status=$?
    step=${step_of[$pid]} said=$work/$pid.said
    unset "step_of[$pid]"
    used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$work/$pid.times" || true)
    printf '== %s\n' "$step"
    cat "$said"
    printf '== %s: %s s, processors %s s\n\n' "$step" $((SECONDS - started[$pid])) "${used:-?}" | tee -a "$work/summary"
    grep -hE '^(skipped|left out): ' "$said" | sed "s|^|$step: |" >>"$work/skipped" || true
    [ "$status" -ne 0 ] || return 0
    {
        echo "FAILED: $step (exit code $status)"
        # Names of tests, as the list at the end of a test program has them.
        awk '/^failures:$/ { inside = 1; next } /^test result/ { inside = 0 } inside && /^    [^ ]+$/ && !seen[$0]++ && ++n <= 4' "$said"
        echo "repeat it alone: $step"
    } >>"$work/failed"
    [ -n "$on" ] || conclude
}
# Prints the times of steps, what they left out, and what failed, which comes last. Ends the script.
conclude() {
    cat "$work/summary" "$work/skipped" 2>/dev/null || true
    if [ -s "$work/failed" ]; then
        cat "$work/failed"
        exit 1
    fi
    echo "${#together[@]} + ${#alone[@]} steps passed in $SECONDS s: ${chosen[*]}"
    exit
}
# Two at a time: while one waits for a network, an install or one core, the other computes.
run() { # STEP...
    for step in "$@"; do
        while [ "${#step_of[@]}" -ge 2 ]; do finish; done
        start "$step"
    done
    while [ "${#step_of[@]}" -gt 0 ]; do finish; done
}

together=() alone=()
for group in "${chosen[@]}"; do
    while read -r step; do
        case $step in
        ci/unit.sh) [ -n "$tested" ] || together+=("$step") ;;
        # The guard measures, and needs the machine for itself.
        ci/guard.sh*) alone+=("$step") ;;
        *) together+=("$step") ;;
        esac
    done < <(steps_of "$group")
done
run "${together[@]}"
for step in "${alone[@]}"; do run "$step"; done
conclude
