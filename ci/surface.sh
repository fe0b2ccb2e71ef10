#!/bin/bash
# What a program can do to the libraries without `unsafe`, against the lists in ui-tests/surface: a line that is new must
# be read, because nothing that safe code can name, hidden or not, may break memory. BLESS=1 rewrites the lists.
#
# rustdoc writes JSON only if it takes its toolchain for a nightly one. Only rustdoc is told so, and dependencies are those of
# doc.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet -p ui-tests --bin surface
target=${CARGO_TARGET_DIR:-target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$work/rustdoc"
chmod +x "$work/rustdoc"
export RUSTDOC=$work/rustdoc

failed=0
# What optional features add.
for crate in shmem-grammar:shmem_grammar shmem-core:shmem_core shmem-launch:shmem_launch shmem-rt:shmem:ndarray,rayon; do
    IFS=: read -r package library features <<<"$crate"
    list=ui-tests/surface/$package.txt
    cargo rustdoc --quiet -p "$package" --lib ${features:+--features "$features"} -- -Zunstable-options \
        --output-format json --document-private-items --document-hidden-items --cap-lints allow
    "$target/debug/surface" "$target/doc/$library.json" >"$work/list"
    if [ -n "${BLESS-}" ]; then
        cp "$work/list" "$list"
    elif ! diff -u "$list" "$work/list"; then
        failed=1
    fi
    echo "$package: $(wc -l <"$work/list") lines"
done
if [ "$failed" -ne 0 ]; then
    echo "FAILED: safe code can do something else than before. Read each new line as a stranger would who wants to break memory:"
    echo "every argument, order, thread, forgotten value and panic. Then: BLESS=1 ci/surface.sh"
    exit 1
fi
