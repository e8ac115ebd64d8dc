"""Where this installation keeps its data and what it allows: the one thing that faces hand to `Services`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

DATA_VARIABLE = "PADDLE_GPU_DATA"
"""Environment variable that names another data folder (tests, a shared folder for several machines)."""


POLICY_FILE = "paddle-gpu.yaml"
"""Name of the policy file beside a notebook, in the data folder and in the system's."""
OLD_POLICY_FILE = "policy.json"
"""Its name before; read where there is no new one beside it."""
POLICY_VARIABLE = "PADDLE_GPU_POLICY"
"""Environment variable that names the policy file for every face of a place."""


def named_policy_file() -> Path | None:
    """The file that `$PADDLE_GPU_POLICY` names."""
    named = os.environ.get(POLICY_VARIABLE)
    return Path(named).expanduser().absolute() if named else None


def policy_in(folder: Path) -> Path:
    """The policy file of a folder: under its name, or where only one with the old name is there, that."""
    new, old = folder / POLICY_FILE, folder / OLD_POLICY_FILE
    return old if old.exists() and not new.exists() else new


def system_policy_file() -> Path:
    """The administrator's file. It has one place, which no variable and no setting moves: what it fixes holds."""
    return policy_in(Path("C:/ProgramData" if os.name == "nt" else "/etc", "paddle-gpu"))


def default_data_folder() -> Path:
    """The user's data folder: `$PADDLE_GPU_DATA`, else `paddle_gpu` in Jupyter's data folder."""
    if named := os.environ.get(DATA_VARIABLE):
        return Path(named).expanduser().absolute()
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "paddle_gpu"


SHARED_VARIABLE = "PADDLE_GPU_SHARED"
"""Environment variable that names another shared folder (tests, a system without `/var/lib`)."""


def shared_folder() -> Path:
    """Where users of one machine agree on its devices (`claims`) and on the order in which their jobs wait (`queue`),
    once the administrator has made these folders. One place, so that they meet."""
    return Path(os.environ.get(SHARED_VARIABLE) or "/var/lib/paddle-gpu")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the services, the same for every face.

    Attributes:
        data_folder: holds the job store, the jobs' folders, the calibration; made when first needed.
        root: the folder below which notebooks may lie, and against which paths are read (Jupyter Server's contents
            root). None: paths are those of the file system (command line, magic).
        allow_hidden: also accept notebooks in hidden folders, as `ContentsManager.allow_hidden` says.
        system_policy_file: the administrator's policy, where there is one; what it fixes `policy_file` cannot loosen.
        claims_folder, queue_folder: shared with other users (`claims`).
        policy_file: the policy that matching and engines go by (`policies.load_policies`); by default what
            `$PADDLE_GPU_POLICY` names. None: `paddle-gpu.yaml` in the data folder, where there is one.
        max_notebook_bytes: larger notebooks are refused; None: what the reader allows by itself.
        device_seconds: time between samples of the devices while somebody looks.
        clock: seconds since the epoch, by which schedules go.
        estimates_kept: estimates kept in memory, so that a submit finds the one that was shown before it.
    """

    data_folder: Path = msgspec.field(default_factory=default_data_folder)
    root: Path | None = None
    allow_hidden: bool = False
    system_policy_file: Path = msgspec.field(default_factory=system_policy_file)
    claims_folder: Path = msgspec.field(default_factory=lambda: shared_folder() / "claims")
    queue_folder: Path = msgspec.field(default_factory=lambda: shared_folder() / "queue")
    policy_file: Path | None = msgspec.field(default_factory=named_policy_file)
    max_notebook_bytes: int | None = None
    estimates_kept: int = 64
    device_seconds: float = 1.0
    clock: Callable[[], float] = time.time
