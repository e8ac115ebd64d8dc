"""Keeps what happens: log, events and notebook, in the order in which it happened."""

import codecs
import contextlib
import re
import time
from typing import Any, Dict, List, Optional, Tuple

from .. import files
from ..spec import Spec
from . import metrics
from .document import Document
from .events import Events
from .lines import Lines, coloured, plain
from .log import Log
from .outputs import PICTURES

RESERVE_BYTES = 256 * 1024
"""Kept free beside the log, so that a full disk still takes the result."""
_DETAIL_CHARACTERS = 300
_OF_SCRIPT = {
    "All cells ran in {seconds} s.": "The script ran to its end in {seconds} s.",
    "Ended after {seconds} s in cell {cell}: {detail}": "Ended after {seconds} s: {detail}",
    "{left} processes that the notebook left behind were ended.": (
        "{left} processes that the script left behind were ended."
    ),
}
"""What stands in place of a sentence where a script ran, which has no cells."""
_PLACE = re.compile(r'Cell In ?\[(\d+)\], line (\d+)|File "<cell (\d+)>", line (\d+)')
"""How the executors name a cell and its line in a traceback."""


class Recorder:
    """Owner of every file of the job folder while the job runs."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._log = Log(spec.log)
        self._events = Events(
            spec.events, metric_seconds=spec.limits.metric_seconds, metric_burst=spec.limits.metric_burst
        )
        self._reserve = spec.result.with_name("reserve")
        self._keep_reserve()
        self.document = Document(spec.source, spec.notebook, job_id=spec.id, limits=spec.limits)
        self._total = len(self.document.code_cells)
        self._done = 0
        self._cells: Dict[int, int] = {}  # by the number with which it ran
        self._cell, self._figures = 0, 0  # the one that runs, and the pictures that it has drawn
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._lines = {name: self._assembler(name) for name in ("stdout", "stderr")}
        self.notebook_full = False
        self._saved_at = time.monotonic()

    def _assembler(self, name: str) -> Lines:
        limits, reader = self._spec.limits, metrics.Reader()

        def emit(text: str, replaces: bool, complete: bool, end: str) -> None:
            shown = plain(text)
            self._log.add(time.time(), name, shown, replaces, not complete, coloured=coloured(text))
            for found in reader.read([shown]):
                self._events.metric(found)
            if complete:
                self.document.stream(name, text + end)

        def emit_lines(texts: List[str]) -> None:
            shown = texts if all(map(str.isprintable, texts)) else plain("\n".join(texts)).split("\n")
            if any("\x1b" in text for text in texts):
                now = time.time()
                for index, text in enumerate(texts):
                    self._log.add(now, name, shown[index], coloured=coloured(text))
            else:
                self._log.add_lines(time.time(), name, shown)
            for found in reader.read(shown):
                self._events.metric(found)
            self.document.lines(name, texts)

        return Lines(
            emit,
            emit_lines,
            limit=limits.line_characters,
            state_seconds=limits.state_seconds,
            partial_seconds=limits.partial_seconds,
        )

    def printed(self, name: str, data: bytes) -> None:
        """Bytes that were written to stdout or stderr."""
        self._lines[name].feed(self._decoders[name].decode(data))

    def system(self, text: str, **params: Any) -> None:
        """A line of the runner's own; `params` are the fields of its template."""
        text = _OF_SCRIPT.get(text, text) if self._spec.is_script else text
        self._log.add(time.time(), "system", text.format(**params), says=(text, params))

    def message(self, message: Dict[str, Any]) -> None:
        """What the child has to say besides printed bytes."""
        kind = message["kind"]
        if kind == "metric":
            self._events.metric({key: value for key, value in message.items() if key != "kind"}, callback=True)
        elif kind == "event_files":
            self._events.add(kind, viewer=message["viewer"], folder=message["folder"])
        elif kind in ("display", "result", "update", "clear", "error"):
            self._finish_lines()
            self.document.rich(message)
            self._log_rich(message)

    def _log_rich(self, message: Dict[str, Any]) -> None:
        if message["kind"] == "error":
            self._add_lines("stderr", "\n".join(message["traceback"]))
        elif message["kind"] in ("display", "result"):
            figure = None
            if any(kind in message["data"] for kind in PICTURES):
                self._figures += 1
                figure = (self._cell, self._figures)
            self._add_lines("result", str(message["data"].get("text/plain") or ""), figure)
        elif message["kind"] == "clear":
            self._figures = 0

    def _add_lines(self, stream: str, text: str, figure: Optional[Tuple[int, int]] = None) -> None:
        """Lines of text; a picture stands in the first of them."""
        limit = self._spec.limits.line_characters
        for raw in (coloured(text) or plain(text)).splitlines() or ([""] if figure else []):
            line = plain(raw)
            whole = len(line) <= limit
            for at in range(0, len(line) or 1, limit):
                self._log.add(
                    time.time(),
                    stream,
                    line[at : at + limit],
                    coloured=coloured(raw) if whole else "",
                    place=self._place(line) if whole and stream == "stderr" else None,
                    figure=figure,
                )
                figure = None

    def _place(self, line: str) -> Optional[Tuple[int, int]]:
        """Index of the cell and line in it that a traceback's line names; those count cells as they ran."""
        found = _PLACE.search(line)
        if found is None:
            return None
        count, number = [int(part) for part in found.groups() if part is not None]
        index = self._cells.get(count)
        return None if index is None else (index, number)

    def start_cell(self, index: int, count: int) -> None:
        """A cell begins; what is printed from now on is its output."""
        self._finish_lines()
        self._events.cell_started()
        self._cells[count] = index
        self._cell, self._figures = index, 0
        self.document.start_cell(index, count)
        self._events.add("cell", cell=index, state="started", done=self._done, total=self._total)

    def end_cell(self, index: int, ok: bool) -> None:
        """A cell is through: saved at once."""
        self._finish_lines()
        self._done += 1 if ok else 0
        self.document.end_cell(index)
        state = "finished" if ok else "failed"
        self._events.add("cell", cell=index, state=state, done=self._done, total=self._total)
        self.save(force=False)

    def _finish_lines(self) -> None:
        for lines in self._lines.values():
            lines.finish()

    def tick(self) -> None:
        """What is due with time: states of progress bars, waiting metrics, the notebook of a long cell."""
        for lines in self._lines.values():
            lines.tick()
        self._events.tick()
        if time.monotonic() - self._saved_at >= self._spec.limits.save_seconds:
            self.save(force=False)

    def flush(self) -> bool:
        """Write the log; False while the disk is full."""
        return self._log.flush()

    def save(self, *, force: bool) -> None:
        """Save the notebook; a full disk leaves the last good one and is remembered."""
        try:
            saved = self.document.save(force=force)
        except OSError as error:
            if not files.is_full(error):
                raise
            self.notebook_full = True
            return
        finally:
            self._saved_at = time.monotonic()
        if saved:
            self.notebook_full = False
            self._events.add("saved")

    def finish(self, outcome: Dict[str, Any]) -> None:
        """Write everything out and publish the notebook. A full disk is told in `outcome`, nothing raises for it."""
        self._finish_lines()
        self._drop_reserve()
        self.save(force=True)
        if self.notebook_full and outcome["reason"] == "succeeded":
            outcome.update(reason="disk_full", message=str(self._spec.notebook), exit_code=1)
        template, fields = _closing_words(outcome)
        self.system(template, **fields)
        self._publish()
        self._events.add("ended", reason=outcome["reason"])
        self._log.flush()
        with contextlib.suppress(OSError):
            self._log.close()
            self._events.close()

    def _publish(self) -> None:
        output: Optional[Any] = self._spec.output
        if output is None:
            return
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            files.replace(output, self._spec.notebook.read_bytes())
        except OSError as error:
            self.system(
                "The executed notebook could not be written to {output}: {why}",
                output=str(output),
                why=error.strerror or str(error),
            )
            self._events.add("publish_failed", path=str(output), error=str(error))
        else:
            self._events.add("published", path=str(output))

    def _keep_reserve(self) -> None:
        with contextlib.suppress(OSError):
            files.replace(self._reserve, b"\0" * RESERVE_BYTES)

    def _drop_reserve(self) -> None:
        with contextlib.suppress(OSError):
            self._reserve.unlink()


def _closing_words(outcome: Dict[str, Any]) -> Tuple[str, Dict[str, Any]]:
    """The sentence with which a log ends, and its fields."""
    params: Dict[str, Any] = {"seconds": round(outcome["seconds"], 1)}
    if outcome["reason"] == "succeeded" and outcome.get("program_status"):
        params.update(cell=outcome["program_cell"] + 1, status=outcome["program_status"])
        return "All cells ran in {seconds} s; the program that cell {cell} starts failed: exit status {status}.", params
    if outcome["reason"] == "succeeded":
        return "All cells ran in {seconds} s.", params
    failure = outcome.get("failure")
    params["detail"] = (outcome.get("message") or "").split("\n")[0][:_DETAIL_CHARACTERS] or outcome["reason"]
    if not failure:
        return "Ended after {seconds} s: {detail}", params
    return "Ended after {seconds} s in cell {cell}: {detail}", dict(params, cell=failure["cell"] + 1)
