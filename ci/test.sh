#!/bin/bash
# Everything that must hold before a change is merged: each step with its time, up to the first that fails.
# Every step is a script of its own and can be run alone.
#
# usage: ci/test.sh [--tested]
#   --tested  `cargo test --workspace` has passed and is not run again (unit)
#
# Needs Rust and nothing else. Steps that can use more (a second toolchain, libraries to compare with,
# a virtual machine with huge pages, several hosts) fetch it where they may, and say what they leave out where
# they may not.
set -euo pipefail
cd "$(dirname "$0")/.."

# From the cheapest to the dearest, so that most mistakes are found within a minute.
first=(hygiene fmt deny lint)
# Then two lanes: what runs the programs that are built by now, or others in their place, and waits for networks and
# other PEs most of the time; beside it what is built elsewhere: for a compiler, an interpreter or a sanitizer, which
# seldom use more than one core.
built=(peers loopback random fabric c hosts faults shim check devshm page numa equipped)
elsewhere=(assembly miri doc book package surface compilers sanitize loom optional mutants)
# What has to have the machine for itself.
alone=(guard)
case ${1-} in
--tested) ;;
'') first+=(unit) ;;
*) sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2 ;;
esac

# Everything is built once: what would help a second build only takes time. So do backtraces of the panics that tests expect.
export CARGO_INCREMENTAL=0 RUST_BACKTRACE=0

start=$SECONDS
work=$(mktemp -d)
lanes=()
# Whatever is still at work when a step has failed.
down() {
    for lane in "${lanes[@]}"; do
        kill -- "-$lane" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap down EXIT

# Sets `used` to the seconds of processors that all has taken which this shell has waited for: with two cores, lanes are
# full when that is twice the time.
processors() {
    # Not in a shell of its own, which would have waited for nothing.
    local file=$work/times-$BASHPID
    times >"$file"
    used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$file")
}
ended() { # STEP STATUS SECONDS PROCESSOR-SECONDS
    printf '== ci/%s.sh: %s s, processors %s s\n\n' "$1" "$3" "$4"
    [ "$2" -eq 0 ] || printf 'FAILED: ci/%s.sh (exit code %s)\n' "$1" "$2" >&2
}

one_by_one() { # STEP...
    local step before status used already
    for step in "$@"; do
        printf '== ci/%s.sh\n' "$step"
        processors
        before=$SECONDS already=$used status=0
        "ci/$step.sh" || status=$?
        processors
        ended "$step" "$status" $((SECONDS - before)) $((used - already))
        [ "$status" -eq 0 ] || exit "$status"
    done
}
one_by_one "${first[@]}"

# Runs steps one by one. What each says is printed when it ends, so that it stays together.
lane() { # STEP...
    local step before status used already
    for step in "$@"; do
        processors
        before=$SECONDS already=$used status=0
        "ci/$step.sh" >"$work/$step" 2>&1 </dev/null || status=$?
        processors
        {
            flock 9
            printf '== ci/%s.sh\n' "$step"
            cat "$work/$step"
            ended "$step" "$status" $((SECONDS - before)) $((used - already))
        } 9>"$work/turn"
        [ "$status" -eq 0 ] || exit "$status"
    done
}
# With a process group each, by which all that it has started can be ended.
set -m
lane "${built[@]}" &
lanes+=($!)
lane "${elsewhere[@]}" &
lanes+=($!)
set +m
for _ in "${lanes[@]}"; do
    wait -n
done
one_by_one "${alone[@]}"
printf 'all steps passed in %s s\n' "$((SECONDS - start))"
