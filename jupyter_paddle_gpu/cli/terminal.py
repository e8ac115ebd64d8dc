"""The terminal: where answers are drawn, how errors end the process, how a log is streamed."""

from __future__ import annotations

import io
import os
import shlex
import sys
import threading
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from click.shell_completion import shell_complete

from ..commands import click_words
from ..commands.face import Face, View, no_notebook
from ..commands.group import JSON, paddle_gpu
from ..commands.listing import COMMANDS
from ..commands.options import localise
from ..commands.tail import LogTail
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.jobs.job import Job
from ..domain.messages import Message, Param
from ..i18n import terminal_language, to_json
from . import interrupts
from .answering import Answering
from .interrupts import Interrupts
from .log_printer import LinePrinter, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from ..domain.notebooks import FactValue, NotebookSource

FAILED, USAGE, INTERRUPTED, UNREAD = 1, 2, interrupts.STATUS, 141
"""Exit statuses: refused or failed, wrongly asked; as shells give them: interrupted, nobody reads us any more."""


RULE_COLUMNS = 100
"""Of a rule between rows there."""
PIPE_COLUMNS = 1000
"""Width of a drawing that no terminal shows, unless `COLUMNS` says otherwise."""

PROGRAM = "jupyter-paddle-gpu"
COMPLETE_VARIABLE = "_JUPYTER_PADDLE_GPU_COMPLETE"
"""Asks for words that complete what is typed; `eval "$(_JUPYTER_PADDLE_GPU_COMPLETE=bash_source jupyter-paddle-gpu)"`
(or `zsh_source`, `fish_source`) lets a shell ask."""

DEBUG_VARIABLE = "PADDLE_GPU_DEBUG"
"""Set: a mistake of ours shows its traceback."""


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status. An error is one sentence and a next step, never a traceback."""
    face = TerminalFace(terminal_language())
    with face.interrupts.watched(), click_words.spoken(face.say):
        localise(paddle_gpu, face.say)
        try:
            return _run(face, arguments)
        finally:
            face.close()


def _forgive_signs(*, as_json: bool) -> None:
    """Where the terminal's encoding lacks a sign (GBK has no ✓), it is shown by another one and ends no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace" if as_json else "replace")


def _run(face: TerminalFace, arguments: list[str]) -> int:
    as_json = "--json" in arguments  # errors too, even where the arguments cannot be parsed
    _forgive_signs(as_json=as_json)
    try:
        return _invoke(face, arguments)
    except PaddleGpuError as error:
        return face.fail(error.message, USAGE if error.status == 400 else FAILED, as_json=as_json)
    except click.ClickException as error:
        return face.fail(_usage(error, arguments), USAGE, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # `… | head`: whoever read us has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        text, hint = "Something went wrong inside: {error}.", "Please report it with what {variable}=1 shows."
        params: dict[str, Param] = {"error": f"{type(error).__name__}: {error}", "variable": DEBUG_VARIABLE}
        return face.fail(Message(code="internal", text=text, hint=hint, params=params), FAILED, as_json=as_json)


_NAME = "jupyter paddle-gpu"
_BEHIND = (
    "What the program itself takes stands behind “--”: `jupyter paddle-gpu {command} {script} -- {option} …`. "
    "See `jupyter paddle-gpu {command} --help`."
)
_LAUNCHED = (
    "A job starts its processes itself, one a device: `jupyter paddle-gpu {command} {script} --devices 2 -- …`. "
    "See `jupyter paddle-gpu {command} --help`."
)


def _unfilled(line: str) -> str:
    """A line without the blanks, or the rule, that fill a row of any width."""
    line = line.rstrip()
    return line if line.strip(" ─") else line[:RULE_COLUMNS]


def _usage(error: click.ClickException, arguments: list[str]) -> Message:
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else ""
    command = path.removeprefix(_NAME).strip()
    hint = "See `jupyter paddle-gpu {command} --help`."
    script = next((one for one in arguments if one.endswith(".py")), None)
    if isinstance(error, click.NoSuchOption) and script is not None and "--" not in arguments:
        params: dict[str, Param] = {"problem": click_words.problem_of(error), "command": command, "script": script}
        behind = _LAUNCHED if "paddle.distributed.launch" in arguments else _BEHIND
        return Message(code="usage", text="{problem}", hint=behind, params={**params, "option": error.option_name})
    commands = vars(error).get(COMMANDS, "")
    if not command:
        hint = "See `jupyter paddle-gpu --help`."
    if not arguments:  # the help itself is the answer
        hint = "Begin with `jupyter paddle-gpu estimate train.ipynb`."
    if commands:
        hint = (
            "The commands are {commands}. See `jupyter paddle-gpu {command} --help`."
            if command
            else "The commands are {commands}. See `jupyter paddle-gpu --help`."
        )
    told: dict[str, Param] = {"problem": click_words.problem_of(error), "command": command, "commands": commands}
    return Message(code="usage", text="{problem}", hint=hint, params=told)


def _invoke(face: TerminalFace, arguments: list[str]) -> int:
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(paddle_gpu, {"obj": face}, PROGRAM, COMPLETE_VARIABLE, instruction)
    try:
        with paddle_gpu.make_context(_NAME, list(arguments), obj=face) as context:
            view = paddle_gpu.invoke(context)
            if not isinstance(view, View):
                return 0
            face.show(view, as_json=bool(context.meta.get(JSON)))
            return view.status
    except click.exceptions.Exit as done:  # --help and the like
        return done.exit_code


class TerminalFace(Face):
    """Draws with colour where the terminal has it; `NO_COLOR` and pipes are respected."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.interrupts = Interrupts()
        """Places that were asked for and that the person left open."""

    def hold(self) -> None:
        """From now on Ctrl-C waits until the job that is being submitted can be told."""
        self.interrupts.hold()

    @cached_property
    def console(self) -> Console:
        """Standard output."""
        from rich.console import Console

        # In a pipe a row stays a row: `jobs | grep` finds what belongs together.
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_COLUMNS
        return Console(highlight=False, width=width)

    def source(self, notebook: str | None, arguments: tuple[str, ...] = ()) -> NotebookSource:
        """The notebook by its path; a terminal has none at hand."""
        if not notebook:
            newest = max(Path().glob("*.ipynb"), key=lambda path: path.stat().st_mtime, default=Path("train.ipynb"))
            raise no_notebook(click.get_current_context().info_name or "estimate", shlex.quote(str(newest)))
        return self.services.open(Path(notebook), arguments=arguments)

    def show(self, view: View, *, as_json: bool) -> None:
        """Draw an answer, or print it as JSON."""
        if as_json:
            _print(msgspec.json.format(msgspec.json.encode(view.json(self.say))).decode())
        else:
            from rich.console import Group

            with self.console.capture() as drawn:  # rich itself would end the process where nobody reads
                self.console.print(Group(view.rich(self.say)), crop=False)
            text = drawn.get()
            if not sys.stdout.isatty():  # rich fills rows with blanks up to the width
                text = "".join(_unfilled(line) + "\n" for line in text.splitlines())
            sys.stdout.write(text)
            sys.stdout.flush()
        self.interrupts.release()

    def fail(self, message: Message, status: int, *, as_json: bool) -> int:
        """Say what went wrong: on standard error for people, as JSON on standard output for programs."""
        if as_json:
            _print(msgspec.json.encode(to_json(message, self.say.translate)).decode())
            return status
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True, highlight=False)
        # The terminal folds them: commands in them can be copied.
        console.print(Text(message.render(self.say.translate), style="bold red"), soft_wrap=True)
        if hint := message.render_hint(self.say.translate):
            console.print(Text(hint), soft_wrap=True)
        return status

    def working(self) -> AbstractContextManager[object]:
        """A line on standard error that goes when the answer comes; none where nobody watches."""
        if not sys.stderr.isatty():
            return super().working()
        from rich.console import Console

        return Console(stderr=True).status(self.say("Tracing one training step; nothing is trained …"))

    def tell(self, sentence: str) -> None:
        """A line on standard error, also where nobody watches: a script's log is to hold it."""
        sys.stderr.write(f"{sentence}\n")

    def watch(self, view: Callable[[], View], seconds: float) -> None:
        """In one place of a terminal; in a pipe one below the other. Ctrl-C ends it."""
        from ..commands.drawing import in_place

        if not sys.stdout.isatty():
            while True:
                self.show(view(), as_json=False)
                wait(seconds)
        in_place(lambda: view().rich(self.say), self.console, lambda: wait(seconds))

    def is_watched(self) -> bool:
        """A terminal, and no pipe."""
        return sys.stdout.isatty()

    def show_log(self, job: Job, since: int, *, rank: int = 0, as_json: bool) -> None:
        """The log as far as it is."""
        from ..commands.views.job import silent

        printer, tail = LinePrinter(as_json=as_json), LogTail(self.services, job.id, since, rank=rank)
        for lines in tail.pages():
            printer.write(lines)
        printer.close()
        if not tail.next and not as_json:
            print(silent(self.say, job), file=sys.stderr)

    def answers(self, estimate: Estimate) -> dict[str, FactValue]:
        """Asked one by one where a person sits at the terminal: Enter takes what is suggested, and ends the questions
        where nothing is."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return {}
        return self._answering.answers(estimate)

    def agrees(self, view: View, question: str) -> bool | None:
        """Shown and asked where a person sits at the terminal: Enter is no."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return None
        self.show(view, as_json=False)
        return str(click.prompt(f"{question} [y/N]", default="", show_default=False)).strip().lower() in {"y", "yes"}

    @cached_property
    def _answering(self) -> Answering:
        return Answering(self.console, self.say)

    def attend(self) -> None:
        """Look after the queue in this process; the terminal may be closed at any moment (`Interrupts`)."""
        services = self.services
        if services.engines:  # a daemon takes a while to say what it is: meanwhile the rest is loaded
            threading.Thread(target=services.features, name="paddle-gpu engines", daemon=True).start()
        services.jobs.attend()

    def follow(self, job: Job, since: int, *, as_json: bool) -> Job:
        """The log until the job ends. Ctrl-C stops looking, not the job."""
        printer = LinePrinter(as_json=as_json)
        tail = LogTail(self.services, job.id, since, wait=wait)
        try:
            self.interrupts.release()
            for lines in tail.follow():
                printer.write(lines)
        except KeyboardInterrupt:
            text = "You stopped looking; the job goes on."
            hint = "`jupyter paddle-gpu logs {id} -f` looks again, `jupyter paddle-gpu cancel {id}` ends it."
            note = Message(code="detached", text=text, hint=hint, params={"id": job.id})
            printer.close()
            self.fail(note, INTERRUPTED, as_json=False)
            raise
        printer.close()
        return self.services.jobs.get(job.id)

    def follow_lines(self, lines: Iterator[str], left: Message) -> None:
        """A line at a time. Ctrl-C stops looking."""
        self.interrupts.release()
        try:
            for line in lines:
                _print(line)
        except KeyboardInterrupt:
            self.fail(left, INTERRUPTED, as_json=False)
            raise

    def close(self) -> None:
        """Stop what the command started in this process."""
        if "services" in self.__dict__:
            self.services.close()


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
