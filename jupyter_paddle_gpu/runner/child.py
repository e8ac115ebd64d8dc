"""The process that executes the cells. It owns no file: all it does is told to the supervisor."""

import io
import os
import sys
from pathlib import Path
from typing import Any, Dict, Optional

from . import channel, event_files, own_settings, paddle_hooks, processes
from . import spec as specs
from .interrupts import Interrupts
from .records import document
from .shells import programs
from .shells.base import CellOutcome, Publisher, Shell, failure_of
from .shells.plain import PlainShell


class Stream(io.TextIOWrapper):
    """stdout as Python code sees it: written through at once, so that its order with native output is kept and a crash
    loses nothing."""

    def write(self, text: str) -> int:
        """Write and flush."""
        count = super().write(text)
        self.flush()
        return count


class ErrorStream(Stream):
    """stderr as Python code sees it: goes through the channel, which keeps its order with stdout."""

    sender: Optional[channel.Sender] = None

    def write(self, text: str) -> int:
        """Send, or write plainly in a fork of this process."""
        if self.sender is None or not self.sender.mine:
            return super().write(text)
        if text:
            self.sender.send_errors(str(text))
        return len(text)


class NoKeyboard(io.TextIOWrapper):
    """stdin of a job: empty for programs that read it, a clear error for code that asks."""

    def readline(self, size: Any = -1) -> Any:
        """What `input` and `getpass` call."""
        raise EOFError("nobody is there to answer: put the value into a cell instead of asking for it")


def _pass_over(*_: Any, **__: Any) -> None:
    """`breakpoint()`: a job goes on."""
    print("breakpoint() was passed over: a job has no keyboard.", file=sys.stderr)


def main(path: str, messages: str, answers: str, nonce: str, parent: str) -> int:
    """Execute the notebook of a `spec.json`; 0 where every cell ran."""
    processes.die_with_parent(int(parent))
    spec = specs.read(path)
    stdout = os.dup(1)  # marks go there even where the notebook redirects descriptor 1
    sender = channel.Sender(stdout, int(messages), int(answers), nonce)
    interrupts = Interrupts(sender)
    interrupts.install()
    sys.stdout = Stream(_pipe(1), encoding="utf-8", errors="replace")
    sys.stderr = ErrorStream(_pipe(2), encoding="utf-8", errors="replace")
    sys.stderr.sender = sender
    sys.stdin = NoKeyboard(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.breakpointhook = _pass_over
    sys.path.insert(0, spec.folder)
    os.environ["PADDLE_GPU_RUNNER"] = str(_runner(Path(sys.argv[0]).resolve()))
    sys.argv = [sys.argv[0]]
    paddle_hooks.install(sender, interrupts)
    event_files.install(sender)
    return _run(spec, sender, interrupts)


def _runner(started: Path) -> Path:
    """The runner's folder or archive; Paddle's launcher, which starts one process a device, names the file in it."""
    return started.parent if started.name == "__main__.py" else started


def _pipe(descriptor: int) -> io.BufferedWriter:
    """A pipe as a file: buffered, because only that goes on after a write that a signal cut short."""
    return io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))


def _run(spec: specs.Spec, sender: channel.Sender, interrupts: Interrupts) -> int:
    notebook = document.Document(spec.source, spec.notebook, job_id=spec.id, limits=spec.limits)
    copies = own_settings.kept(notebook.settings, spec.log.parent / "settings", spec.folder)
    answered = own_settings.kept(notebook.answered, spec.log.parent / "settings", spec.folder, answered=True)
    own_settings.install(copies, answered)  # before IPython's `open`
    absent = [path for path in notebook.answered if not Path(spec.folder, path).exists()]
    publisher = Publisher(sender)
    shell = _shell(spec, publisher)
    fields = {"version": sys.version.split()[0], "shell": shell.title, "folder": spec.folder}
    sender.send("hello", fields=fields, settings=[Path(path).name for path in notebook.settings], answered=absent)
    programs.heed(document.source_of(notebook.cells[index]) for index in notebook.code_cells)
    completed = True
    ended: Dict[str, int] = {}
    """The first program that a cell has started and that ended badly."""
    for count, index in enumerate(notebook.code_cells, 1):
        if sender.ask("cell", index=index, count=count) != "g":
            completed = False
            break
        paddle_hooks.cell_starts(count)
        outcome = _execute(shell, document.source_of(notebook.cells[index]), count, interrupts)
        allowed = "raises-exception" in document.tags_of(notebook.cells[index])
        failed = outcome.failure is not None and (not allowed or outcome.interrupted)
        failure = dict(outcome.failure or {}, cell=index) if failed else None
        status = programs.taken()
        if status and not ended:
            ended = {"program_cell": index, "program_status": status}
        facts = dict(paddle_hooks.facts(), **ended)
        sender.send("end", index=index, ok=not failed, failure=failure, facts=facts)
        if failed:
            completed = False
            break
    shell.close()
    interrupts.close()
    sender.send("bye", completed=completed, facts=paddle_hooks.facts())
    return 0 if completed else 1


def _execute(shell: Shell, source: str, count: int, interrupts: Interrupts) -> CellOutcome:
    try:
        with interrupts.heard():
            return shell.run(source, count)
    except KeyboardInterrupt as interrupt:  # right before its first line, or after its last
        return CellOutcome(failure_of(interrupt, ""), interrupted=True)


def _shell(spec: specs.Spec, publisher: Publisher) -> Shell:
    if spec.shell != "plain":
        try:
            from .shells.ipython import IPythonShell

            return IPythonShell(publisher, spec.sets)
        except ImportError:
            pass
    return PlainShell(publisher, spec.sets)
