"""What Linux itself refuses a child, whatever language its code is written in: Landlock and a seccomp filter.

Both need no privilege and cannot be undone by the process. Where the kernel lacks one, the audit hook in `guard`
still refuses what Python asks for; `confine` returns the names of what took hold.

Sources: Documentation/userspace-api/landlock.rst and seccomp_filter.rst of the Linux kernel; system call numbers from
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Any

PR_SET_PDEATHSIG, PR_SET_NAME, PR_GET_NAME, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 15, 16, 22, 38
SECCOMP_MODE_FILTER = 2
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446  # the same number on every architecture
LANDLOCK_RULE_PATH_BENEATH = 1

# Access rights of struct landlock_ruleset_attr.handled_access_fs, by the ABI version that brought them.
EXECUTE, WRITE_FILE = 1 << 0, 1 << 1
CHANGES = sum(1 << bit for bit in range(4, 13))  # remove dir, file; make char, dir, reg, sock, fifo, block, sym
REFER, TRUNCATE = 1 << 13, 1 << 14
NET_TCP = 0b11  # bind, connect
SCOPES = 0b11  # abstract unix sockets, signals

CLONE_THREAD = 0x10000
AF_UNIX = 1

_DENIED: dict[str, dict[str, Any]] = {
    "x86_64": {
        "audit": 0xC000003E,
        "socket": 41,
        "clone": 56,
        "clone3": 435,
        # connect bind fork vfork execve kill truncate chmod fchmod chown fchown lchown ptrace utime mount umount2
        # reboot init_module *setxattr *removexattr kexec_load fchownat futimesat fchmodat unshare utimensat setns
        # process_vm_writev finit_module bpf execveat pidfd_send_signal io_uring_setup fchmodat2
        "others": """42 49 57 58 59 62 76 90 91 92 93 94 101 132 165 166 169 175 188 189 190 197 198 199 246 260 261 268
            272 280 308 311 313 321 322 424 425 452""",
    },
    "aarch64": {
        "audit": 0xC00000B7,
        "socket": 198,
        "clone": 220,
        "clone3": 435,
        # the same list without the calls that this architecture never had
        "others": """203 200 221 129 45 52 53 54 55 117 40 39 142 105 5 6 7 14 15 16 104 97 88 268 271 273 280 281
            424 425 452""",
    },
}


def confine(private: str) -> list[str]:
    """Refuse this process writes outside `private`, programs, child processes and network; the names of what holds."""
    if not sys.platform.startswith("linux"):
        return []
    libc = ctypes.CDLL(None, use_errno=True)
    held = []
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        if _landlock(libc, private):
            held.append("landlock")
        if _seccomp(libc):
            held.append("seccomp")
    return held


def die_with_parent() -> None:
    """Ask Linux to kill this process when the one that forked it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)


def rename(name: bytes) -> bytes:
    """Have the process be listed by another name of at most 15 bytes; the one it had."""
    before = ctypes.create_string_buffer(16)
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None)
        libc.prctl(PR_GET_NAME, before, 0, 0, 0)
        libc.prctl(PR_SET_NAME, name, 0, 0, 0)
    return before.value


def _landlock(libc: ctypes.CDLL, private: str) -> bool:
    version = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    files = EXECUTE | WRITE_FILE | CHANGES | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("=QQQ", files, NET_TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    attributes = attributes[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        on_a_file = WRITE_FILE | (files & TRUNCATE)
        for path, access in ((private, files & ~EXECUTE), ("/dev/null", on_a_file), ("/dev/zero", on_a_file)):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", access, beneath)
                if libc.syscall(LANDLOCK_ADD, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0):
                    return False
            finally:
                os.close(beneath)
        return bool(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _seccomp(libc: ctypes.CDLL) -> bool:
    table = _DENIED.get(platform.machine())
    if table is None:
        return False
    program = _filter(table)
    buffer = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    described = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0) == 0)


def _filter(table: dict[str, Any]) -> bytes:
    """The classic BPF program: struct seccomp_data is {int nr; u32 arch; u64 ip; u64 args[6]}, little endian here."""
    load, equal, at_least, any_bit, leave = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, kill, refuse = 0x7FFF0000, 0x80000000, 0x00050000
    number, architecture, first_argument = 0, 4, 16

    def instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)

    program = [
        instruction(load, architecture),
        instruction(equal, table["audit"], 1, 0),
        instruction(leave, kill),
        instruction(load, number),
        # The x32 calls of x86_64 carry this bit: another way to everything that is refused here.
        instruction(at_least, 0x40000000, 0, 1),
        instruction(leave, refuse | errno.ENOSYS),
    ]
    for other in map(int, table["others"].split()):
        program += [instruction(equal, other, 0, 1), instruction(leave, refuse | errno.EACCES)]
    return b"".join(
        [
            *program,
            # With ENOSYS the C library falls back from clone3, whose flags a filter cannot see, to clone.
            instruction(equal, table["clone3"], 0, 1),
            instruction(leave, refuse | errno.ENOSYS),
            instruction(equal, table["clone"], 0, 4),
            instruction(load, first_argument),
            instruction(any_bit, CLONE_THREAD, 0, 1),
            instruction(leave, allow),
            instruction(leave, refuse | errno.EAGAIN),
            instruction(equal, table["socket"], 0, 3),
            instruction(load, first_argument),
            instruction(equal, AF_UNIX, 1, 0),
            instruction(leave, refuse | errno.EACCES),
            instruction(leave, allow),
        ]
    )
