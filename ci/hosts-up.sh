#!/bin/bash
# Pretend hosts on this machine: h1..hN, each with namespaces of its own for network, host name, IPC, mounts and
# processes, and so with a /dev/shm that no other host sees. They meet on a bridge; this machine, "login", is on
# it as well. Needs root, or a user namespace in which one is root (`unshare -rnm`).
#
# usage: [HOSTS_BRIDGE=brshm0] [HOSTS_NET=10.77.0] [HOSTS_MTU=..] ci/hosts-up.sh [N=4] [DIR]
#
#   DIR/hostsh h2 COMMAND...     runs a command on a host; "login": on this machine, where the hosts' names are known
#   DIR/hostrsh h2 COMMAND...    the same as ssh takes it: what mpirun starts its daemons with (plm_rsh_agent)
#   ci/hosts-down.sh DIR         ends what runs there, and the hosts
#
# Several sets live at once if each has its DIR, its bridge and its network. The boot ID is this machine's on all
# of them: which PEs share memory is what a launcher says.
set -euo pipefail

number=${1:-4}
dir=${2:-${TMPDIR:-/tmp}/shmem-hosts}
bridge=${HOSTS_BRIDGE:-brshm0}
net=${HOSTS_NET:-10.77.0}
mtu=${HOSTS_MTU:+mtu $HOSTS_MTU}

fail() { # MESSAGE
    echo "$1" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "pretend hosts need root"
[ ! -e "$dir/pids" ] || fail "$dir/pids exists: ci/hosts-down.sh $dir first"

mkdir -p "$dir"
dir=$(readlink -f "$dir")
: >"$dir/pids"
echo "$net" >"$dir/net"
{
    echo "127.0.0.1 localhost"
    echo "$net.254 $(hostname -s) login"
    for i in $(seq "$number"); do echo "$net.$i h$i"; done
} >"$dir/hosts"

cat >"$dir/hostsh" <<'SH'
#!/bin/bash
# usage: hostsh HOST COMMAND ARGUMENT...
dir=$(dirname "$(readlink -f "$0")")
host=$1
shift
if [ "$host" = login ]; then
    exec unshare -m --propagation private sh -c 'mount --bind "$0" /etc/hosts; exec "$@"' "$dir/hosts" "$@"
fi
pid=$(cat "$dir/$host.pid") || exit 255
exec nsenter -t "$pid" -n -u -i -m -p --wd="$PWD" -- "$@"
SH
cat >"$dir/hostrsh" <<'SH'
#!/bin/bash
# usage: hostrsh [OPTION...] HOST WORD...     as ssh: the words are joined, and a shell on the host reads them
dir=$(dirname "$(readlink -f "$0")")
while [ "${1#-}" != "$1" ]; do
    case $1 in -o | -p | -l | -i) shift 2 ;; *) shift ;; esac
done
host=$1
shift
exec "$dir/hostsh" "$host" sh -c "$*"
SH
chmod +x "$dir/hostsh" "$dir/hostrsh"

# shellcheck disable=SC2086
{
    ip link add "$bridge" type bridge 2>/dev/null || fail "the bridge $bridge exists: HOSTS_BRIDGE names another"
    echo "$bridge" >"$dir/bridge"
    ip addr add "$net.254/24" dev "$bridge"
    ip link set "$bridge" up $mtu
}

# A sleeping process keeps a host's namespaces alive. Each host has files and directories of its own where programs
# expect them to be private to a machine.
host='
    hostname "$1"
    mount -t tmpfs -o size=4g tmpfs /dev/shm
    mount --bind "$2/hosts" /etc/hosts
    ip link set lo up
    : >"$2/$1.ready"
    exec sleep infinity'
for i in $(seq "$number"); do
    # When the first process of a PID namespace ends, all others in it end, too.
    unshare -n -u -i -m -p --mount-proc --fork --kill-child --propagation private \
        sh -c "$host" host "h$i" "$dir" </dev/null >/dev/null 2>&1 &
    outer=$!
    echo "$outer h$i" >>"$dir/pids"
    for _ in $(seq 100); do
        [ ! -e "$dir/h$i.ready" ] || break
        sleep 0.05
    done
    inner=$(pgrep -P "$outer" | head -n 1) || fail "h$i does not start: may namespaces be made here?"
    echo "$inner" >"$dir/h$i.pid"
    # shellcheck disable=SC2086
    {
        ip link add "${bridge}h$i" type veth peer name eth0 netns "$inner"
        ip link set "${bridge}h$i" master "$bridge" up $mtu
        nsenter -t "$inner" -n sh -c "
            ip addr add $net.$i/24 dev eth0
            ip link set eth0 up $mtu
            ip route add default via $net.254"
    }
done

# A host that reaches the bridge is refused at once on a port where nobody listens.
for i in $(seq "$number"); do
    answer=$("$dir/hostsh" "h$i" timeout 3 bash -c "exec 3<>/dev/tcp/$net.254/9" 2>&1 || true)
    [[ $answer == *refused* ]] || fail "h$i does not reach $net.254: $answer"
done
echo "hosts h1..h$number are up: $dir/hostsh h1 COMMAND"
