#!/usr/bin/env bash
# Builds the programs of this folder, runs each on as many PEs as its head says, and closes with `N passed, N failed`.
#
#     PATH=PREFIX/bin:$PATH ./run.sh [NAME..]
#
# Environment:
#   OSHCC, OSHCXX  compilers (oshcc, oshc++)            OUT    where programs go (a temporary folder)
#   OSHRUN         what starts PEs, up to their number  LIMIT  seconds that a run may take (60)
#                  (oshrun -np)                         PES    numbers of PEs that are wanted at all (1 2 3 4 5)
#   LIST           names of programs; others are left   SINCE  the library's version of OpenSHMEM (1.6)
#   CFLAGS         further options of the compilers     CHECK  set: leave out what is wrong on purpose
#   LOUD           set: programs may print          BUILT  set: programs that are in OUT are not built again
#   LDFLAGS        further options of the linker
#
# The head of a program, one line each:
#   pes: 1 3       the numbers of PEs it runs on        status: 7   how it ends (0; nonzero: any but 0)
#   since: 1.5     the first version that has all of it says: TEXT  what has to be printed then (extended regular expression)
#   flags: -O0     options of the compiler              env: A=1    its environment
#   cases: a b=TEXT  it runs once with each as argument, and TEXT has to be printed then
set -u
shopt -s nullglob
here=$(cd "$(dirname "$0")" && pwd)
: "${OSHCC:=oshcc}" "${OSHCXX:=oshc++}" "${OSHRUN:=oshrun -np}" "${LIMIT:=60}" "${PES:=1 2 3 4 5}" "${SINCE:=1.6}"
: "${CFLAGS:=}" "${LDFLAGS:=}" "${LIST:=}"
[ $# -gt 0 ] && LIST="$*"
LIST=${LIST//$'\n'/ }
if [ -z "${OUT:-}" ]; then
    OUT=$(mktemp -d) && trap 'rm -rf "$OUT"' EXIT
fi
mkdir -p "$OUT"
export OSHCC OSHCXX OUT here CFLAGS LDFLAGS

head_of() { # file, key
    sed -n "1,20s|^/\* $2: \(.*\) \*/\$|\1|p" "$1"
}
export -f head_of

build() { # file
    local name flags
    name=$(basename "$1")
    flags=$(head_of "$1" flags)
    case $1 in
    *.c) $OSHCC -std=${STD:-gnu11} -O1 -g -Wall -Wextra -I"$here" $flags $CFLAGS "$1" -o "$OUT/${name%.*}" -lpthread -lm $LDFLAGS ;;
    *) $OSHCXX -std=${CXXSTD:-gnu++17} -O1 -g -Wall -Wextra -I"$here" $flags $CFLAGS "$1" -o "$OUT/${name%.*}" -lpthread -lm $LDFLAGS ;;
    esac >"$OUT/${name%.*}.build" 2>&1 || rm -f "$OUT/${name%.*}"
}
export -f build

programs=() sources=()
for file in "$here"/*.c "$here"/*.cpp; do
    name=$(basename "$file")
    name=${name%.*}
    [ -z "$LIST" ] || [[ " $LIST " == *" $name "* ]] || continue
    since=$(head_of "$file" since)
    [ "$(printf '%s\n' "${since:-1.0}" "$SINCE" | sort -V | tail -1)" = "$SINCE" ] || continue
    [ -z "${CHECK:-}" ] || [ -z "$(head_of "$file" status)" ] || continue
    programs+=("$file")
    [ -n "${BUILT:-}" ] && [ -x "$OUT/$name" ] && continue
    rm -f "$OUT/$name"
    sources+=("$file")
done
[ ${#sources[@]} -gt 0 ] && printf '%s\0' "${sources[@]}" | xargs -0 -n1 -P"$(nproc)" bash -c 'build "$0"'

passed=0
failed=0
# Heads hold regular expressions, which are no names of files.
set -f
fault() { # what, file with output
    failed=$((failed + 1))
    echo "FAILED $1"
    tail -n 12 "$2" | sed 's/^/    /'
}

run() { # file, name, pes, case
    local what="$2${4:+ ${4%%=*}} on $3 PEs" out="$OUT/$2.out" status wanted says env
    wanted=$(head_of "$1" status)
    says=$(head_of "$1" says)
    [[ $4 == *=* ]] && says=${4#*=} && set -- "$1" "$2" "$3" "${4%%=*}"
    env=$(head_of "$1" env)
    # How long one waits for another is the machine's affair.
    env EXPECTED_PES="$3" SHMEM_WAIT_WARN=0 $env timeout -k 5 "$LIMIT" $OSHRUN "$3" "$OUT/$2" $4 >"$out" 2>&1 </dev/null
    status=$?
    # What was not checked is no mistake: much is done at once, and an optimised library checks less.
    [ -z "${CHECK:-}" ] || sed -i '/^shmem: check: warning: /d' "$out"
    if [ $status = 124 ] || [ $status = 137 ]; then
        fault "$what: no end within $LIMIT s" "$out"
    elif [ "${wanted:=0}" = nonzero ] && [ $status = 0 ] || [ "$wanted" != nonzero ] && [ $status != "$wanted" ]; then
        fault "$what: status $status, expected $wanted" "$out"
    elif [ -n "$says" ] && ! grep -Eq -- "$says" "$out"; then
        fault "$what: does not say '$says'" "$out"
    elif [ "$wanted" = 0 ] && [ -z "$says" ] && [ -s "$out" ] && [ -z "${LOUD:-}" ]; then
        fault "$what: prints something" "$out"
    else
        passed=$((passed + 1))
    fi
}

for file in "${programs[@]}"; do
    name=$(basename "$file")
    name=${name%.*}
    if [ ! -x "$OUT/$name" ]; then
        fault "$name: is not built" "$OUT/$name.build"
        continue
    fi
    if [ -s "$OUT/$name.build" ]; then
        fault "$name: built with warnings" "$OUT/$name.build"
    fi
    cases=$(head_of "$file" cases)
    for pes in $(head_of "$file" pes); do
        [[ " $PES " == *" $pes "* ]] || continue
        if [ -z "$cases" ]; then
            run "$file" "$name" "$pes" ""
        else
            for case in $cases; do run "$file" "$name" "$pes" "$case"; done
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
