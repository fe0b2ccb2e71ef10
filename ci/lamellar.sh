#!/bin/bash
# By hand: the comparison with the Rust crate lamellar. Builds its program (examples/peers/lamellar), where the report
# finds it, without a limit of time; then the program must do what it should and have all its cases.
#
# No step of ci/test.sh, because it fetches and builds some two hundred packages: minutes, once.
set -euo pipefail
cd "$(dirname "$0")/.."

started=$SECONDS
cargo build --release --locked --manifest-path examples/peers/lamellar/Cargo.toml --target-dir target/lamellar
echo "-- built: $((SECONDS - started)) s"

# --workspace, as in unit.sh: nothing is built twice.
cargo build --workspace --bins
said=$(mktemp)
trap 'rm -f "$said"' EXIT
cases=$("${CARGO_TARGET_DIR:-target}/debug/shmem-perf" micro --quick --beside floor,lamellar --json \
    --repetitions 11 --jobs 1 2>"$said" | grep '/lamellar"' || true)
cat "$said"
number=$(grep -c . <<<"$cases" || true)
echo "peer lamellar: $number cases"
# Puts and gets of three sizes, bandwidths of two, the rate, swap, fetch, barrier, histogram and index-gather.
[ "$number" -eq 14 ] || { echo "there should be 14"; exit 1; }
