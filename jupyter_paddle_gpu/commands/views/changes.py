"""What a job's copy of a notebook has otherwise, for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...domain.changes import Changes
from ...domain.estimates import Remedy
from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from .. import markup
from ..face import View
from ..speech import Speech, together

if TYPE_CHECKING:
    from rich.console import RenderableType

STYLES = {"+": "green", "-": "red", "@": "cyan"}

_HEAD = re.compile(r"^(---|\+\+\+) (after )?cell (\d+)$", re.MULTILINE)


def headed(difference: str, say: Speech) -> str:
    """A difference whose heads name the cells in the reader's language."""

    def head(found: re.Match[str]) -> str:
        sign, after, cell = found.groups()
        return f"{sign} {say('after cell {cell}', cell=cell) if after else say('cell {cell}', cell=cell)}"

    return _HEAD.sub(head, difference)


def bound_later(request: EstimateRequest, changes: Changes) -> Iterator[Message]:
    """Which answers a job gets without a changed cell."""
    if names := ", ".join(one for one in request.answers if one not in changes.written):
        text = "A job gets {names} as it runs; no cell is changed for that."
        yield Message(code="set_as_it_runs", text=text, params={"names": names})


def unsuited(remedies: Sequence[Remedy], say: Speech) -> list[str]:
    """Why no job can be given some remedies, those of one reason together."""
    named: dict[str, list[str]] = {}
    for remedy in remedies:
        if remedy.refused is not None:
            why = together(remedy.refused.render(say.translate), remedy.refused.render_hint(say.translate))
            named.setdefault(why, []).append(remedy.says.render(say.translate))
    return [say("{changes}: {why}", changes=", ".join(changes), why=why) for why, changes in named.items()]


class ChangesView(View):
    """The difference, with what cannot be changed and why; `done` says what became of it, `notes` what else is to be
    known."""

    def __init__(self, changes: Changes, done: str = "", notes: Sequence[Message] = ()) -> None:
        self.data: Changes = changes
        self.status = 1 if changes.refused else 0
        self._done = done
        self._notes = notes

    def _lead(self, say: Speech) -> str:
        says = " · ".join(message.render(say.translate) for message in self.data.says)
        if self.data.difference:
            return f"{says}:" if says else ""
        if says and not self.data.refused:
            return say("Nothing is changed: it is so already ({says}).", says=says)
        return say("Nothing is changed in it.")

    def rich(self, say: Speech) -> RenderableType:
        """A unified diff in its usual colours."""
        from rich.console import Group
        from rich.text import Text

        from ..drawing import sentence

        parts: list[RenderableType] = [sentence(self._lead(say), "bold")]
        lines = headed(self.data.difference, say).split("\n") if self.data.difference else []
        parts += [Text(line, style=STYLES.get(line[:1], "")) for line in lines]
        for refusal in self.data.refused:
            parts.append(sentence(refusal.why.render(say.translate), "yellow"))
            parts.append(sentence(refusal.why.render_hint(say.translate), "dim"))
        parts += [sentence(note.render(say.translate)) for note in self._notes]
        if self._done:
            parts.append(sentence(self._done))
        return Group(*parts)

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        out = [f"<p><strong>{escape(self._lead(say))}</strong></p>"]
        if self.data.difference:
            out.append(f"<pre>{escape(headed(self.data.difference, say))}</pre>")
        out += [f"<p>{markup.message(say, refusal.why)}</p>" for refusal in self.data.refused]
        out += [f"<p>{markup.message(say, note)}</p>" for note in self._notes]
        if self._done:
            out.append(f"<p>{escape(self._done)}</p>")
        return "".join(out)
