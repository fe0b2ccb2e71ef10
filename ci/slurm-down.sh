#!/bin/bash
# Ends the Slurm of ci/slurm-up.sh, and its jobs; nothing else.
#
# usage: ci/slurm-down.sh [DIR]
set -uo pipefail

dir=${1:-${TMPDIR:-/tmp}/shmem-slurm}
if [ ! -e "$dir/pids" ]; then
    echo "no Slurm in $dir"
    exit 0
fi
dir=$(readlink -f "$dir")
export SLURM_CONF="$dir/slurm.conf"
timeout 5 squeue -h -o %i 2>/dev/null | while read -r job; do timeout 5 scancel "$job"; done

runs() { # PID...: whether any of these processes still runs; a zombie has no command line
    local pid
    for pid; do
        if grep -q . "/proc/$pid/cmdline" 2>/dev/null; then return 0; fi
    done
    return 1
}
end() { # PID...: by SIGTERM, and after five seconds by SIGKILL
    kill "$@" 2>/dev/null
    for _ in $(seq 50); do
        runs "$@" || return 0
        sleep 0.1
    done
    kill -9 "$@" 2>/dev/null
}
# Process numbers are reused, so each process must still have the command that was started. On a pretend host, the
# daemon is a child of the process that entered the host.
tac "$dir/pids" | while read -r pid name; do
    tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -q "${name%%-*}" || continue
    # shellcheck disable=SC2046
    end $(pgrep -P "$pid") "$pid"
done
# Daemons of job steps may outlive their slurmd. This Slurm's daemons have a file of $dir open.
for pid in $(pgrep -x slurmstepd); do
    if find "/proc/$pid/fd" -lname "$dir/*" 2>/dev/null | grep -q .; then end "$pid"; fi
done
rm -rf "$dir"
