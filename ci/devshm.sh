#!/bin/sh
# Containers give /dev/shm 64 MB, or nothing. Symmetric memory does not live there: a job with more
# of it runs on such a /dev/shm, and leaves nothing in it. Mounting one needs a namespace of its own;
# where the system does not allow that, the step is left out and says so.
set -eu
cd "$(dirname "$0")/.."

own=-m
if ! unshare "$own" mount -t tmpfs -o size=64k none /dev/shm 2>/dev/null; then
    own=-rm
    if ! unshare "$own" mount -t tmpfs -o size=64k none /dev/shm 2>/dev/null; then
        echo "skipped: this user may not mount a small /dev/shm (unshare -m)"
        exit 0
    fi
fi

# --workspace, as in unit.sh: nothing is built twice.
cargo build --workspace --bins
programs=${CARGO_TARGET_DIR:-target}/debug
picture=$(mktemp)
trap 'rm -f "$picture"' EXIT

job() { # MOUNT-OPTIONS: 4 PEs whose grids alone are 96M, all of it touched
    # shellcheck disable=SC2016
    unshare "$own" sh -euc '
        mount -t tmpfs -o "$1" none /dev/shm
        said=$(SHMEM_NPES=4 "$2"/heat2d --tolerance 6 --output "$3")
        echo "$said"
        echo "$said" | grep -qxf examples/heat2d/checksum.txt || { echo "heat2d comes to something else"; exit 1; }
        left=$(ls -A /dev/shm)
        [ -z "$left" ] || { echo "left in /dev/shm: $left"; exit 1; }
    ' sh "$1" "$programs" "$picture"
}
job size=64m
job size=64m,ro
