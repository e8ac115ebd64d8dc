"""Where a notebook would end with an error, and how that is said."""

from __future__ import annotations

import msgspec

from ..messages import Message, Param
from ..notebooks import Place
from .explanations import next_step


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """Where the notebook would end with an error if it ran, and which.

    Attributes:
        cell: index among all cells, from 0; None where it is no cell's line.
        line: line in that cell, from 1.
        error: type and text of the exception, as Paddle or Python would say it.
        raised: the line of another cell (of a layer's `forward`) that raises it, where it is one.
        device: the name of a device that the line asks for and a job on the CPU does not have; elsewhere it goes on.
        changed: what was asked otherwise than the notebook has it, in words; as it is written it has a figure.
        file, file_line: the module that raises it, by its path from the program's folder, and the line there, where
            the step could be followed all the same: its figure is of the step with the cast that is missing. Where none
            was: the script that the cell's line runs, behind which the notebook goes on.
        module, module_line: the module beside the program that raises it (`beside/nets.py`), and the line there.
        ends: whether the cell, and with it the job, ends with that script (the last command of `%%bash`).
        is_script: whether it is a script, whose lines are those of its file.
        answers: what the estimate was told and the error may hang on (`size=-5, loader=int64[8]`); with other answers
            the program may run.
        hangs: whether the program does not end there but waits: the error ends the thread that reads for a DataLoader
            without workers, and Paddle does not tell the loop that asked for the batch.
        message: the sentence for people, in an estimate.
    """

    cell: int | None
    line: int | None
    error: str
    raised: Place | None = None
    device: str = ""
    changed: Message | None = None
    file: str = ""
    file_line: int | None = None
    module: str = ""
    module_line: int | None = None
    ends: bool = False
    is_script: bool = False
    answers: str = ""
    hangs: bool = False
    message: Message | None = None

    def told(self, *, behind: bool, is_script: bool | None = None) -> Stop:
        """The same with its sentence."""
        stop = self if is_script is None else msgspec.structs.replace(self, is_script=is_script)
        return msgspec.structs.replace(stop, message=stop.says(behind=behind))

    def says(self, *, behind: bool) -> Message:
        """The sentence for people; `behind`: it stops only after the training, of which there is a figure."""
        said = self._says(behind=behind)
        if not self.is_script or said.text not in _OF_SCRIPT:
            return said
        return msgspec.structs.replace(said, text=_OF_SCRIPT[said.text].text)

    def _says(self, *, behind: bool) -> Message:
        if self.device and self.cell is not None:
            asked = {"cell": self.cell + 1, "line": self.line or 1, "error": self.error, "device": self.device}
            leaves = self.error.startswith("SystemExit")
            return msgspec.structs.replace(_LEAVES_WITHOUT_DEVICE if leaves else _STOPS_WITHOUT_DEVICE, params=asked)
        if self.cell is None:
            return msgspec.structs.replace(_STOPS_SOMEWHERE, params={"error": self.error})
        params: dict[str, Param] = {"cell": self.cell + 1, "line": self.line or 1, "error": self.error}
        if self.changed is not None:
            return msgspec.structs.replace(_STOPS_CHANGED, params={**params, "changed": self.changed})
        if self.file:
            within: dict[str, Param] = {"file": self.file, "line": self.file_line or 1, "error": self.error}
            known = next_step(self.error) or ""
            if behind and not self.ends:
                return msgspec.structs.replace(_STOPS_TODAY, params={**within, "step": known})
            inner: dict[str, Param] = {"file": self.file, "inner_line": self.file_line or 1, "step": known}
            hint = _PROGRAM_KNOWN_STEP if known else _STOPS_PROGRAM.hint
            if self.ends:
                hint = _KNOWN_STEP if known else _STOPS.hint
            return msgspec.structs.replace(_STOPS_PROGRAM, hint=hint, params={**params, **inner})
        said = _STOPS_BEHIND if behind else _STOPS
        if self.raised is not None:
            said = _STOPS_BEHIND_WITHIN if behind else _STOPS_WITHIN
            params |= {"inner": self.raised.cell + 1, "inner_line": self.raised.line}
        elif self.module:
            said = _STOPS_BEHIND_IN_MODULE if behind else _STOPS_IN_MODULE
            params |= {"file": self.module, "inner_line": self.module_line or 1}
        step = next_step(self.error)
        params |= {"step": step} if step else {}
        hint = _KNOWN_STEP if step else said.hint
        if self.hangs:
            hint = _HANGING_KNOWN_STEP if step else _HANGING
        if self.answers:
            params |= {"answers": self.answers}
            said, hint = _BY_ANSWERS.get(said.text, said), _ANSWERED_KNOWN_STEP if step else _ANSWERED
        return msgspec.structs.replace(said, hint=hint, params=params)


_ANSWERED = (
    "It was answered: {answers}. Change what is not so; the program may be right with other answers. Else correct it "
    "there."
)
_ANSWERED_KNOWN_STEP = (
    "It was answered: {answers}. Change what is not so; the program may be right with other answers. Else: {step}"
)
_KNOWN_STEP = "{step} Submitted as it is, the job ends there."
_HANGING = (
    "Correct it there and estimate again. Submitted as it is, the job would not even end: the thread that reads for "
    "the DataLoader ends by it, and the loop waits for its batch for ever."
)
_HANGING_KNOWN_STEP = (
    "{step} Submitted as it is, the job would not even end: the thread that reads for the DataLoader ends by it, and "
    "the loop waits for its batch for ever."
)
_STOPS = Message(
    code="would_stop",
    text="The notebook would stop in cell {cell}, line {line}: {error}",
    hint="Correct it there and estimate again. It can be submitted all the same: then the job ends there.",
)
_STOPS_CHANGED = Message(
    code="would_stop_changed",
    text="The notebook would stop {changed} in cell {cell}, line {line}: {error}",
    hint="As it is written it would not. Take another value.",
)
_STOPS_BEHIND = Message(
    code="would_stop_behind",
    text="The training step runs; after it the notebook would stop in cell {cell}, line {line}: {error}",
    hint="Correct it there before you submit, or the job ends there.",
)
_STOPS_TODAY = Message(
    code="would_stop_today",
    text="With this Paddle the training would stop in {file}, line {line}: {error}",
    hint="{step} The figure is of the training with that cast. Submitted as it is, the job ends there.",
)
_STOPS_PROGRAM = Message(
    code="would_stop",
    text="What cell {cell}, line {line} runs would stop in {file}, line {inner_line}: {error}",
    hint="Correct it there and estimate again. Submitted as it is, the job goes on behind it, without that training.",
)
_PROGRAM_KNOWN_STEP = "{step} Submitted as it is, the job goes on behind it, without that training."
_STOPS_WITHOUT_DEVICE = Message(
    code="would_stop_without_device",
    text="On the CPU the notebook would stop in cell {cell}, line {line}: {error}",
    hint="The line asks for a device that is not here: {device}. Let the job's copy take the CPU there (--on-cpu), or "
    "submit it where there is one.",
)
_LEAVES_WITHOUT_DEVICE = Message(
    code="would_stop_without_device",
    text="On the CPU the notebook would stop in cell {cell}, line {line}: {error}",
    hint="It leaves by itself where Paddle has no GPU. Tell it by its own arguments or settings to take the CPU, or "
    "name the card that it is meant for (--device) and submit it where there is one.",
)
_STOPS_WITHIN = Message(
    code="would_stop",
    text="The notebook would stop in cell {cell}, line {line}, by what it calls in cell {inner}, line {inner_line}: "
    "{error}",
    hint="Correct it there and estimate again. It can be submitted all the same: then the job ends there.",
)
_STOPS_BEHIND_WITHIN = Message(
    code="would_stop_behind",
    text="The training step runs; after it the notebook would stop in cell {cell}, line {line}, by what it calls in "
    "cell {inner}, line {inner_line}: {error}",
    hint="Correct it there before you submit, or the job ends there.",
)
_STOPS_IN_MODULE = Message(
    code="would_stop",
    text="The notebook would stop in cell {cell}, line {line}, by what it calls in {file}, line {inner_line}: {error}",
    hint="Correct it there and estimate again. It can be submitted all the same: then the job ends there.",
)
_STOPS_BEHIND_IN_MODULE = Message(
    code="would_stop_behind",
    text="The training step runs; after it the notebook would stop in cell {cell}, line {line}, by what it calls in "
    "{file}, line {inner_line}: {error}",
    hint="Correct it there before you submit, or the job ends there.",
)
_STOPS_ANSWERED = Message(
    code="would_stop_answered",
    text="With the answers that were given the notebook would stop in cell {cell}, line {line}: {error}",
)
_STOPS_ANSWERED_WITHIN = Message(
    code="would_stop_answered",
    text="With the answers that were given the notebook would stop in cell {cell}, line {line}, by what it calls in "
    "cell {inner}, line {inner_line}: {error}",
)
_STOPS_ANSWERED_IN_MODULE = Message(
    code="would_stop_answered",
    text="With the answers that were given the notebook would stop in cell {cell}, line {line}, by what it calls in "
    "{file}, line {inner_line}: {error}",
)
_BY_ANSWERS = {
    _STOPS.text: _STOPS_ANSWERED,
    _STOPS_WITHIN.text: _STOPS_ANSWERED_WITHIN,
    _STOPS_IN_MODULE.text: _STOPS_ANSWERED_IN_MODULE,
}
"""The same where an answer may be to blame; behind the step the hint says so."""
_STOPS_SOMEWHERE = Message(
    code="would_stop",
    text="The notebook would stop: {error}",
    hint="Run it from its first cell in a fresh kernel to see where.",
)
_OF_SCRIPT = {
    _STOPS.text: Message(code="script", text="The script would stop in line {line}: {error}"),
    _STOPS_PROGRAM.text: Message(
        code="script", text="What line {line} runs would stop in {file}, line {inner_line}: {error}"
    ),
    _STOPS_CHANGED.text: Message(code="script", text="The script would stop {changed} in line {line}: {error}"),
    _STOPS_BEHIND.text: Message(
        code="script", text="The training step runs; after it the script would stop in line {line}: {error}"
    ),
    _STOPS_WITHOUT_DEVICE.text: Message(code="script", text="On the CPU the script would stop in line {line}: {error}"),
    _STOPS_WITHIN.text: Message(
        code="script",
        text="The script would stop in line {line}, by what it calls in line {inner_line}: {error}",
    ),
    _STOPS_BEHIND_WITHIN.text: Message(
        code="script",
        text="The training step runs; after it the script would stop in line {line}, by what it calls in line "
        "{inner_line}: {error}",
    ),
    _STOPS_ANSWERED.text: Message(
        code="script", text="With the answers that were given the script would stop in line {line}: {error}"
    ),
    _STOPS_ANSWERED_WITHIN.text: Message(
        code="script",
        text="With the answers that were given the script would stop in line {line}, by what it calls in line "
        "{inner_line}: {error}",
    ),
    _STOPS_IN_MODULE.text: Message(
        code="script",
        text="The script would stop in line {line}, by what it calls in {file}, line {inner_line}: {error}",
    ),
    _STOPS_BEHIND_IN_MODULE.text: Message(
        code="script",
        text="The training step runs; after it the script would stop in line {line}, by what it calls in {file}, line "
        "{inner_line}: {error}",
    ),
    _STOPS_ANSWERED_IN_MODULE.text: Message(
        code="script",
        text="With the answers that were given the script would stop in line {line}, by what it calls in {file}, line "
        "{inner_line}: {error}",
    ),
    _STOPS_SOMEWHERE.text: Message(code="script", text="The script would stop: {error}"),
}
"""The same of a script, which has no cells: what stands in place of each text."""
