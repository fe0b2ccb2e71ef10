#!/bin/bash
# Packages of the library and of the commands, as a registry would have them. With them, a program outside this repository is
# built: the one in shmem-rt's README, heat in a rod. It runs on four PEs, by itself and under `shmrun`. It must build none of the
# commands' dependencies.
#
# Dependencies of the packages are those that have been fetched for the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(shmem-grammar shmem-core shmem-macros shmem-launch shmem-rt shmrun)
target=$(cargo metadata --format-version 1 --no-deps --offline | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
outside=$target/outside
# Removes packages of earlier runs.
rm -rf "$outside" "$target"/package/*.crate

# All together, because none of them is in the registry yet. They are built below.
cargo package --quiet --offline --allow-dirty --no-verify "${packages[@]/#/--package=}"

rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
grep -q "Rust $rust" shmem-rt/README.md || { echo "shmem-rt/README.md does not say that it takes Rust $rust"; exit 1; }

mkdir -p "$outside/heat/src"
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
patches=()
for package in "${packages[@]}"; do
    # Files get the current time (-m), by which Cargo knows that they are new.
    tar -xmzf "$target/package/$package-$version.crate" -C "$outside"
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
        [ -s "$outside/$package-$version/$file" ] || { echo "the package $package has no $file"; exit 1; }
    done
    [ "$package" = shmrun ] || patches+=("$package = { path = \"$package-$version\" }")
done
awk '/^```/ { code = $0 == "```rust,no_run"; next } code' shmem-rt/README.md >"$outside/heat/src/main.rs"
cat >"$outside/heat/Cargo.toml" <<TOML
[package]
name = "heat"
version = "0.0.0"
edition = "2024"

[dependencies]
shmem-rt = "$version"
TOML
{
    printf '[workspace]\nresolver = "3"\nmembers = ["heat", "shmrun-%s"]\n\n[patch.crates-io]\n' "$version"
    printf '%s\n' "${patches[@]}"
    printf '\n'
    # The workspace's profiles, so that dependencies are not built again.
    awk '/^\[/ { profile = /^\[profile\.dev/ } profile' Cargo.toml
} >"$outside/Cargo.toml"
cp Cargo.lock "$outside"

cd "$outside"
# In a directory of its own, because other steps run the `shmrun` of the workspace meanwhile.
bin=$outside/built/debug
CARGO_PROFILE_DEV_LTO=fat CARGO_BUILD_BUILD_DIR=$target CARGO_TARGET_DIR=$outside/built cargo build --quiet --offline --workspace
for tool in clap object; do
    if cargo tree --offline --package heat --edges normal,build --prefix none | grep "^$tool v"; then
        echo "a program builds what only the commands need: $tool"
        exit 1
    fi
done
printf 'a program builds %s packages\n' "$(cargo tree --offline --package heat --edges normal,build --prefix none --no-dedupe | sort -u | wc -l)"

check() { # WHAT-IT-SAID
    sort "$1"
    [ "$(grep -cE '^PE [0-3] of 4: [0-9.]+ degrees$' "$1")" -eq 4 ] || { echo "not all four PEs have ended"; exit 1; }
    # It becomes colder from PE to PE.
    sort "$1" | awk '{ if (NR > 1 && $5 >= last) exit 1; last = $5 }' || { echo "the rod is not as it should be"; exit 1; }
}
SHMEM_NPES=4 "$bin/heat" >itself
check itself
"$bin/shmrun" -n 4 "$bin/heat" >launched
cmp <(sort itself) <(sort launched)
# Full link-time optimisation has left the statics where they are found.
"$bin/shmem-info" layout "$bin/heat" | grep heat::ROD
rm -rf "$outside"
