"""A process that looks after the queue when no server does: started by the command line, gone when nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


def spawn(data_folder: Path, factory: str, variables: Mapping[str, str] = MappingProxyType({})) -> None:
    """Start it: no terminal, a session of its own, nothing of this process kept but these `variables` besides its own.

    `factory` is the `module:function` that makes its `JobService` from the data folder.

    Raises `OSError`.
    """
    data_folder.mkdir(parents=True, exist_ok=True)
    # A notebook that submits a job must not make the dispatcher look like one of its own processes.
    environment = {name: value for name, value in os.environ.items() if name != "PADDLE_GPU_JOB_ID"}
    environment.update(variables)
    command = [sys.executable, "-m", "jupyter_paddle_gpu.jobs.dispatcher", str(data_folder), "--factory", factory]
    with (data_folder / "dispatcher.log").open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=data_folder,
            env=environment,
            start_new_session=True,
        )
    process.returncode = 0  # nobody waits for it here
