#!/bin/bash
# The page that `shmem-perf report` writes, in a real browser: a page made here from a few measures, and the sample that is drawn
# from the files of docs/report. ci/page/check.js says what is looked at. Installs Debian's Chromium where packages may be installed,
# and says so where it cannot be had.
#
# usage: ci/page.sh [DIRECTORY [SECTION,...]]    only the report there, with all sections or these, which need not be whole
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v chromium >/dev/null && ! ci/install chromium; then
    echo "skipped: there is no Chromium here, and it cannot be installed"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

always=machine,method,summary,measures,data
sections=lookup,strided,arrays,partitions,contexts,micro
# An older sample does not have this section.
if grep -q '^[0-9]*,c,' docs/report/cases.csv; then sections=$sections,c; fi

check() { # DIRECTORY SECTION,... [whole]: nothing is left out, and no figure means nothing
    local page status=0
    page=$(realpath "$1/index.html")
    echo "-- $1"
    # Chromium's own remarks do not count, but what pages print to the console does.
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$(mktemp -d "$work/user-XXXXXX")" \
        --allow-file-access-from-files --window-size=1400,1000 --virtual-time-budget=60000 --enable-logging=stderr --dump-dom \
        "file://$PWD/ci/page/check.html?page=file://$page&sections=$always,$2&whole=${3-}" >"$work/dom" 2>"$work/remarks" || status=$?
    sed -n '/<pre id="findings">/,/<\/pre>/p' "$work/dom" | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
    if grep CONSOLE "$work/remarks" >"$work/console"; then
        echo "NO: no script fails, nothing is said to the console"
        sed 's/^/  /' "$work/console"
    else
        echo "yes: no script fails, nothing is said to the console"
    fi
    if [ "$status" -ne 0 ] || ! grep -q '^end: [1-9]' "$work/dom"; then
        cat "$work/remarks"
        echo "FAILED: the browser did not come to the end of $page (exit code $status)"
        exit 1
    fi
    if [ -s "$work/console" ] || grep -q '^\(<[^>]*>\)*NO: ' "$work/dom"; then
        echo "FAILED: $page (see above)"
        exit 1
    fi
}

if [ $# -gt 0 ]; then
    check "$1" "${2-$sections}"
    exit 0
fi

# --workspace, as in unit.sh: nothing is built twice.
cargo build --workspace --bins
# Sections that a debug build measures in some seconds each. None of their measures may fail.
only=strided,arrays,partitions
if ci/install libfabric1; then only=lookup,$only,contexts; fi
"${CARGO_TARGET_DIR:-target}/debug/shmem-perf" report --quick --no-peers --only "$only" --out "$work/report" >"$work/said" 2>&1 ||
    { cat "$work/said"; exit 1; }
if grep ',yes,' "$work/report/notes.csv"; then
    echo "FAILED: what is measured for the report has failed (see above)"
    exit 1
fi
check "$work/report" "$only"
cp -r docs/report "$work/sample"
"${CARGO_TARGET_DIR:-target}/debug/shmem-perf" report --out "$work/sample" --redraw
check "$work/sample" "$sections" whole
