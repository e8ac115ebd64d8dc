"""From what the daemon keeps of a container to what a person should know of its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from ...devices.driver_words import Fault
from ...devices.maker import OUTDATED
from ...devices.makers.registry import makers
from ...domain.jobs import reasons
from ...domain.jobs.job import JobSpec
from ...domain.jobs.limits import out_of_memory
from ...domain.messages import Message
from ..base import Observation
from ..processes import seconds_since_start
from .labels import LABEL_DEVICES

_STATES: dict[str, str] = {
    "created": "starting",
    "running": "running",
    "paused": "running",
    "restarting": "running",
    "removing": "ended",
    "exited": "ended",
    "dead": "ended",
}
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}


def observation(inspected: dict[str, Any], spec: JobSpec, *, output: str = "") -> Observation:
    """The state of a container.

    Args:
        inspected: Docker's answer.
        spec: of its job, which knows where its limits came from.
        output: the last lines of what the container and the job printed, searched for a driver's or Paddle's words.
    """
    state = inspected["State"]
    name = _STATES.get(state.get("Status", ""), "running")
    started, ended = _time(state.get("StartedAt", "")), _time(state.get("FinishedAt", ""))
    if name != "ended":
        ran = _seconds(state.get("Pid") or 0, str(inspected.get("Id", "")))
        reason = paused(str(inspected.get("Name", "")).lstrip("/")) if state.get("Status") == "paused" else None
        pid = state.get("Pid") if ran is not None else None
        return Observation(state=name, started=started, seconds=ran, reason=reason, pid=pid)  # type: ignore[arg-type]
    status = int(state.get("ExitCode") or 0)
    return Observation(
        state="ended",
        exit_code=exit_code(status),
        reason=_reason(inspected, spec, output),
        started=started,
        ended=ended,
    )


def _seconds(pid: int, container: str) -> float | None:
    """How long a container's first process has run; None where its number means nothing here (a daemon in a virtual
    machine): the process must be in the control group of that container."""
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text() if pid and container else ""
    except OSError:
        return None
    return seconds_since_start(pid) if container and container in groups else None


def exit_code(status: int) -> int:
    """A container's exit status, with 128 + n as the signal -n (which is what init and shells make of it)."""
    return 128 - status if 128 < status <= 128 + 64 else status


def _reason(inspected: dict[str, Any], spec: JobSpec, output: str) -> Message | None:
    state = inspected["State"]
    status = int(state.get("ExitCode") or 0)
    if state.get("OOMKilled"):
        limit = (inspected.get("HostConfig") or {}).get("Memory") or None
        return out_of_memory(spec.resources.memory_bytes, spec.limits, limit)
    if state.get("Error"):
        return refused_start(str(state["Error"]))
    if status == 0:
        return None
    signal = -exit_code(status)
    if signal == 15:
        return reasons.terminated()  # where somebody cancelled, whoever reads this knows
    killed = reasons.killed(signal, _SIGNALS.get(signal, str(signal))) if signal > 0 else None
    labels = (inspected.get("Config") or {}).get("Labels") or {}
    return of_output(output, labels.get(LABEL_DEVICES, "")) or (_no_python("") if status in (126, 127) else killed)


def paused(name: str) -> Message:
    """Somebody froze the container: it uses its memory and its devices, and nothing goes on."""
    return Message(
        code="container_paused",
        text="The job's container is paused: it keeps its memory and its devices, and nothing goes on.",
        hint="`docker unpause {name}` lets it go on; a stop ends it as it would any other.",
        params={"name": name},
    )


def refused_start(detail: str) -> Message:
    """The runtime could not start the container's first process."""
    return Message(
        code="container_start_failed",
        text="The container could not be started: {detail}",
        hint="If it names a program, the image lacks it; else `jupyter paddle-gpu doctor` looks for the usual causes.",
        params={"detail": detail[:400]},
    )


_BUILT_FOR = re.compile(r"compiled for ([\d ]+), but your current GPU is (\d+)")


def of_output(text: str, devices: str = "") -> Message | None:
    """The class of a fault that only a driver's or Paddle's own words tell; None where they say nothing known.

    `devices`: ids of the job's, for the sentence.
    """
    found = _device_fault(text, devices)
    return found or next((build(text) for pattern, build in _WORDS if pattern.search(text)), None)


def _architecture(text: str) -> Message:
    built = _BUILT_FOR.search(text)
    return Message(
        code="architecture_mismatch",
        text="The image's Paddle was compiled for {architectures}, this card is {capability}.",
        hint="`jupyter paddle-gpu images` names the image for the card that is here: submit with it as `--image`.",
        params={
            "architectures": built[1] if built else "other cards",
            "capability": built[2] if built else "another one",
        },
    )


def _device_fault(text: str, devices: str) -> Message | None:
    """A failure in Paddle's words or in those of a maker's runtime: the first kind of it that is seen."""
    for fault, of_paddle in _FAULTS:
        for maker in (None, *makers().rows.values()):
            pattern = of_paddle if maker is None else getattr(maker.words, fault)
            said = re.search(pattern, text, re.IGNORECASE) if pattern else None
            if said is None:
                continue
            if fault == "lost":
                return (reasons.device_lost if maker is None else maker.lost)(devices, said[0])
            if fault == "memory":
                return reasons.out_of_memory_device(value=said[0])
            if fault == "driver":
                return OUTDATED if maker is None else maker.outdated
            return _architecture(text)
    return None


_FAULTS: tuple[tuple[Fault, str], ...] = (
    ("architecture", "Mismatched GPU Architecture"),
    ("driver", ""),
    ("lost", ""),
    ("memory", r"Out of memory error on [^\n]*"),
)
"""What is looked for, in this order, with Paddle's own words for it; the makers' stand in their rows."""


def _shared_memory(_: str) -> Message:
    return reasons.shared_memory_full()


def _disk(_: str) -> Message:
    return reasons.disk_full()


def _unseen(_: str) -> Message:
    return Message(
        code="path_unseen",
        text="The Docker daemon does not see a folder of this job: {detail}",
        hint="The daemon must run on this machine and see the same paths (a remote daemon, Docker Desktop or a "
        "server inside a container do not). Share the folder with it, or use the local engine.",
        params={"detail": "spec.json"},
    )


def _no_python(_: str) -> Message:
    return Message(
        code="image_without_python",
        text="The image has no Python that could run the job.",
        hint="Take one of Paddle's images, or name the program with the option `python`.",
    )


# First match wins.
_WORDS: tuple[tuple[re.Pattern[str], Callable[[str], Message]], ...] = (
    (re.compile(r"/dev/shm.*No space left on device|DataLoader.*(Bus error|SIGBUS)", re.DOTALL), _shared_memory),
    (re.compile(r"No space left on device|Disk quota exceeded"), _disk),
    (re.compile(r"can't open file '/opt/paddle-gpu|No such file or directory: '[^']*spec\.json'"), _unseen),
    (re.compile(r"paddle-gpu: this image has no Python"), _no_python),
)


def _time(text: str) -> float | None:
    """Docker's `2026-11-21T06:35:35.890283671Z` in seconds since the epoch; None for its zero time."""
    if not text or text.startswith("0001-"):
        return None
    whole, _, fraction = text.rstrip("Z").partition(".")
    try:
        return datetime.fromisoformat(f"{whole[:19]}+00:00").timestamp() + float(f"0.{fraction[:9] or 0}")
    except ValueError:
        return None
