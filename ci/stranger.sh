#!/bin/bash
# Runs README's two commands, read from README, as a newcomer would: as an ordinary user with a fresh home, in a clean clone of
# what is committed, with few descriptors, little lockable memory and a small /dev/shm, as in a container. Nothing but Rust is
# installed for the tests, because libraries that other steps have installed are hidden. Afterwards no process may still run, and
# the clone must be unchanged.
#
# Needs root to become that user. Without root, it says so and runs the commands in this directory.
#
# usage: ci/stranger.sh [COMMAND...]      and then COMMAND in that clone, as who runs this, with what has been built there
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t commands < <(awk '/^## / { inside = $0 == "## Two commands" } /^```/ { code = inside && $0 == "```sh"; next } code' README.md)
if [ "${#commands[@]}" -ne 2 ]; then
    echo "README's section \"Two commands\" has ${#commands[@]}:"
    printf '%s\n' "${commands[@]}"
    exit 1
fi
# The tests first, since the other command makes a release build.
commands=("${commands[1]}" "${commands[0]}")
# As in test.sh, which goes on with this build.
export CARGO_INCREMENTAL=0

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
failed() { # WHAT: in the last lines, as ci/test.sh does
    echo
    echo "FAILED: $1"
    echo "repeat it alone: ci/stranger.sh"
    exit 1
}
here() { # WHY-NOT-ELSEWHERE
    echo "skipped: README's commands as an ordinary user ($1)"
    for command in "${commands[@]}"; do
        echo "$ $command"
        bash -c "$command" </dev/null || failed "README's command \"$command\" (exit code $?)"
    done
    down
    exec "${after[@]}"
}
after=("${@:-true}")
[ "$(id -u)" -eq 0 ] || here "only root can become one"
for tool in useradd userdel setpriv pgrep; do
    command -v "$tool" >/dev/null || here "there is no $tool"
done
useradd --create-home --home-dir "$home" --shell /bin/bash "$name" 2>/dev/null || here "none can be made"

# The compiler in use, or a copy of it, if other users cannot reach it.
toolchain=$(rustc --print sysroot)
"$toolchain/bin/rustc" --version
as() { # COMMAND...: as the user, with an environment of a login and no more
    setpriv --reuid "$name" --regid "$name" --init-groups --inh-caps=-all \
        env -i HOME="$home" USER="$name" LANG=C.UTF-8 CARGO_INCREMENTAL="$CARGO_INCREMENTAL" \
        PATH="$toolchain/bin:/usr/local/bin:/usr/bin:/bin" "$@"
}
if ! as cargo --version >/dev/null 2>&1; then
    copy=$place/rust
    cp -al "$toolchain" "$copy" 2>/dev/null || { rm -rf "$copy" && cp -a "$toolchain" "$copy"; }
    chmod -R o+rX "$copy"
    toolchain=$copy
fi
# Crates that cargo has fetched are taken over, and nothing else of the other home.
registry=${CARGO_HOME:-$HOME/.cargo}/registry
if [ -d "$registry/cache" ]; then
    mkdir -p "$home/.cargo/registry"
    cp -a "$registry/cache" "$registry/index" "$home/.cargo/registry/"
fi
clone=$home/clone
git clone --quiet . "$clone"
chown -R "$name:" "$home"

# A mount namespace, if one can be made.
room="as in the system"
inside=(env)
bare() { # COMMAND...
    local hidden file
    hidden=$place/hidden$$
    mkdir "$hidden"
    mount -t tmpfs tmpfs "$hidden"
    mkdir "$hidden/over" "$hidden/work"
    # Hides files of these packages in /usr, by an overlay in which each is a device 0:0, which means that it does not exist.
    for file in $(dpkg -L libfabric1 libfabric-dev libpmix2 libpmix-dev openmpi-bin libopenmpi-dev libopenmpi3 2>/dev/null); do
        if [[ $file == /usr/* ]] && ! [[ $file == /usr/share/* ]] && [ ! -d "$file" ]; then
            mkdir -p "$hidden/over${file%/*}"
            [ -e "$hidden/over$file" ] || mknod "$hidden/over$file" c 0 0
        fi
    done
    [ ! -d "$hidden/over/usr" ] ||
        mount -t overlay overlay -o "lowerdir=/usr,upperdir=$hidden/over/usr,workdir=$hidden/work" /usr
    mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm
    exec "$@"
}
export -f bare
export place
if unshare --mount bash -e -c 'bare true' 2>/dev/null; then
    room="64M, nothing but Rust"
    # shellcheck disable=SC2016
    inside=(unshare --mount bash -e -c 'bare "$@"' bash)
fi
export -f as
export name home toolchain
for command in "${commands[@]}"; do
    echo "$ $command      (as $name, /dev/shm $room)"
    start=$SECONDS
    (
        ulimit -n 1024
        ulimit -l 64
        exec "${inside[@]}" bash -c 'cd "$0" && as bash -c "$1"' "$clone" "$command" </dev/null
    ) || failed "README's command \"$command\" (exit code $?)"
    echo "-- $((SECONDS - start)) s"
done
if ! [ -s "$clone/heat2d.png" ]; then
    failed "there is no picture heat2d.png"
fi
left=$(pgrep -a -U "$name" || true)
if [ -n "$left" ]; then
    failed "still there when all was over: $left"
fi
changed=$(as git -C "$clone" status --porcelain)
if [ -n "$changed" ]; then
    failed "left in the clone, though nobody asked for it: $changed"
fi

chown -R root: "$clone"
cd "$clone"
# With the crates that the clone was built with.
CARGO_HOME=$home/.cargo "${after[@]}"
