#!/bin/bash
# The libraries that strided transfers, collectives and micro-benchmarks are compared with: Debian's Open MPI, with its MPI and
# its OpenSHMEM. Installs it where packages may be installed, and lets the tool build and run the programs of examples/peers. Each
# program must transfer the right bytes, and have all its cases. A peer that cannot be had is reported, and left out.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/install openmpi-bin libopenmpi-dev || true

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
peer() { # NAME COMPILER
    if type "$2" >/dev/null 2>&1; then
        "$2" -O2 -Wall -Wextra -Werror "examples/peers/$1.c" -o "$directory/$1"
    fi
}
peer mpi mpicc
peer oshmem oshcc
peer oshmem-micro oshcc
peer mpi-micro mpicc
peer floor cc

# --workspace, as in unit.sh: nothing is built twice.
cargo build --workspace --bins
"${CARGO_TARGET_DIR:-target}/debug/shmem-perf" strided --peers --json --repetitions 11 --jobs 1 \
    >"$directory/cases" 2>"$directory/remarks" || { cat "$directory/remarks"; exit 1; }
cat "$directory/remarks"
cases() { # KIND PEER
    local number
    number=$(grep -c "\"case\":\"$1/" "$directory/cases" || true)
    echo "peer $2: $number cases of $1"
    if ! grep -q "peer $2: not installed" "$directory/remarks" && [ "$number" -ne "$3" ]; then
        echo "there should be $3"
        exit 1
    fi
}
cases mpi mpi 18
cases oshmem oshmem 18
cases a1 oshmem 18

"${CARGO_TARGET_DIR:-target}/debug/shmem-perf" micro --quick --beside floor,oshmem-micro,mpi-micro --json \
    --repetitions 11 --jobs 1 2>"$directory/remarks" >"$directory/all" || { cat "$directory/remarks"; exit 1; }
cat "$directory/remarks"
for peer in floor oshmem-micro mpi-micro; do
    grep "/$peer\"" "$directory/all" >"$directory/cases" || true
    cases '[a-z-]*' "$peer" 51
done
