#!/usr/bin/env python3
"""A second network between the pretend hosts of ci/hosts-up.sh, slow, lossy or cut on request.

Every host gets an interface dly0 (10.78.0.K/24), a TAP device. This program is the switch between them: it holds
frames back, drops, doubles and reorders them, and parts the network. (Linux has sch_netem for that, which not every
kernel was built with.) What goes over the bridge, launchers for example, is not touched.

  netdelay.py [--dir DIR] [--net 10.78.0] [--delay-ms 5] [--jitter-ms 0] [--loss 0.0] [--dup 0.0] [--mbit 0] &

It prints "netdelay up" when all interfaces are there. Lines written to DIR/netdelay.ctl change it:
"delay 20", "jitter 3", "loss 0.05", "dup 0.01", "mbit 100", "cut 1 2" (h1 and h2 no longer hear each other), "heal".
When that is done, the file DIR/netdelay.done is there. SIGTERM ends it.
"""

import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
MAC = b"\x02\x78\0\0\0"  # and the number of the host
MOST_FRAMES = 64  # read from one host before the others have their turn


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "shmem-hosts"))
    parser.add_argument("--net", default="10.78.0")
    parser.add_argument("--delay-ms", type=float, default=5)
    parser.add_argument("--jitter-ms", type=float, default=0)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--dup", type=float, default=0)
    parser.add_argument("--mbit", type=float, default=0)
    return parser.parse_args()


def enter(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def tap(pid, host, net):
    """A TAP device dly0 in the network of a process; its frames are read and written here."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    enter(there)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"dly0", IFF_TAP | IFF_NO_PI))
    enter(here)
    os.close(there)
    os.close(here)
    setup = f"ip link set dly0 address 02:78:00:00:00:{host:02x} up; ip addr add {net}.{host}/24 dev dly0"
    subprocess.run(["nsenter", "-t", pid, "-n", "sh", "-c", setup], check=True)
    return device


class Switch:
    def __init__(self, devices, behaviour):
        self.devices = devices  # by the number of the host
        self.hosts = {device: host for host, device in devices.items()}
        self.behaviour = behaviour
        self.cut = set()
        self.queue = []  # (when, order, host, frame)
        self.order = 0
        self.free = {}  # when the line to a host has sent what was given to it

    def wait(self):
        """Milliseconds until the next frame is due."""
        return max(0, (self.queue[0][0] - time.monotonic()) * 1000) if self.queue else 1000

    def command(self, line):
        words = line.split()
        if not words:
            return
        if words[0] == "cut":
            a, b = int(words[1]), int(words[2])
            self.cut |= {(a, b), (b, a)}
        elif words[0] == "heal":
            self.cut.clear()
        elif words[0] in self.behaviour:
            self.behaviour[words[0]] = float(words[1])
        else:
            print(f"netdelay: not understood: {line}", file=sys.stderr, flush=True)

    def take(self, device):
        source = self.hosts[device]
        for _ in range(MOST_FRAMES):
            try:
                frame = os.read(device, 65536)
            except BlockingIOError:
                return
            target = frame[5] if frame[:5] == MAC else None
            for host in [target] if target in self.devices else [host for host in self.devices if host != source]:
                self.hold(source, host, frame)

    def hold(self, source, host, frame):
        behaviour = self.behaviour
        if (source, host) in self.cut or random.random() < behaviour["loss"]:
            return
        for _ in range(2 if random.random() < behaviour["dup"] else 1):
            delay = behaviour["delay"] + random.uniform(-1, 1) * behaviour["jitter"]
            when = time.monotonic() + delay / 1e3
            if behaviour["mbit"]:
                when = max(when, self.free.get(host, 0)) + len(frame) * 8 / (behaviour["mbit"] * 1e6)
                self.free[host] = when
            self.order += 1
            heapq.heappush(self.queue, (when, self.order, host, frame))

    def deliver(self):
        now = time.monotonic()
        while self.queue and self.queue[0][0] <= now:
            _, _, host, frame = heapq.heappop(self.queue)
            try:
                os.write(self.devices[host], frame)
            except OSError:
                pass  # no room, or the host is gone: lost, as on any network


def main():
    given = arguments()
    numbers = sorted(int(name[1:-4]) for name in os.listdir(given.dir) if name[0] == "h" and name.endswith(".pid"))
    devices = {}
    for host in numbers:
        with open(f"{given.dir}/h{host}.pid", encoding="ascii") as file:
            devices[host] = tap(file.read().strip(), host, given.net)
    behaviour = {
        "delay": given.delay_ms,
        "jitter": given.jitter_ms,
        "loss": given.loss,
        "dup": given.dup,
        "mbit": given.mbit,
    }
    switch = Switch(devices, behaviour)

    control = f"{given.dir}/netdelay.ctl"
    if not os.path.exists(control):
        os.mkfifo(control)
    commands = os.open(control, os.O_RDWR | os.O_NONBLOCK)
    poll = select.poll()
    for descriptor in [*switch.hosts, commands]:
        poll.register(descriptor, select.POLLIN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("netdelay up", numbers, behaviour, flush=True)
    while True:
        for descriptor, _ in poll.poll(switch.wait()):
            if descriptor == commands:
                for line in os.read(commands, 4096).decode().splitlines():
                    switch.command(line)
                with open(f"{given.dir}/netdelay.done", "w", encoding="ascii"):
                    pass
            else:
                switch.take(descriptor)
        switch.deliver()


main()
