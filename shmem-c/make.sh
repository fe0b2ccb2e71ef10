#!/bin/sh
# Builds the C library and installs it with all that a program in C needs: libraries, headers, compilers' wrappers, the
# launcher, and what pkg-config and CMake look for.
#
# usage: shmem-c/make.sh [--debug] [PREFIX]
#   --debug  built without optimisation, in less time
#   PREFIX   where to (else the variable PREFIX, else ~/.local)
# Takes Rust and a C compiler ($CC, else cc), by which the shared library is linked. Cargo is $CARGO, else cargo. For another
# machine: $CARGO_BUILD_TARGET, its compiler in $CC, its binutils in $LD, $OBJCOPY and $AR, and what runs its programs here in $RUNNER.
set -eu

profile=release flag=--release
if [ "${1-}" = --debug ]; then
    profile=debug flag= && shift
fi
case ${1-} in
-*) sed -n 's/^# usage: /usage: /p' "$0" >&2 && exit 2 ;;
esac
prefix=${1:-${PREFIX:-$HOME/.local}}
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."

# shellcheck disable=SC2086
${CARGO:-cargo} build $flag -p shmem-c -p shmrun
built=${CARGO_TARGET_DIR:-target}/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}$profile
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/OpenSHMEM" "$prefix/include" "$prefix/bin"
# Under another name first: programs that run keep what they have.
new=$prefix/lib/.libshmem.$$
trap 'rm -f "$new"*' EXIT
"${CC:-cc}" -shared -o "$new" -Wl,-soname,libshmem.so.1 -Wl,--version-script="$here/install/libshmem.map" \
    -Wl,--gc-sections -Wl,-z,now -Wl,-z,nodelete -Wl,--build-id -Wl,--whole-archive "$built/libshmem_c.a" -Wl,--no-whole-archive \
    -lgcc_s -lpthread -ldl -lrt -lm
mv "$new" "$prefix/lib/libshmem.so.1"
ln -sf libshmem.so.1 "$prefix/lib/libshmem.so"

# The static library is one object that has the same names, so that a program may have other parts in Rust.
sed -n '/^global:/,/^local:/s/^ *\([a-z_*]*\);$/\1/p' "$here/install/libshmem.map" >"$new.names"
"${LD:-ld}" -r --whole-archive -o "$new.o" "$built/libshmem_c.a"
"${OBJCOPY:-objcopy}" --wildcard --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd --keep-global-symbols="$new.names" "$new.o"
rm -f "$new.a"
"${AR:-ar}" rcs "$new.a" "$new.o"
mv "$new.a" "$prefix/lib/libshmem.a"

cp -R "$here/include/." "$prefix/include/"
# shellcheck disable=SC2086
${RUNNER:-} "$built/shmem-c-table" "$prefix"
sed "s/@VERSION@/$version/" "$here/install/shmem.pc" >"$prefix/lib/pkgconfig/shmem.pc"
cp "$here/install/OpenSHMEMConfig.cmake" "$here/install/OpenSHMEMConfigVersion.cmake" "$prefix/lib/cmake/OpenSHMEM/"
install -m 755 "$built/shmrun" "$built/shmem-info" "$here/install/oshcc" "$here/install/oshrun" "$prefix/bin/"
install -m 755 "$here/install/oshcc" "$prefix/bin/oshc++"
ln -sf oshc++ "$prefix/bin/oshcxx"
ln -sf oshc++ "$prefix/bin/oshCC"
echo "installed in $prefix"
