#!/bin/bash
# The libraries that strided transfers are compared with: Debian's Open MPI, with its MPI and its
# OpenSHMEM. Installs it where packages may be installed, builds the programs of examples/peers, and
# sees them write what they should. A peer that cannot be had is said, and left out.
set -euo pipefail
cd "$(dirname "$0")/.."

packages="openmpi-bin libopenmpi-dev"
fetch() { # COMMAND: what needs the package registry, which may be out of reach
    timeout -k 5 20 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=5 "$@" >/dev/null 2>&1
}
install() { # HOW...
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive "$@" install -y --no-install-recommends $packages
}
if ! type mpicc oshcc mpirun oshrun >/dev/null 2>&1; then
    if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
        echo "$packages: not installed here (needs a Debian or Ubuntu, and root)"
    # A fresh machine has no package lists. What is fetched is installed without a limit of time.
    elif install fetch --download-only || { fetch update && install fetch --download-only; }; then
        install apt-get -qq >/dev/null
    else
        echo "$packages: cannot be fetched, the package registry is out of reach"
    fi
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# NAME OPERATION BLOCKS BLOCK TO FROM TRANSFERS SAMPLES (examples/peers/peer.h); no samples: a check.
requests() { # OPERATION
    local transfer
    for transfer in "column/2 $1 1000 1 2 2" "column/129 $1 1000 1 129 129" "column4/128 $1 250 4 128 128" \
        "pack/128 $1 1000 1 1 128" "unpack/129 $1 1000 1 129 1" "pitch/8192 $1 1024 1 1024 1024"; do
        printf '%s 20 0\n%s 20 3\n' "$transfer" "$transfer"
    done
}

peer() { # NAME COMPILER LAUNCHER OPERATION...
    local name=$1 compiler=$2 launcher=$3 operation program
    shift 3
    for program in "$compiler" "$launcher"; do
        if ! command -v "$program" >/dev/null; then
            echo "peer $name: not installed, there is no $program (Debian: $packages)"
            return
        fi
    done
    "$compiler" -O2 -Wall -Wextra -Werror "examples/peers/$name.c" -o "$directory/$name"
    for operation in "$@"; do
        requests "$operation" |
            timeout -k 5 30 "$launcher" -np 2 --allow-run-as-root --oversubscribe --bind-to none \
                --mca memory ^patcher --mca orte_tmpdir_base "$directory" \
                --mca btl_vader_backing_directory "$directory" "$directory/$name" >"$directory/answers" ||
            { echo "peer $name: $operation ends with code $?"; exit 1; }
        cat "$directory/answers"
        if grep -q '"error"' "$directory/answers" || [ "$(grep -c '"ns":\[' "$directory/answers")" -ne 12 ]; then
            echo "peer $name: $operation does not answer all requests"
            exit 1
        fi
    done
}

peer mpi mpicc mpirun put
peer oshmem oshcc oshrun iput putmem
