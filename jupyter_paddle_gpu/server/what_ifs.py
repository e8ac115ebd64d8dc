"""The table of what-ifs for a front end: what a panel draws for each, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..domain.declarations import Kind, WhatIf
from ..domain.messages import Translate
from ..domain.what_ifs import WHAT_IFS
from .base import PaddleGpuHandler, permitted


class WhatIfChoice(msgspec.Struct, frozen=True, kw_only=True):
    """One value that can be chosen; `asked` stands beside a figure that was computed with it."""

    value: str | int | float | bool
    label: str
    asked: str


class WhatIfField(msgspec.Struct, frozen=True, kw_only=True):
    """What can be asked of an estimate, as a field of a form.

    Attributes:
        name: of the field of `EstimateRequest`.
        label: heads the field.
        asked: stands beside a figure that was computed with a number; `{value}` in it stands for that.
        least: the smallest number.
        choices: all values; none where a number is asked for.
        in_jobs: whether a job is run with it too; all others are of the estimate alone.
        follows: the what-if without which it says nothing; it is taken back with it.
        if_known: whether it makes sense only where the estimate has a value of its own under the same name, or the
            notebook's fact named in `fact` says so.
    """

    name: str
    kind: Kind
    label: str
    asked: str = ""
    least: int | None = None
    choices: tuple[WhatIfChoice, ...] = ()
    in_jobs: bool = False
    follows: str = ""
    if_known: bool = False
    fact: str = ""


def fields(translate: Translate, rows: Iterable[WhatIf] = WHAT_IFS) -> tuple[WhatIfField, ...]:
    """The rows of the table that a form shows."""
    return tuple(_field(row, translate) for row in rows if row.label)


def _field(row: WhatIf, translate: Translate) -> WhatIfField:
    return WhatIfField(
        name=row.name,
        kind=row.kind,
        label=translate(row.label),
        asked=translate(row.words.asked),
        least=row.least if row.kind == "count" else None,
        choices=tuple(
            WhatIfChoice(
                value=value,
                label=translate(row.words_of(value).label).replace("{value}", str(value)),
                asked=translate(row.words_of(value).asked).replace("{value}", str(value)),
            )
            for value in row.choices
            if value is not None
        ),
        in_jobs=row.in_jobs,
        follows=row.follows,
        if_known=row.if_known,
        fact=row.fact,
    )


class WhatIfsHandler(PaddleGpuHandler):
    """GET what-ifs."""

    @permitted("read")
    async def get(self) -> None:
        """Answer the fields, in the table's order."""
        await self.answer(fields(self.translate))
