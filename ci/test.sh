#!/bin/sh
# Everything that must hold before a change is merged: each step in turn, with its time, up to the
# first that fails. Every step is a script of its own and can be run alone.
#
# Needs Rust and nothing else. Steps that can use more (a second toolchain, libraries to compare with,
# a virtual machine with huge pages) fetch it where they may, and say what they leave out where they
# may not.
set -eu
cd "$(dirname "$0")/.."

# From the cheapest to the dearest, so that most mistakes are found within a minute.
steps="hygiene fmt lint unit peers loopback check doc loom mutants msrv miri sanitize devshm numa"

# Everything is built once: what would help a second build only takes time.
export CARGO_INCREMENTAL=0

start=$(date +%s)
for step in $steps; do
    printf '== ci/%s.sh\n' "$step"
    before=$(date +%s)
    status=0
    "ci/$step.sh" || status=$?
    printf '== ci/%s.sh: %s s\n\n' "$step" "$(($(date +%s) - before))"
    if [ "$status" -ne 0 ]; then
        printf 'FAILED: ci/%s.sh (exit code %s)\n' "$step" "$status" >&2
        exit "$status"
    fi
done
printf 'all steps passed in %s s\n' "$(($(date +%s) - start))"
