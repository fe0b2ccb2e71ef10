#!/usr/bin/env python3
"""Runs a program without some system calls: each of them fails, as in a container whose seccomp profile refuses it.

usage: ci/without.py CALL[,CALL..] PROGRAM ARGUMENT..."""
import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {
    "x86_64": {"memfd_create": 319, "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239, "move_pages": 279,
               "sched_setaffinity": 203, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
               "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438, "kcmp": 312},
    "aarch64": {"memfd_create": 279, "mbind": 235, "set_mempolicy": 237, "get_mempolicy": 236, "move_pages": 239,
                "sched_setaffinity": 122, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
                "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438, "kcmp": 272},
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000

code = [(LOAD_NUMBER, 0, 0, 0)]
for call in sys.argv[1].split(","):
    code += [(JUMP_IF_EQUAL, 0, 1, NUMBERS[platform.machine()][call]), (RETURN, 0, 0, FAIL | errno.EPERM)]
code += [(RETURN, 0, 0, ALLOW)]
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in code))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filters", ctypes.c_void_p)]


program = Program(len(code), ctypes.cast(filters, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[2], sys.argv[2:])
