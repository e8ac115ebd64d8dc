"""The outputs of one cell within a bounded size."""

import json
from collections import deque
from typing import Any, Deque, Dict, List

from ..spec import Limits

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
"""Kinds of pictures that are shown, in the order in which one is chosen where an output has several."""
_TAIL_BYTES = 64 * 1024


class CellOutputs:
    """Merges printed text, drops what is too much and says so. Works on the cell's own `outputs` list."""

    def __init__(self, outputs: List[Dict[str, Any]], limits: Limits) -> None:
        self._outputs = outputs
        self._limits = limits
        self._clear_next = False
        self._reset()

    def _reset(self) -> None:
        self._stream_bytes = 0
        self._rich_bytes = 0
        self._rich_dropped = 0
        self._pieces: List[str] = []
        self._tail: Deque[str] = deque()
        self._tail_bytes = 0
        self._dropped = 0
        self._cut: Dict[str, Any] = {}
        self._note: Dict[str, Any] = {}

    def stream(self, name: str, text: str) -> None:
        """Printed text of `stdout` or `stderr`."""
        self._begin()
        size = len(text.encode("utf-8", "replace"))
        if self._cut or self._stream_bytes + size > self._limits.cell_stream_bytes:
            self._keep_tail(text, size)
            return
        self._stream_bytes += size
        self._join(name, [text])

    def lines(self, name: str, lines: List[str]) -> None:
        """Many complete lines at once."""
        texts = [line + "\n" for line in lines]
        size = len("".join(texts).encode("utf-8", "replace"))
        if self._clear_next or (not self._cut and self._stream_bytes + size > self._limits.cell_stream_bytes):
            for text in texts:  # clears, or reaches the limit within these lines
                self.stream(name, text)
        elif self._cut:
            self._keep_tail_of(texts, size)
        else:
            self._stream_bytes += size
            self._join(name, texts)

    def _join(self, name: str, texts: List[str]) -> None:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last.get("name") == name:
            last["text"].extend(texts)
        else:
            self._outputs.append({"output_type": "stream", "name": name, "text": texts})

    def _keep_tail_of(self, texts: List[str], size: int) -> None:
        kept, start = 0, len(texts)
        while start and kept <= _TAIL_BYTES:
            start -= 1
            kept += len(texts[start].encode("utf-8", "replace"))
        if start:  # they alone fill the tail
            self._dropped += self._tail_bytes + size - kept
            self._tail.clear()
            self._tail_bytes = 0
        for text in texts[start:]:
            self._keep_tail(text, len(text.encode("utf-8", "replace")))

    def _keep_tail(self, text: str, size: int) -> None:
        """Beyond the limit the last lines are kept, behind a note of how much lies between."""
        self._tail.append(text)
        self._tail_bytes += size
        while self._tail_bytes > _TAIL_BYTES and len(self._tail) > 1:
            gone = len(self._tail.popleft().encode("utf-8", "replace"))
            self._tail_bytes -= gone
            self._dropped += gone
        if not self._cut:
            self._cut = {"output_type": "stream", "name": "stdout", "text": []}
            self._outputs.append(self._cut)

    def settle(self) -> None:
        """Put the kept tail into the outputs; called before they are written."""
        if self._cut:
            note = "\n[%d bytes left out here: the job's log has every line]\n" % self._dropped
            self._cut["text"] = [note, *self._tail]

    def add(self, output: Dict[str, Any]) -> bool:
        """A rich output or an error; False where it is too much for one cell."""
        self._begin()
        size = len(json.dumps(output, default=str))
        if output["output_type"] != "error" and self._rich_bytes + size > self._limits.cell_rich_bytes:
            self._rich_dropped += 1
            if not self._note:
                self._note = {"output_type": "stream", "name": "stderr", "text": []}
                self._outputs.append(self._note)
            self._note["text"] = ["[%d figures or tables left out: too much for one cell]\n" % self._rich_dropped]
            return False
        self._rich_bytes += size
        self._outputs.append(output)
        return True

    def clear(self, *, wait: bool) -> None:
        """`clear_output`: now, or when the next output comes."""
        if wait:
            self._clear_next = True
        else:
            self._begin(force=True)

    def _begin(self, force: bool = False) -> None:
        if force or self._clear_next:
            self._clear_next = False
            self._outputs.clear()
            self._reset()
