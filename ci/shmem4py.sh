#!/bin/bash
# Builds the bindings for Python, shmem4py, from their source by `oshcc`, as docs/c.md says, and runs their own tests.
#
# The source and its dependencies are fetched from PyPI, in a version whose hash is known here. Where they cannot be fetched, the
# step says so.
set -euo pipefail
cd "$(dirname "$0")/.."

for package in gcc python3; do
    if ! command -v "$package" >/dev/null && ! ci/install "$package"; then
        echo "skipped: there is no $package, and it cannot be installed"
        exit 0
    fi
done
has_headers() {
    python3 -c 'import ensurepip, os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null
}
if ! has_headers && ! { ci/install python3-venv python3-dev && has_headers; }; then
    echo "skipped: there is no Python that packages can be built for (python3-venv, python3-dev)"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
# NumPy 2 refuses a call of shmem4py 1.0.0 (with `copy=False`).
needed=(setuptools wheel 'cffi>=1.13' 'numpy<2')
echo 'shmem4py==1.0.0 --hash=sha256:41db82b216b46b7eaa737daf17e6ad74c4ba07332779df312c06250bad847f81' >"$work/shmem4py.txt"
if ! timeout 120 "${pip[@]}" install --only-binary :all: "${needed[@]}" >"$work/log" 2>&1 ||
    ! timeout 60 "${pip[@]}" download --no-deps --no-build-isolation --no-binary :all: --require-hashes -r "$work/shmem4py.txt" \
        -d "$work" >>"$work/log" 2>&1; then
    tail -n 1 "$work/log"
    echo "skipped: shmem4py, or what it needs, cannot be had from PyPI"
    exit 0
fi

shmem-c/make.sh --debug "$work/prefix" >/dev/null
export PATH=$work/prefix/bin:$work/venv/bin:$PATH
"${pip[@]}" install --no-index --no-deps --no-build-isolation "$work/shmem4py-1.0.0.tar.gz"
tar -xf "$work/shmem4py-1.0.0.tar.gz" -C "$work"
jobs=('-np 1' '-np 2' '-np 3')
if [ -n "${SHMEM_LIBFABRIC:-}" ] || ci/install libfabric1; then
    export SHMEM_OFI_INTERFACE=lo SHMEM_OFI_PROVIDER='tcp;ofi_rxm'
    jobs+=('--hosts-as *x1 -np 2')
else
    echo "left out: pretended hosts, which take libfabric"
fi
# `*` is an argument of oshrun, and no pattern of files.
set -f
for job in "${jobs[@]}"; do
    # shellcheck disable=SC2086
    timeout 300 oshrun $job python -m unittest discover -s "$work/shmem4py-1.0.0/test" >"$work/log" 2>&1 &&
        [ "$(grep -c '^Ran [1-9]' "$work/log")" -eq "${job##* }" ] || {
        cat "$work/log"
        echo "FAILED: the tests of shmem4py, oshrun $job"
        exit 1
    }
    echo "-- oshrun $job: $(grep -m 1 '^Ran ' "$work/log")"
done
