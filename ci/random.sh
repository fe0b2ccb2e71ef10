#!/bin/sh
# Random programs over the safe interface, against a model of all memory. On processes they are run by README's test
# command; here with the PEs as threads of one process, on nodes of their own and two on each; and under AddressSanitizer,
# which sees every access of every PE, in sanitize.sh.
#
# Runs a few programs, the same ones each time. By hand, any number of other programs runs in all four ways:
#   RANDOM_FIRST=1000 RANDOM_PROGRAMS=600 ci/random.sh
# A failure names the number of its program, by which the program is run again alone.
set -eu
cd "$(dirname "$0")/.."

run() { # VARIABLE=VALUE...: programs and those written by hand
    # --workspace, as in unit.sh: the same dependencies with the same features, nothing is built twice.
    env "$@" cargo test --workspace --test random
}
if [ -n "${RANDOM_PROGRAMS-}" ]; then
    run
    ci/sanitize.sh random
fi
for hosts in '*x1' '*x2'; do
    run SHMRUN_HOSTS_AS="$hosts" SHMEM_TRANSPORT=loopback
done
