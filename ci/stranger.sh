#!/bin/bash
# README's two commands, read from README, as somebody runs them who has just found this: an ordinary user in a fresh
# home, in a clean clone of what is committed, with the oldest compiler that Cargo.toml promises (`rust-version`), with few
# descriptors, little memory that may be locked and a small /dev/shm, as in a container. Nothing runs on behind them. The
# compiler in use here runs the same tests in unit.sh.
#
# Needs root, to be somebody else; says so where it is not.
#
# usage: ci/stranger.sh [RUN]      only the first RUN commands of the two, from the last: 1 is the test command alone
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped: $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "README's commands as an ordinary user (only root can become one)"
for tool in useradd userdel setpriv pgrep; do
    command -v "$tool" >/dev/null || skip "README's commands as an ordinary user (there is no $tool)"
done

mapfile -t commands < <(awk '/^## / { inside = $0 == "## Two commands" } /^```/ { code = inside && $0 == "```sh"; next } code' README.md)
if [ "${#commands[@]}" -ne 2 ]; then
    echo "README's section \"Two commands\" has ${#commands[@]}:"
    printf '%s\n' "${commands[@]}"
    exit 1
fi
# The tests first: who tries a program takes a release build.
commands=("${commands[1]}" "${commands[0]}")

name=stranger$$
place=$(mktemp -d "${TMPDIR:-/var/tmp}/$name.XXXXXX")
chmod 755 "$place"
down() {
    pkill -KILL -U "$name" 2>/dev/null || true
    userdel "$name" 2>/dev/null || true
    rm -rf "$place"
}
trap down EXIT
home=$place/home
useradd --create-home --home-dir "$home" --shell /bin/bash "$name" 2>/dev/null ||
    skip "README's commands as an ordinary user (none can be made here)"

# The oldest compiler, or else the one in use here; where it is, or, if that is out of others' reach, a copy of it.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! rustc "+$oldest" --version >/dev/null 2>&1 &&
    ! timeout 300 rustup toolchain install "$oldest" --profile minimal --no-self-update >/dev/null 2>&1; then
    echo "skipped: Rust $oldest is not here, and cannot be fetched (rustup toolchain install $oldest); another one is taken"
    oldest=
fi
toolchain=$(rustc ${oldest:+"+$oldest"} --print sysroot)
"$toolchain/bin/rustc" --version
as() { # COMMAND...: as the user, with an environment of a login and no more
    setpriv --reuid "$name" --regid "$name" --init-groups --inh-caps=-all \
        env -i HOME="$home" USER="$name" LANG=C.UTF-8 PATH="$toolchain/bin:/usr/local/bin:/usr/bin:/bin" "$@"
}
if ! as cargo --version >/dev/null 2>&1; then
    copy=$place/rust
    cp -al "$toolchain" "$copy" 2>/dev/null || { rm -rf "$copy" && cp -a "$toolchain" "$copy"; }
    chmod -R o+rX "$copy"
    toolchain=$copy
fi
# What has been fetched need not be fetched again; nothing else of the other home.
registry=${CARGO_HOME:-$HOME/.cargo}/registry
if [ -d "$registry/cache" ]; then
    mkdir -p "$home/.cargo/registry"
    cp -a "$registry/cache" "$registry/index" "$home/.cargo/registry/"
fi
clone=$home/clone
git clone --quiet . "$clone"
chown -R "$name:" "$home"

# A place of its own for mounts, where there may be one.
room="as in the system"
inside=(env)
if unshare --mount mount -t tmpfs -o size=64m tmpfs /dev/shm 2>/dev/null; then
    room=64M
    # shellcheck disable=SC2016
    inside=(unshare --mount bash -c 'mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm && exec "$@"' bash)
fi
ulimit -n 1024
ulimit -l 64
export -f as
export name home toolchain
for command in "${commands[@]:0:${1:-2}}"; do
    echo "$ $command      (as $name, /dev/shm $room)"
    start=$SECONDS
    "${inside[@]}" bash -c 'cd "$0" && as bash -c "$1"' "$clone" "$command" </dev/null
    echo "-- $((SECONDS - start)) s"
done
if [ "${1:-2}" -eq 2 ] && ! [ -s "$clone/heat2d.png" ]; then
    echo "there is no picture heat2d.png"
    exit 1
fi
left=$(pgrep -a -U "$name" || true)
if [ -n "$left" ]; then
    printf 'still there when all was over:\n%s\n' "$left"
    exit 1
fi
changed=$(as git -C "$clone" status --porcelain)
if [ -n "$changed" ]; then
    printf 'left in the clone, though nobody asked for it:\n%s\n' "$changed"
    exit 1
fi
