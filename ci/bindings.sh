#!/bin/bash
# Makes the bindings to libfabric anew, from the headers of this system. The bindings are checked in, so that no build needs
# bindgen (0.73), libclang, or the headers (Debian: libfabric-dev). A test compares the bindings with the installed headers.
# Functions are left out, because the library is loaded at run time.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
allow='missing_docs missing_debug_implementations non_camel_case_types non_snake_case non_upper_case_globals dead_code
    unreachable_pub unsafe_op_in_unsafe_fn clippy::all clippy::pedantic clippy::missing_safety_doc
    clippy::multiple_unsafe_ops_per_block clippy::undocumented_unsafe_blocks'
generate() { # OUTPUT LIBRARY LICENCE HEADERS OPTION... -- FLAG...
    local output=$1
    # shellcheck disable=SC2086
    printf '#include <%s>\n' $4 >"$work/headers.h"
    {
        echo "//! Types and constants of $2, as bindgen writes them: \`ci/bindings.sh\` makes this file. The headers that"
        echo "//! they come from are licensed $3."
        # shellcheck disable=SC2086
        { printf '#![allow('; printf '%s, ' $allow; echo 'reason = "generated")]'; }
        bindgen "$work/headers.h" --disable-header-comment --no-layout-tests --no-doc-comments \
            --no-prepend-enum-name --use-core --blocklist-function '.*' --formatter none "${@:5}"
    } >"$work/bindings.rs"
    rustfmt --edition 2024 --config-path rustfmt.toml "$work/bindings.rs"
    cp "$work/bindings.rs" "$output"
}

# Bindings are made of the types that the sources name, and of the types of their fields. Types in `hidden` become `c_void`,
# because the sources only hold pointers to them. Tables of functions come from calls.rs.
hidden='fid_wait fi_device_attr fi_link_attr fi_ops_collective fi_ops_tagged'
left='fid_(av_set|eq|mc|pep|poll|stx)|fi_(atomic|av_set|collective|eq|poll|wait)_attr'
raw=(--raw-line 'use core::ffi::{c_char, c_int, c_uint, c_void};' --raw-line 'use libc::iovec;')
raw+=(--raw-line "pub use super::calls::{$(sed -nE 's/^    (fi_ops\w*) of .*/\1/p' shmem-core/src/libfabric/calls.rs | sort | paste -sd,)};")
for name in $hidden; do raw+=(--raw-line "pub type $name = c_void;"); done
used=$(git grep -howE '(FI_|fi_|fid)[A-Za-z0-9_]*' -- '*.rs' ':!*/bindings.rs' | sort -u | paste -sd'|')
bindings=shmem-core/src/libfabric/bindings.rs
generate $bindings libfabric "BSD-2-Clause OR GPL-2.0" \
    "rdma/fabric.h rdma/fi_domain.h rdma/fi_endpoint.h rdma/fi_cm.h rdma/fi_rma.h rdma/fi_tagged.h rdma/fi_atomic.h
    rdma/fi_eq.h rdma/fi_errno.h" \
    --allowlist-type "($used)" --allowlist-var "($used)" \
    --blocklist-type "(iovec|FILE|_IO.*|fi_ops.*|${hidden// /|}|$left)" "${raw[@]}"
sed -i 's/::core::option::Option/Option/g; s/::core::ffi::\(c_[a-z]*\)/\1/g' $bindings
rustfmt --edition 2024 --config-path rustfmt.toml $bindings
