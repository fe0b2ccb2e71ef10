#!/bin/sh
# The compiler for `ci/mutants.sh`: only the crates of this workspace are built anew.
exec "$@" --cfg mutants
