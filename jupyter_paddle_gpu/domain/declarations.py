"""How a what-if is declared: what is known of one besides its name and type, and the row that follows from all three.

`what_ifs` has the declarations themselves.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from .messages import Message
from .notebooks import FactValue

Kind = Literal["count", "choice", "switch", "text", "flag"]
"""`count`: a whole number; `choice`: one of some words; `switch`: yes, no or the notebook's own; `flag`: yes or no."""
RealSteps = Literal["follow", "leave_out", "refuse"]
"""What tiny real steps make of a what-if, where tracing fails: they run with it, run without it and say so, or cannot
stand for the step that is asked for."""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A value in words; `{value}` stands for it.

    Attributes:
        label: in a list of choices.
        asked: beside a figure that was computed with it.
        suggested: as something that would save memory.
    """

    label: str = "{value}"
    asked: str = ""
    suggested: str = ""


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a what-if besides its name and type.

    Attributes:
        help: one sentence for the terminal's help and the OpenAPI document.
        label: heads its field in the panel; empty: it has none there.
        least: the smallest number that may be asked for (`bounds` refuses less).
        words: any value in words.
        values: words of single values, which come before `words`; of a switch, those that a form offers.
        in_jobs: whether a job can be run with it too, by a change of its copy of the notebook (`notebook.changes`).
            Without, it is of the estimate alone.
        in_sweeps: whether a sweep tries its values where the notebook has no variable for it.
        picks: it says which of several trainings the others are of: a job takes it along, and changes nothing by it.
        traced: whether it changes the step, so that the tracer is told.
        looks_first: whether the tracer looks at the program before it changes the step, so that of several trainings it
            must know which one is meant.
        sought: whether a search for the largest batch answers it itself, so that `fit` does not ask it.
        sizes_batch: whether the number of samples in a batch hangs on it: a search for the largest one tries it by the
            tracer alone, so that a data set of few samples in the cells limits none of its batches.
        other_data: whether it changes what is learned from: as a remedy it comes last.
        real_steps: what tiny real steps make of it.
        follows: the what-if without which it says nothing; it is taken back with it.
        if_known: whether its field is there only where the estimate has a value of its own under the same name, or the
            notebook's fact named in `fact` says so.
        notes: what the tracer may say of it, by code.
        kept: what the tracer says where the step is another than the one asked for: no answer to a remedy or a search.
    """

    help: str
    label: str = ""
    least: int = 1
    words: Words = Words()
    values: dict[FactValue, Words] = {}
    in_jobs: bool = False
    in_sweeps: bool = False
    picks: bool = False
    traced: bool = True
    looks_first: bool = False
    sought: bool = False
    sizes_batch: bool = False
    other_data: bool = False
    real_steps: RealSteps = "leave_out"
    follows: str = ""
    if_known: bool = False
    fact: str = ""
    notes: tuple[Message, ...] = ()
    kept: tuple[Message, ...] = ()


class WhatIf(Declaration, frozen=True, kw_only=True):
    """A row of the table: a declaration with what its field says.

    Attributes:
        name: of the field, in REST and for the tracer; with hyphens, the option.
        kind: what is asked for.
        default: what is asked for where nobody asks.
        choices: what a form offers of a choice or a switch.
    """

    name: str
    kind: Kind
    default: FactValue = None
    choices: tuple[FactValue, ...] = ()

    def words_of(self, value: FactValue) -> Words:
        """A value in words."""
        return self.values.get(value, self.words)

    def said(self, value: FactValue) -> Message:
        """What a job is run with, in words."""
        return Message(code=self.name, text=self.words_of(value).asked, params={"value": _plain(value)})

    def suggestion(self, value: FactValue) -> Message:
        """A value as a remedy."""
        return Message(code=self.name, text=self.words_of(value).suggested, params={"value": _plain(value)})


def _plain(value: FactValue) -> str:
    return f"{value:,}" if type(value) is int else str(value)


def declared(request: type[msgspec.Struct]) -> tuple[WhatIf, ...]:
    """The table: a row for each field of a request that has a declaration, in their order."""
    hints = get_type_hints(request, include_extras=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(request)}
    rows = []
    for name, hint in hints.items():
        for declaration in getattr(hint, "__metadata__", ()):
            if isinstance(declaration, Declaration):
                typed = _typed(get_args(hint)[0])
                if typed["kind"] == "switch":
                    typed["choices"] = tuple(declaration.values)
                known = {**msgspec.structs.asdict(declaration), **typed}
                rows.append(WhatIf(name=name, default=defaults[name], **known))
    return tuple(rows)


def _typed(hint: Any) -> dict[str, Any]:
    """What a field's type says: kind and choices."""
    arms = get_args(hint)
    optional = type(None) in arms
    plain = next(arm for arm in arms if arm is not type(None)) if optional else hint
    if get_origin(plain) is Literal:
        return {"kind": "choice", "choices": get_args(plain)}
    if plain is bool:
        return {"kind": "switch" if optional else "flag"}
    return {"kind": {int: "count", str: "text"}[plain]}
