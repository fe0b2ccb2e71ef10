#!/bin/bash
# Memory on NUMA nodes and huge pages, which most machines that run tests do not have: the tests in
# ci/numa/ run in virtual machines with several nodes, kinds of memory, and pages of 2M and 1G. These are
# emulated, so they prove where pages are and never how fast. Needs QEMU and a kernel as Debian packages
# (about 110 MB, fetched once by ci/numa-vm, not installed). Where they cannot be had, the step is left
# out and says so.
#
# usage: ci/numa.sh [NAME...]    only ci/numa/NAME.sh
#
# Each script is read by this shell, with these functions. A virtual machine takes some seconds to start:
# a script should start few of them, and run many things in each (`inside`).
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "skipped: the virtual machine needs a Debian or Ubuntu on x86-64"
    exit 0
fi
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT
if ! ci/numa-vm --fetch 2>"$log"; then
    # A fresh machine has no package lists; only root may fetch them.
    if [ "$(id -u)" -ne 0 ] || ! apt-get -qq update || ! ci/numa-vm --fetch 2>"$log"; then
        cat "$log"
        echo "skipped: the packages of the virtual machine cannot be fetched (see above)"
        exit 0
    fi
fi

# --workspace, as in unit.sh: nothing is built twice.
cargo build --workspace --bins
bin=${CARGO_TARGET_DIR:-target}/debug

test_binary() { # PACKAGE KIND..., as `cargo test` takes them; prints the path of the one test binary
    local path
    path=$(cargo test --workspace --no-run --message-format=json "${@:2}" |
        sed -n "s/.*\"manifest_path\":\"[^\"]*\/$1\/Cargo.toml\".*\"test\":true},\"features\".*\"executable\":\"\([^\"]*\)\".*/\1/p")
    [ -x "$path" ] || { echo "no test binary of $*" >&2; exit 1; }
    # Files of a guest are in its memory. Without debug information, a tenth of the size remains.
    strip --strip-debug -o "$work/${path##*/}" "$path"
    printf '%s\n' "$work/${path##*/}"
}
guest() { # OPTIONS... -- COMMAND; the output stays in $log
    # An emulated machine takes ten times as long, so there is a time limit for the whole guest, and none that its tests reach.
    ci/numa-vm --timeout 300 --env SHMEM_TEST_TIMEOUT=600 "$@" 2>&1 | tee "$log"
}
# Writes a script for the inside of a guest, from the standard input, and prints its path. In it,
# `run NAME COMMAND` marks what the command prints, and its status, for `expect`.
inside() {
    local script
    script=$(mktemp "$work/inside-XXXXXX")
    {
        printf '%s\n' '#!/bin/sh' \
            'run() { name=$1; shift; echo "== $name"; "$@" 2>&1; echo "== status $?"; }'
        cat
    } >"$script"
    chmod +x "$script"
    printf '%s\n' "$script"
}
section() { # NAME: what `run NAME` printed
    awk -v name="== $1" '$0 == name {on = 1; next} /^== / && on {print; exit} on' "$log"
}
expect() { # NAME TEXT...: regular expressions for lines that `run NAME` printed
    local name=$1 text
    for text in "${@:2}"; do
        # No pipe: grep ends at the first line that it finds, and awk would end with an error.
        grep -qE -- "$text" <<<"$(section "$name")" || { echo "not found in \"$name\": $text"; exit 1; }
    done
}
succeeds() { # NAME TEXT...
    expect "$1" '^== status 0$' "${@:2}"
}
fails() { # NAME TEXT...
    expect "$@"
    ! grep -q '^== status 0$' <<<"$(section "$1")" || { echo "\"$1\" ran all the same"; exit 1; }
}
none_skipped() { # NAME [TEXT]: no test of it said so, but for this reason
    ! section "$1" | grep 'skipped: ' | grep -vE "${2:-^$}" || { echo "left out in \"$1\" (see above)"; exit 1; }
}

for part in ci/numa/*.sh; do
    part=$(basename "$part" .sh)
    case " ${*:-$part} " in *" $part "*) ;; *) continue ;; esac
    start=$SECONDS
    # shellcheck disable=SC1090
    . "ci/numa/$part.sh"
    echo "-- $part: $((SECONDS - start)) s"
done
