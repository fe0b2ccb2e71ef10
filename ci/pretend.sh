# What the steps on pretend hosts have in common. Sourced by them, in bash.
#
# Such a step runs in namespaces of its own, so names and addresses of steps do not collide, and all processes of a step end with
# it. So several steps run at once.
# shellcheck shell=bash

own=(unshare -n -m -u -i -p --fork --kill-child --mount-proc)

is_inside() {
    [ -n "${PRETEND_INSIDE:-}" ]
}

# Whether pretend hosts can be had, with these packages; otherwise it says why not.
can_pretend() { # PACKAGE...
    if ! ci/install "$@"; then
        echo "skipped: not on several hosts: packages are missing (see above)"
        return 1
    elif ! "${own[@]}" true 2>/dev/null; then
        echo "skipped: not on several hosts: this user may not make namespaces (unshare -n)"
        return 1
    fi
}

# Runs the script again, inside.
enter() { # ARGUMENT...
    PRETEND_INSIDE=1 exec "${own[@]}" "$0" "$@"
}

# The file that `cargo test` has built.
binary() { # TEST
    cargo test --workspace --no-run --message-format=json --test "$1" 2>/dev/null |
        sed -n 's/.*"test":true},"features".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}

# Inside: a directory, which goes with the hosts in it when the script ends.
begin() {
    unset PRETEND_INSIDE
    work=$(mktemp -d)
    trap end EXIT
    ip link set lo up
}
end() {
    local hosts
    for hosts in "$work"/set[0-9]*; do
        [ ! -e "$hosts/pids" ] || ci/hosts-down.sh "$hosts" || true
    done
    rm -rf "$work"
}

# Makes a set of hosts: $work/setK. With a delay: also the second network between them, which can be slowed down and
# cut.
hosts_up() { # K HOSTS [DELAY-MS]
    local dir=$work/set$1
    HOSTS_BRIDGE=pretend$1 HOSTS_NET=10.77.$1 ci/hosts-up.sh "$2" "$dir"
    [ -n "${3:-}" ] || return 0
    ci/netdelay.py --dir "$dir" --net "10.78.$1" --delay-ms "$3" >"$dir/switch" &
    until grep -q "netdelay up" "$dir/switch"; do
        kill -0 $! || { cat "$dir/switch"; return 1; }
        sleep 0.1
    done
}

# The words of a launcher: mpirun on a set of hosts, with so many PEs on each.
mpirun_on() { # K HOSTS PES-PER-HOST
    local dir=$work/set$1 net list='' i
    net=$(cat "$dir/net").0/24
    for i in $(seq "$2"); do list=$list,h$i:$3; done
    # Open MPI starts its daemons as root only when asked twice, and more than a PE for each core when asked.
    echo "timeout 120 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $dir/hostsh login mpirun \
        --mca plm rsh --mca plm_rsh_agent $dir/hostrsh --mca oob_tcp_if_include $net --mca btl_tcp_if_include $net \
        --host ${list#,} --oversubscribe -np {pes}"
}
