"""Policy files for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...domain.messages import Message
from ..speech import Speech
from .machine import TableView

if TYPE_CHECKING:
    from ...services.policies.overview import PolicyReport


class PolicyView(TableView):
    """The files or what they settle; status 1 where one of them is wrong."""

    folding = (1,)

    def __init__(self, report: PolicyReport, *, values: bool) -> None:
        self.data: PolicyReport = report
        self._values = values
        self.status = int(bool(report.problems))

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        if self._values:
            return say("Field"), say("Value")
        return say("Whose"), say("File"), say("Here")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a field, or a file."""
        if not self._values:
            whose = {"system": say("the system's"), "user": say("yours"), "notebook": say("beside the notebook")}
            return [
                (whose[place.scope], place.path, say("yes") if place.found else say("no")) for place in self.data.places
            ]
        rows: list[Sequence[str]] = []
        for section, fields in self.data.settled.items():
            if isinstance(fields, dict):
                rows += [(f"{section}.{name}", _plain(value)) for name, value in fields.items()]
            else:
                rows.append((section, _plain(fields)))
        return rows

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What is wrong, and what else is to be said."""
        if self.data.problems:
            return (*self.data.problems, *self.data.notes)
        found = any(place.found for place in self.data.places)
        none = Message(
            code="policy_none",
            text="There is no policy file: the defaults hold.",
            hint="`jupyter paddle-gpu policy init` writes one.",
        )
        fine = Message(code="policy_right", text="The policy files are right.")
        return (*self.data.notes, *(() if self._values and found else (fine if found else none,)))


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    return str(value)
