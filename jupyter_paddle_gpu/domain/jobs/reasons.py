"""Why a job ended (or could not start): classes with one sentence and one next step each.

Runner, engines and reconciler all name an end by one of these codes, so that a retry, a colour in the panel or a test
depends on the code and never on a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from ..devices import DeviceHolder
from ..messages import Message, Param
from ..mistakes.explanations import next_step, plain

TRANSIENT: Final = frozenset({"engine_unreachable", "pull_interrupted", "start_refused_busy", "device_busy"})
"""Passing faults: worth another try with back-off. Everything else would only fail again."""
DEVICE_HELD: Final = "device_held"
"""Code of what jobs wait for whose device another user's job has, or another store's."""
DEVICE_UNCLAIMED: Final = "device_unclaimed"
"""Code of what jobs wait for of whose device the others could not be told."""
DEVICE_UNKNOWN: Final = "device_unknown"
PACKAGES: Final = {
    "cv2": "opencv-python-headless",
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "paddle": "paddlepaddle",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Packages that bring a module of another name, of those that notebooks import most."""
ENGINE_AWAY: Final = "engine_away"
"""Code of what jobs wait for whose engine answers nobody."""


NOTES: Final = frozenset({"registry_busy", "data_not_readable", "paddle_for_cpu"})
"""Codes of what a preflight tells and no submit is refused for: it passes, or the notebook may not need it."""

TOO_FAR = Message(code="too_far", text="When it starts is foretold as soon as fewer than 100 jobs wait ahead of it.")
"""Of a job that waits behind those for which the queue plans."""


def is_note(message: Message) -> bool:
    """Whether a finding of an engine only is to be known."""
    return message.code in NOTES


def is_transient(reason: Message | None) -> bool:
    """Whether a retry may help."""
    return reason is not None and reason.code in TRANSIENT


def tried_again(reason: Message, seconds: float, attempt: int, attempts: int) -> Message:
    """The same fault while its job waits for the next attempt: what happened stays readable, the next step is ours."""
    return Message(
        code=reason.code,
        text=reason.text,
        hint="It is tried again by itself after {retry_seconds} s (attempt {attempt} of {attempts}).",
        params={**reason.params, "retry_seconds": round(seconds, 1), "attempt": attempt, "attempts": attempts},
    )


def engine_away(reason: Message) -> Message:
    """An engine that answers nobody: its jobs wait for it, however long that takes. `reason` is what it was seen by."""
    return Message(
        code=ENGINE_AWAY,
        text=reason.text,
        hint="It starts by itself when the engine answers again; `jupyter paddle-gpu doctor` says what is missing.",
        params=reason.params,
    )


def device_held(device: Param, holder: DeviceHolder) -> Message:
    """A device that the engine gave to a job which this store does not know, or to a container of nobody's queue."""
    if not holder.owner:
        return Message(
            code=DEVICE_HELD,
            text="Waits for {device}, which the container {container} has.",
            hint="It starts by itself when that container has ended; `{command}` ends it.",
            params={"device": device, "container": holder.job, "command": holder.ends},
        )
    return Message(
        code=DEVICE_HELD,
        text="Waits for {device}, which job {job} of {owner} has.",
        hint="It starts by itself when that job has ended; `jupyter paddle-gpu gpus` lists the devices.",
        params={"device": device, "job": holder.job, "owner": holder.owner},
    )


def device_unclaimed(device: Param, folder: str, why: str) -> Message:
    """Nobody else would know that the job has its device: it does not start, however free that is."""
    return Message(
        code=DEVICE_UNCLAIMED,
        text="Does not start yet: others cannot be told that it has {device}, since {folder} cannot be written "
        "({why}).",
        hint="It starts by itself when there is room for its file again: free some, or ask the administrator to.",
        params={"device": device, "folder": folder, "why": why},
    )


def called(reason: Message, names: Mapping[str, Message]) -> Message:
    """The same with the devices in `device` (ids with commas between them) by what they are called, as far as that is
    known; a command in the hint keeps the ids (`id`)."""
    ids = str(reason.params.get("device", "")).split(",")
    if not any(one in names for one in ids):
        return reason
    parts: dict[str, Param] = {f"device{number}": names.get(one, one) for number, one in enumerate(ids)}
    listed = Message(code="devices", text=", ".join(f"{{{field}}}" for field in parts), params=parts)
    whole = listed if len(ids) > 1 else names[ids[0]]
    return msgspec.structs.replace(reason, params={**reason.params, "device": whole})


def succeeded() -> Message:
    """Every cell ran."""
    return Message(code="succeeded", text="All cells ran.")


def cell_error(cell: int, line: int | None, name: str, value: str) -> Message:
    """A cell raised; `cell` counts all cells from 0, people count from 1."""
    params: dict[str, Param] = {"cell": cell + 1, "line": line or 0, "name": name, "value": short(plain(value))}
    hint = "The traceback is in the log and in the executed notebook. Correct the cell and submit again."
    if step := next_step(f"{name}: {value}"):
        params["step"] = step
        hint = "{step} Then submit again."
    absent = re.match(r"No module named '(\w+)", value) if name == "ModuleNotFoundError" else None
    if absent:
        params["package"] = PACKAGES.get(absent[1], absent[1])
        hint = (
            "Put `%pip install {package}` into the first cell, or for a container {package} into requirements.txt "
            "beside the notebook, and submit again."
        )
    if line is None:
        return Message(code="cell_error", text="Cell {cell} failed: {name}: {value}", hint=hint, params=params)
    return Message(code="cell_error", text="Cell {cell}, line {line} failed: {name}: {value}", hint=hint, params=params)


def of_rank(reason: Message, job: str, rank: int) -> Message:
    """The same where not the first process (0) of a distributed training raised the error: it is in its log."""
    if not rank or reason.code != "cell_error":
        return reason
    return Message(
        code=reason.code,
        text=reason.text,
        hint="It was process {rank} of the training: `jupyter paddle-gpu logs {job} --rank {rank}` has the traceback. "
        "Correct the cell and submit again.",
        params={**reason.params, "job": job, "rank": rank},
    )


def out_of_memory_device(cell: int | None = None, value: str = "") -> Message:
    """Paddle's allocator got no more device memory."""
    return Message(
        code="out_of_memory_device",
        text="The device ran out of memory: {value}",
        hint="Use a smaller batch or mixed precision, or submit to a device with more free memory; "
        "the estimate shows what fits.",
        params={"value": short(value), "cell": -1 if cell is None else cell + 1},
    )


def out_of_memory_host() -> Message:
    """The machine's memory was used up. Of a limit that was reached `domain.jobs.limits.out_of_memory` tells."""
    return Message(
        code="out_of_memory_host",
        text="The machine ran out of memory and the job was ended.",
        hint="Use fewer DataLoader workers, load the data in parts, or run where there is more memory.",
    )


def out_of_memory_asked(limit: str, more: str) -> Message:
    """A limit that the job itself had asked for was reached."""
    return Message(
        code="out_of_memory_host",
        text="The job needed more host memory than the {limit} it had asked for and was ended.",
        hint="Submit it again with more (`--memory` or memory_bytes; {more}, say), use fewer DataLoader workers, or "
        "load the data in parts.",
        params={"limit": limit, "more": more},
    )


def out_of_memory_estimated(limit: str, more: str, most: str) -> Message:
    """A limit that followed from the estimate was reached; `more` is what another run gets."""
    return Message(
        code="out_of_memory_host",
        text="The job needed more host memory than its limit of {limit}, which followed from the estimate, and was "
        "ended.",
        hint="Re-run it: it then gets {more}. Or submit it with a limit of your own (`--memory` or memory_bytes), "
        "up to {most}.",
        params={"limit": limit, "more": more, "most": most},
    )


def out_of_memory_policy(limit: str) -> Message:
    """All that policy gives a job was used up."""
    return Message(
        code="out_of_memory_host",
        text="The job needed more host memory than {limit}, all that policy gives a job here, and was ended.",
        hint="Use fewer DataLoader workers, load the data in parts, or ask the administrator for more (the engine's "
        "limits in the policy file).",
        params={"limit": limit},
    )


def shared_memory_short(needed: str, free: str) -> Message:
    """DataLoader workers would fill /dev/shm, which ends them with SIGBUS."""
    return Message(
        code="shared_memory_short",
        text="DataLoader workers hand over {needed} of batches in /dev/shm, which has {free} free.",
        hint="Use fewer workers (num_workers), a smaller batch or use_shared_memory=False, or give this place a larger "
        "/dev/shm.",
        params={"needed": needed, "free": free},
    )


def killed(signal: int, name: str = "") -> Message:
    """A signal from outside, or a crash in native code, ended the notebook's process."""
    if signal in {4, 6, 7, 8, 11}:  # SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: raised by the process's own code
        return Message(
            code="crashed",
            text="The notebook's process crashed in native code ({name}).",
            hint="The last lines of the log show where; an operation or a library built for another processor or "
            "driver is the usual cause.",
            params={"signal": signal, "name": name or str(signal)},
        )
    return Message(
        code="killed",
        text="The notebook's process was killed from outside ({name}).",
        hint="If nobody did this on purpose, the machine was probably short of memory. Submit again with a smaller "
        "batch or fewer DataLoader workers.",
        params={"signal": signal, "name": name or str(signal)},
    )


def exited(exit_code: int) -> Message:
    """The notebook ended its own process (`os._exit`, `exit` in a library)."""
    return Message(
        code="exited",
        text="The notebook ended its own process with status {exit_code} before its last cell.",
        hint="Remove the call that exits (`os._exit`, `quit`), or look at the log's last lines for who made it.",
        params={"exit_code": exit_code},
    )


def time_limit(seconds: float) -> Message:
    """The job's wall time was used up."""
    return Message(
        code="time_limit",
        text="The time limit of {seconds} s was reached; what had been done by then is kept.",
        hint="Submit again with a higher limit (`--time-limit`); training that saves into the checkpoints folder can "
        "go on from there.",
        params={"seconds": round(seconds)},
    )


def cancelled() -> Message:
    """The person ended it."""
    return Message(code="cancelled", text="Stopped. The notebook and the log are kept as far as they got.")


def terminated() -> Message:
    """A SIGTERM that is no cancel: a daemon sends it to all containers when it is started again."""
    return Message(
        code="terminated",
        text="The job was told to end from outside (SIGTERM), and nobody stopped it: its engine or the machine "
        "was restarted, or somebody ended its process.",
        hint="What had been done by then is kept. Submit again; training that saves checkpoints goes on from there.",
    )


def process_lost(job: str, rank: int) -> Message:
    """One of the processes of a distributed training has gone without a word, and the others were stopped."""
    return Message(
        code="process_lost",
        text="Process {rank} of the training was ended from outside, and the others were stopped.",
        hint="`jupyter paddle-gpu logs {job} --rank {rank}` has what it said. Submit again; training that saves "
        "checkpoints goes on from there.",
        params={"job": job, "rank": rank},
    )


def disk_full(path: str = "") -> Message:
    """No space (or no quota) left."""
    return Message(
        code="disk_full",
        text="The disk is full: {path}",
        hint="Free some space, then submit again: `jupyter paddle-gpu delete JOB` removes an old job with its log, and "
        "so does the panel.",
        params={"path": path},
    )


def waits_for_space(path: str) -> Message:
    """A job whose disk is full while it runs."""
    return Message(
        code="waits_for_space",
        text="The disk is full, and the job is held up until there is space: {path}",
        hint="Free some: `jupyter paddle-gpu delete JOB` removes an old job with its log, and so does the panel. "
        "Without any it is ended after a minute, with what it has.",
        params={"path": path},
    )


def shared_memory_full() -> Message:
    """/dev/shm has a size of its own; a write beyond it is an error, or SIGBUS."""
    return Message(
        code="shared_memory_full",
        text="The job's shared memory (/dev/shm) is full.",
        hint="Use fewer DataLoader workers (num_workers), a smaller batch or use_shared_memory=False.",
    )


def temporary_full(error: str) -> Message:
    """A job's /tmp that is memory, as a container's is."""
    return Message(
        code="temporary_full",
        text="The job's temporary folder is full, which is memory: {error}",
        hint="Write large files beside the notebook, or into the folder that PADDLE_GPU_CHECKPOINTS names.",
        params={"error": short(error)},
    )


def runner_vanished() -> Message:
    """Neither a process nor a result is left."""
    return Message(
        code="runner_vanished",
        text="The job's process is gone and left no result; the machine was restarted, or it was killed.",
        hint="The log and the notebook are kept as far as they got. Submit again.",
    )


def runner_error(value: str) -> Message:
    """The runner could not do its own work."""
    return Message(
        code="runner_error",
        text="The runner could not go on: {value}",
        hint="The job's log has the details. If the notebook opens in JupyterLab, please report this.",
        params={"value": short(value)},
    )


def interpreter_missing(python: str) -> Message:
    """The kernel's interpreter is not there any more."""
    return Message(
        code="interpreter_missing",
        text="The Python of the notebook's kernel cannot be started: {python}",
        hint="Choose another kernel for the notebook, or install this one again.",
        params={"python": python},
    )


def folder_missing(folder: str) -> Message:
    """The notebook's folder is not there any more."""
    return Message(
        code="folder_missing",
        text="The notebook's folder does not exist: {folder}",
        hint="Save the notebook and submit it from where it lies now.",
        params={"folder": folder},
    )


def device_lost(device: str, error: str) -> Message:
    """The card itself failed; `error` in the driver's words. A maker's row (`devices.maker`) may know more to do."""
    return Message(
        code="device_lost",
        text="The device {device} failed while the job ran: {error}",
        hint="The maker's tool may reset the card when nothing uses it; else restart the machine. Submit to another "
        "device meanwhile (`--device-id`).",
        params={"device": device, "error": error},
    )


def engine_unreachable(engine: str, value: str = "") -> Message:
    """The engine's daemon does not answer; passing."""
    return Message(
        code="engine_unreachable",
        text="The engine {engine} does not answer: {value}",
        hint="`jupyter paddle-gpu doctor` says what is missing.",
        params={"engine": engine, "value": short(value)},
    )


def engine_unknown(engine: str) -> Message:
    """The job names an engine that is not configured here."""
    return Message(
        code="engine_unknown",
        text="There is no engine {engine} here.",
        hint="Choose one of the engines that the panel offers.",
        params={"engine": engine},
    )


def short(value: str, limit: int = 300) -> str:
    """What somebody else has written, as one line of at most so many characters."""
    value = " ".join(value.split())
    return value if len(value) <= limit else value[: limit - 1] + "…"
