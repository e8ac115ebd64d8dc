"""What containers and images say of themselves, so that whoever comes later finds them again."""

from __future__ import annotations

import getpass
import os

LABEL_OWNER = "jupyter-paddle-gpu.owner"
LABEL_JOB = "jupyter-paddle-gpu.job"
LABEL_STORE = "jupyter-paddle-gpu.store"
LABEL_SERVER = "jupyter-paddle-gpu.server"
LABEL_ROLE = "jupyter-paddle-gpu.role"
LABEL_DEVICES = "jupyter-paddle-gpu.devices"
"""The devices that a job was given, by the ids under which they are claimed, with commas between them."""
LABEL_SHARES = "jupyter-paddle-gpu.shares"
"""Bytes of the memory of each of them that the job may take; without it they are the job's as a whole."""


def owner() -> str:
    """Who the containers belong to: the numeric user id, which is the same for server, command and magic.

    Windows has no such id, and one user behind Docker Desktop: there it is the user's name.
    """
    return str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()


def owner_name(label: str) -> str:
    """The name of an owner where this machine knows one, else the label."""
    try:
        import pwd

        return pwd.getpwuid(int(label)).pw_name
    except (ImportError, ValueError, KeyError, OverflowError):
        return label
