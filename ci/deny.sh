#!/bin/sh
# Checks licences, sources, duplicates and known weaknesses of the workspace's dependencies against deny.toml.
#
# usage: ci/deny.sh [--install]
#   --install  gets cargo-deny where it is not there, which takes minutes and a registry
#
# cargo-deny checks all four. Without it, ci/deny.py checks the first three by the same deny.toml, and the step says that
# known weaknesses were not checked.
set -eu
cd "$(dirname "$0")/.."

if [ "${1-}" = --install ] && ! cargo deny --version >/dev/null 2>&1; then
    cargo install --quiet --locked cargo-deny || echo "cargo-deny cannot be installed: its sources are out of reach"
fi
if cargo deny --version >/dev/null 2>&1; then
    cargo deny --log-level error --locked check --hide-inclusion-graph licenses bans sources
    if cargo deny --log-level error fetch db >/dev/null 2>&1; then
        cargo deny --log-level error --locked check --hide-inclusion-graph advisories
    else
        echo "not checked: known weaknesses (the database of advisories is out of reach)"
    fi
    exit 0
fi
if ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "skipped: neither cargo-deny nor a Python with tomllib (3.11) is here"
    exit 0
fi
# A pipe would hide that cargo fails, and a name among temporary files could be guessed.
metadata=$(mktemp)
trap 'rm -f "$metadata"' EXIT
cargo metadata --format-version 1 --locked --all-features >"$metadata"
python3 ci/deny.py deny.toml Cargo.lock <"$metadata"
echo "not checked: known weaknesses (cargo-deny is not here; ci/deny.sh --install gets it)"
