"""What the estimator says: how a request ended, what user code was refused, what there is instead of a trace."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

import msgspec

from ..domain.messages import Message
from .workers.outcomes import PADDLE_BROKEN, Outcome
from .workers.settings import Limits

_OUTCOMES = {
    "timeout": Message(
        code="estimate_timeout",
        text="The notebook's code did not reach its first training step within {seconds} seconds and was stopped.",
        hint="Shorten what runs before the training (smaller data, no waiting), or answer with --set name=value.",
    ),
    "cpu": Message(
        code="estimate_cpu_limit",
        text="The notebook's code used {seconds} seconds of processor time without reaching a training step and was "
        "stopped.",
        hint="Shorten what is computed before the training, for instance the preparation of the data.",
    ),
    "memory": Message(
        code="estimate_memory_limit",
        text="The notebook's code wanted more than {gibibytes} GiB of memory before its first training step and was "
        "stopped.",
        hint="Load less data before the training, or give the estimate a machine with more memory.",
    ),
    "too_long": Message(
        code="estimate_too_long",
        text="The training step has too many operations to be sent back and was given up.",
        hint="Estimate fewer layers or a shorter sequence, and scale from there.",
    ),
    "cut_off": Message(
        code="estimate_cut_off",
        text="The notebook's code closed the estimator's connection and was stopped.",
        hint="Remove what closes every file descriptor (os.closerange) from the cells before the training.",
    ),
    "exit": Message(
        code="estimate_exit",
        text="The notebook's code ended its own process (exit status {number}) before its first training step.",
        hint="Remove the call that ends the process (exit, os._exit) from the cells before the training.",
    ),
    "signal": Message(
        code="estimate_crash",
        text="The process in which the notebook's code ran crashed ({signal}).",
        hint="Run the cells once in a kernel; where they run there, please report this notebook to us.",
    ),
    "error": Message(
        code="estimate_error",
        text="The estimator failed on this notebook: {reason}",
        hint="Please report this; the notebook itself may be right.",
    ),
    "gone": Message(
        code="estimate_gone",
        text="The estimator's process ended unexpectedly.",
        hint="Try again; where it happens again, look for a lack of memory on this machine.",
    ),
    "cancelled": Message(code="estimate_cancelled", text="The estimate was stopped."),
    "closed": Message(code="estimate_cancelled", text="The estimate was stopped."),
}
_CRASHED_IN = Message(
    code="estimate_crash",
    text="The process in which the notebook's code ran crashed ({signal}) in cell {cell}, line {line}.",
    hint="Run the cells once in a kernel; where they run there, please report this notebook to us.",
)
_PLACE = re.compile(r'File "<cell (\d+)>", line (\d+) in')

_REFUSED = {
    "write": Message(
        code="refused_write",
        text="The notebook wanted to change “{target}”; an estimate changes no file.",
        hint="If that stopped the estimate, move it behind the training.",
    ),
    "folder": Message(
        code="folder_missing",
        text="The notebook writes into “{target}”, a folder that is not here; where it is missing, a job stops there.",
        hint="Make the folder in a cell before: os.makedirs(…, exist_ok=True)",
    ),
    "process": Message(
        code="refused_process",
        text="The notebook wanted to start a program ({target}); an estimate starts none.",
        hint="If that stopped the estimate, move that line behind the training or into a cell of its own with “!”.",
    ),
    "network": Message(
        code="refused_network",
        text="The notebook wanted to reach {target}; an estimate uses no network.",
        hint="Download the data once in a kernel; then the estimate finds it.",
    ),
    "signal": Message(
        code="refused_signal",
        text="The notebook wanted to send a signal to another process ({target}); an estimate does not.",
    ),
}

OTHER_KERNEL = Message(
    code="other_kernel",
    text="There is no kernel “{kernel}” here; the kernel “{used}” was asked instead.",
    hint="Choose a kernel of this machine in the notebook's kernel menu before you submit.",
)
NO_PADDLE = Message(
    code="no_paddle",
    text="The Python of the kernel “{kernel}” ({python}) has no Paddle, so the notebook was only read, not traced.",
    hint="Install it there: `{python} -m pip install paddlepaddle`",
)
_BROKEN = Message(
    code="paddle_broken",
    text="Paddle cannot be imported in the kernel's Python: {reason}",
    hint="Try `python -c 'import paddle'` in that environment.",
)
UNREADABLE = Message(
    code="trace_unreadable",
    text="The traced step does not read as one ({reason}).",
    hint="Please report this; the notebook itself may be right.",
)
NO_TRAINING = Message(
    code="no_training",
    text="No training step was found in this notebook.",
    hint="A training calls paddle.Model.fit, or backward() and an optimizer's step().",
)
SCAN_ONLY = Message(
    code="scan_only",
    text="What is shown was read from the code; without a trace there is no figure for the memory.",
)
UNCHECKED_VERSION = Message(
    code="unchecked_paddle",
    text="Paddle {version} is not one of the versions this was checked with ({checked}); a small training was traced "
    "and run to compare, and agreed within {percent} %.",
)
DISAGREEING_VERSION = Message(
    code="disagreeing_paddle",
    text="Paddle {version} is not one of the versions this was checked with ({checked}), and a small training that was "
    "traced and run to compare differed by {percent} %. Real steps are used instead of a trace.",
    hint="Please report the version; a newer release of this extension may know it.",
)
UNTRACED_VERSION = Message(
    code="untraced_paddle",
    text="Steps of Paddle {version} cannot be traced; small real steps on the CPU stand for them.",
    hint="Paddle 3 gives exact figures, by layer and over the step. What-ifs other than the batch size need it.",
)
UNPATCHED = Message(
    code="unpatched_paddle",
    text="Paddle {version} no longer has what a trace replaces: {names}. What a notebook does by them is not followed.",
    hint="Please report the version; a newer release of this extension may know it.",
)
DETAILS_LATE = Message(
    code="details_late",
    text="After {seconds} s not every remedy and largest batch had been sought: each takes further traces of the step.",
    hint="`--details-seconds {more}` seeks for longer; or ask for the one that matters: mixed precision, for instance, "
    "or a smaller batch.",
)
FELL_BACK = Message(
    code="measured_instead",
    text="The step could not be traced; the figure comes from real steps on the CPU at batch sizes {batches}, fitted "
    "to {batch_size}.",
    hint="Expect an error of several per cent; layers that only change with larger batches are not seen.",
)
MEASURED_AS_IT_IS = Message(
    code="measured_as_it_is",
    text="The step could not be traced; the figure comes from a real step on the CPU with the notebook's own batches.",
    hint="What-if on the batch size needs a notebook whose batches come from paddle.io or from one variable.",
)
NOT_MEASURED = Message(
    code="what_if_not_measured",
    text="Real steps on the CPU run the notebook as it is: {names} is not in this figure.",
    hint="Change it in the notebook and ask again.",
)
FIT_UNSURE = Message(
    code="fit_unsure",
    text="The measured steps do not lie on straight lines over the batch size, so the figure is unsure.",
)


def about_unpatched(version: str, names: Iterable[str]) -> tuple[Message, ...]:
    """A note of what a version of Paddle has no place for; none where it has all of it."""
    listed = ", ".join(names)
    return (UNPATCHED.filled(version=version, names=listed),) if listed else ()


def about_outcome(outcome: Outcome, limits: Limits) -> Message:
    """Why a request gave no answer."""
    if outcome.kind == "signal" and outcome.number == signal.SIGKILL:
        # Nobody of ours killed it, so the kernel did, for want of memory.
        return about_outcome(msgspec.structs.replace(outcome, kind="memory"), limits)
    if outcome.kind == "error" and outcome.error.get("type") == PADDLE_BROKEN:
        return _BROKEN.filled(reason=outcome.error.get("text", ""))
    if outcome.kind == "signal" and (place := _crashed_in(outcome.output)):
        return _CRASHED_IN.filled(signal=_signal_name(outcome.number), **place)
    seconds = limits.cpu_seconds if outcome.kind == "cpu" else limits.wall_seconds
    return _OUTCOMES[outcome.kind].filled(
        seconds=round(seconds),
        gibibytes=round(limits.memory_bytes / 2**30, 1),
        number=outcome.number,
        signal=_signal_name(outcome.number),
        reason=": ".join(part for part in (outcome.error.get("type", ""), outcome.error.get("text", "")) if part),
    )


def _crashed_in(output: str) -> dict[str, int] | None:
    """Cell and line of a crash, from the stack that Python's faulthandler prints, innermost call first."""
    _, header, stack = output.rpartition("most recent call first")
    place = _PLACE.search(stack) if header else None
    return {"cell": int(place[1]) + 1, "line": int(place[2])} if place else None


_ASKED = {"download": "network", "program": "process"}
"""What was refused, by the reason of the question that tells of it."""


def about_refusals(outcome: Outcome, asked: Iterable[str] = (), *, went_on: bool = False) -> tuple[Message, ...]:
    """One note for each kind of thing that user code was refused, with its first target.

    Args:
        asked: reasons of the questions that are asked anyway; what they say is not said twice.
        went_on: the notebook reached its training, or a question says what it needs for that; then what it wrote is not
            mentioned, for it went on as if it had.
    """
    first: dict[str, str] = {}
    told = {_ASKED[why] for why in asked if why in _ASKED} | ({"write"} if went_on else set())
    for action, target in outcome.refused:
        if action not in told:
            first.setdefault(action, target)
    return tuple(_REFUSED[action].filled(target=target) for action, target in first.items())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
