"""What the runner is asked to do: `spec.json` with a default for everything that may be missing."""

import json
import os
from pathlib import Path
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

_FILES = ("log", "events", "result", "notebook", "identity", "lock")
_NAMES = {
    "log": "log.jsonl",
    "events": "events.jsonl",
    "result": "result.json",
    "notebook": "notebook.ipynb",
    "identity": "runner.json",
    "lock": "runner.lock",
}


class Limits(NamedTuple):
    """Delays in seconds, sizes in bytes; each may be overridden in `spec.json` under `limits`."""

    line_characters: int = 10_000
    """A longer line is cut into several records, so that a reader can hold any one of them."""
    state_seconds: float = 0.3
    """Least time between two recorded states of a progress bar."""
    partial_seconds: float = 0.5
    """After this long without a line end, what stands of a line is shown."""
    save_seconds: float = 30.0
    """The notebook is saved this often while a cell runs."""
    metric_seconds: float = 1.0
    """Least time between two recorded metrics, once the first ones are used up."""
    metric_burst: int = 500
    """So many metrics are recorded as fast as they come: the whole curve of a training of some seconds."""
    cell_stream_bytes: int = 4 * 2**20
    """Printed output of one cell beyond this is in the log only."""
    cell_rich_bytes: int = 64 * 2**20
    """Figures and tables of one cell beyond this are dropped."""
    disk_patience_seconds: float = 60.0
    """How long the notebook waits, held up, for space on a full disk before the job is ended."""
    sample_seconds: float = 0.5
    """How often memory is looked at where there is a limit."""
    leftover_seconds: float = 2.0
    """Time that processes left behind by the notebook get between SIGTERM and SIGKILL."""


class Spec(NamedTuple):
    """`spec.json`, read. `rank` other than 0: one of several processes of a distributed job."""

    id: str
    source: Path
    is_script: bool
    """Whether the notebook is only the form in which a script runs."""
    notebook: Path
    log: Path
    events: Path
    result: Path
    identity: Path
    lock: Path
    checkpoints: Path
    output: Optional[Path]
    folder: str
    sets: Dict[str, Any]
    environment: Dict[str, str]
    seconds: Optional[float]
    memory_bytes: Optional[int]
    stop_seconds: float
    shell: str
    """`auto`, or `plain` for the executor without IPython even where IPython is there."""
    device_memory_words: Tuple[str, ...]
    """Patterns by which the runtimes of device makers say that a device's memory is used up."""
    rank: int
    limits: Limits


def read(path: str, environment: Mapping[str, str] = os.environ) -> Spec:
    """Read `spec.json`. Raises `OSError`, `ValueError` (not JSON) or `KeyError` (no `id`)."""
    spec_path = Path(path).absolute()
    raw = json.loads(spec_path.read_text(encoding="utf-8"))
    job = spec_path.parent
    rank = int(environment.get("PADDLE_TRAINER_ID") or 0)
    files = {name: Path(raw.get(name) or job / _NAMES[name]) for name in _FILES}
    if rank:  # rank 0 owns the notebook; the others keep their own log and result beside it
        files = {name: file.parent / ("rank-%d" % rank) / file.name for name, file in files.items()}
    known = {name: value for name, value in (raw.get("limits") or {}).items() if name in Limits._fields}
    return Spec(
        id=str(raw["id"]),
        source=Path(raw.get("source") or job / "source.ipynb"),
        is_script=str(raw.get("original") or "").lower().endswith(".py"),
        checkpoints=Path(raw.get("checkpoints") or job / "checkpoints"),
        output=Path(raw["output"]) if raw.get("output") and not rank else None,
        folder=raw.get("folder") or str(job),
        sets=raw.get("sets") or {},
        environment=raw.get("environment") or {},
        seconds=raw.get("seconds"),
        memory_bytes=None if rank else raw.get("memory_bytes"),  # of the job: the first one's supervisor looks at all
        stop_seconds=float(raw.get("stop_seconds") or 10.0),
        shell=raw.get("shell") or "auto",
        device_memory_words=tuple(raw.get("device_memory_words") or ()),
        rank=rank,
        limits=Limits(**known),
        **files,
    )
