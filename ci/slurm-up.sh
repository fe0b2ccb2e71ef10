#!/bin/bash
# A Slurm of its own, for tests: munged, slurmctld, and a slurmd per node. Nothing in /etc is read or written.
# Needs root and these packages of Debian:
#   slurmd slurmctld slurm-client slurm-wlm-basic-plugins munge libpmix-dev
# (Slurm's plugin for PMIx opens libpmix.so without a version, which is in libpmix-dev.)
#
# usage: [HOSTS=DIR of ci/hosts-up.sh] [SLURM_PRIV_PORT=26817] ci/slurm-up.sh [N=4] [CPUS=4] [DIR]
#
# With HOSTS, a slurmd runs on each of the pretend hosts h1..hN; without, N of them (sn1..snN) run here. Then:
#   export SLURM_CONF=DIR/slurm.conf
#   srun --mpi=pmix -N4 --ntasks-per-node=2 PROGRAM
#   ci/slurm-down.sh DIR
# Several live at once if each has its DIR and its ports: N + 1 of them from SLURM_PRIV_PORT.
set -euo pipefail

number=${1:-4}
cpus=${2:-4}
dir=${3:-${TMPDIR:-/tmp}/shmem-slurm}
port=${SLURM_PRIV_PORT:-26817}
hosts=${HOSTS:-}

fail() { # MESSAGE
    echo "$1" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "Slurm needs root"
[ ! -e "$dir/pids" ] || fail "$dir/pids exists: ci/slurm-down.sh $dir first"
for program in munged slurmctld slurmd; do
    [ -x "/usr/sbin/$program" ] || fail "$program is not installed"
done

here=$(hostname -s)
name=sn
control=127.0.0.1
if [ -n "$hosts" ]; then
    name=h
    net=$(cat "$hosts/net")
    control=$net.254
fi

mkdir -p "$dir"/{munge,state,log,tmp}
dir=$(readlink -f "$dir")
chmod 755 "$dir" "$dir"/{munge,state,log}
chmod 1777 "$dir/tmp"
: >"$dir/pids"
started() { # NAME: the process last started in the background
    echo "$! $1" >>"$dir/pids"
}

dd if=/dev/urandom of="$dir/munge/munge.key" bs=1024 count=1 status=none
chmod 600 "$dir/munge/munge.key"
/usr/sbin/munged --foreground --force --num-threads=2 --key-file="$dir/munge/munge.key" \
    --socket="$dir/munge/sock" --pid-file="$dir/munge/pid" --log-file="$dir/log/munged.log" \
    --seed-file="$dir/munge/seed" >"$dir/log/munged.out" 2>&1 &
started munged
for _ in $(seq 50); do
    [ ! -S "$dir/munge/sock" ] || break
    sleep 0.1
done
munge -S "$dir/munge/sock" -n >/dev/null

# More tasks than cores are allowed, processes are neither bound nor put into cgroups.
{
    cat <<CONF
ClusterName=tests
SlurmctldHost=$here($control)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/sock
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
ReturnToService=2
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmdSpoolDir=$dir/spool-%n
StateSaveLocation=$dir/state
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
SlurmdParameters=config_overrides
InactiveLimit=0
KillWait=5
MinJobAge=10
SlurmctldTimeout=60
SlurmdTimeout=60
Waittime=0
CONF
    for i in $(seq "$number"); do
        mkdir -p "$dir/spool-$name$i"
        place="NodeHostname=$here NodeAddr=127.0.0.1"
        [ -z "$hosts" ] || place="NodeHostname=h$i NodeAddr=$net.$i"
        echo "NodeName=$name$i $place Port=$((port + i)) CPUs=$cpus RealMemory=1000 State=UNKNOWN"
    done
    echo "PartitionName=main Nodes=$name[1-$number] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES"
} >"$dir/slurm.conf"
echo "CgroupAutomount=no" >"$dir/cgroup.conf"
echo "PMIxCliTmpDirBase=$dir/tmp" >"$dir/mpi.conf"

export SLURM_CONF="$dir/slurm.conf"
/usr/sbin/slurmctld -D -i -f "$SLURM_CONF" >"$dir/log/slurmctld.out" 2>&1 &
started slurmctld
for i in $(seq "$number"); do
    # The plugin's directory for a step has the same name on all nodes: each slurmd gets its own.
    # shellcheck disable=SC2016
    node='mount -t tmpfs tmpfs "$0/tmp" && chmod 1777 "$0/tmp" && exec /usr/sbin/slurmd -D -f "$0/slurm.conf" -N "$1"'
    ${hosts:+"$hosts/hostsh" "h$i"} unshare -m --propagation private sh -c "$node" "$dir" "$name$i" \
        >"$dir/log/slurmd-$name$i.out" 2>&1 &
    started "slurmd-$name$i"
done

for _ in $(seq 100); do
    up=$(sinfo -h -N -o %T 2>/dev/null | grep -c '^idle$' || true)
    if [ "$up" -eq "$number" ]; then
        echo "Slurm is up with $number nodes: export SLURM_CONF=$SLURM_CONF"
        exit 0
    fi
    sleep 0.2
done
sinfo -N -l >&2 || true
fail "Slurm does not come up: see $dir/log"
