#!/bin/bash
# Ends the pretend hosts of ci/hosts-up.sh, what runs on them, and their bridge; nothing else.
#
# usage: ci/hosts-down.sh [DIR]
set -euo pipefail

dir=${1:-${TMPDIR:-/tmp}/shmem-hosts}
if [ ! -e "$dir/pids" ]; then
    echo "no hosts in $dir"
    exit 0
fi
is() { # PID PROGRAM: whether the process still runs the program, since process numbers are reused
    [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]
}
while read -r outer host; do
    inner=$(cat "$dir/$host.pid" 2>/dev/null || true)
    if is "$inner" sleep; then kill -9 "$inner" 2>/dev/null || true; fi
    if is "$outer" unshare; then kill "$outer" 2>/dev/null || true; fi
done <"$dir/pids"
while read -r outer _; do
    for _ in $(seq 100); do
        is "$outer" unshare || break
        sleep 0.02
    done
done <"$dir/pids"
if [ -e "$dir/bridge" ]; then ip link del "$(cat "$dir/bridge")" 2>/dev/null || true; fi
rm -rf "$dir"
