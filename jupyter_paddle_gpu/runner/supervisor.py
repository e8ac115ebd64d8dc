"""Starts the notebook's process, keeps everything it prints and shows, and says at the end how it went."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional

from . import files, processes
from . import spec as specs
from .ending import exit_status
from .ranks import Others, environments
from .session import STOP_SIGNALS, Session

if TYPE_CHECKING:
    from .records.recorder import Recorder

RESULT_BYTES = 256 * 1024
"""Kept on the disk for the result: a traceback has up to 100,000 characters."""

ALREADY_RUNNING = 75
"""Exit status (EX_TEMPFAIL) of a second runner on the same folder: it has touched nothing."""


def main(path: str, *, entry: str, detach: str = "", beside: str = "", ranks: str = "") -> int:
    """Run the job of a `spec.json` to its end; the exit status says how it ended.

    Args:
        beside: the pid of the supervisor of the first process, with which this one is to go.
        ranks: JSON: for each of the processes that train together the variables by which it sees its device.
    """
    if beside:
        processes.die_with_parent(int(beside))
    spec = specs.read(path)
    for folder in (spec.log.parent, spec.checkpoints):
        folder.mkdir(parents=True, exist_ok=True)
    told = _fork_away() if detach else None
    lock = _lock(spec)
    if lock is None or spec.result.exists():
        _tell(told, ALREADY_RUNNING)
        return ALREADY_RUNNING
    # From here on others know whom to signal; a cancel must wait until the session can take it.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    files.replace_json(spec.identity, processes.identity())
    _tell(told, 0)
    runner, job = str(Path(entry).absolute()), str(Path(path).absolute())
    return _run(spec, [runner, "--child", job], _others([runner, job], ranks))


def _others(entry: List[str], ranks: str) -> Others:
    """The other processes of the training; this one gets its own variables."""
    if not ranks:
        return Others()
    first, *others = environments(json.loads(ranks))
    os.environ.update(first)
    return Others(entry, others)


def _run(spec: specs.Spec, child: List[str], others: Others) -> int:
    started, began = time.time(), time.monotonic()  # the clock may be set while the job runs
    recorder: Optional["Recorder"] = None
    kept = spec.result.with_name("result.reserve")
    try:
        session = Session(spec, child, others)
        session.start()
        # While the child starts, which takes as long: nothing of the notebook runs before `run` lets it.
        from .records.recorder import Recorder

        files.keep(kept, RESULT_BYTES)
        recorder = Recorder(spec)
        outcome = session.run(recorder)
    except Exception as error:
        # Our own fault or the disk's: it must still be told, or the job would look as if it had vanished.
        import traceback

        traceback.print_exc()
        reason = "disk_full" if files.is_full(error) else "runner_error"
        outcome = {"reason": reason, "message": "%s: %s" % (type(error).__name__, error)}
        processes.end_descendants(0.0)
    outcome = dict(outcome, started=started, ended=time.time(), seconds=round(time.monotonic() - began, 3))
    outcome["exit_code"] = exit_status(outcome["reason"], outcome.get("signal"))
    if recorder:
        recorder.finish(outcome)
    files.replace_within(kept, spec.result, files.as_json(outcome))
    return int(outcome["exit_code"])


def _fork_away() -> int:
    """Go on in a process of its own session whose parent is gone; returns where to report that it is up."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        status = os.read(reader, 1)
        os._exit(status[0] if status else 1)
    os.close(reader)
    os.setsid()
    return writer


def _tell(told: Optional[int], status: int) -> None:
    if told is not None:
        os.write(told, bytes([status]))
        os.close(told)


def _lock(spec: specs.Spec) -> Any:
    """The lock that says a runner lives; None where another one has it. It goes with this process."""
    import fcntl

    handle = spec.lock.open("a")
    for _ in range(20):
        with contextlib.suppress(OSError):  # somebody may just be adding a line: try again
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            return handle
        time.sleep(0.02)
    return None
