"""Sentences for people, kept apart from the language they are shown in.

A `Message` holds the English template and its parameters, so that it can be stored with a job, sent as JSON and
rendered later in the reader's language. Templates are gettext message ids: `locale/<language>/LC_MESSAGES` holds
their translations under the domain `jupyter_paddle_gpu`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Union

import msgspec

Param = Union[str, int, float, "Message"]
"""What stands in a field of a template: a value, or another sentence, which is put into the reader's language too."""
Translate = Callable[[str], str]
"""Maps an English template to the reader's language (the template itself where there is no translation)."""


def untranslated(template: str) -> str:
    """The identity `Translate`: English."""
    return template


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing to say to a person: what happened and what to do next.

    Attributes:
        code: stable identifier in snake_case; programs compare this, never the text.
        text: English template with `{name}` fields: what happened, as one sentence.
        hint: English template of the next step; empty where there is none to take.
        params: values of the fields of both templates.
        singular: `text` where the number in the field `counted` is 1.
    """

    code: str
    text: str
    hint: str = ""
    params: Mapping[str, Param] = {}
    singular: str = ""
    counted: str = ""

    def filled(self, **params: Param) -> Message:
        """The same with these values in its fields."""
        return msgspec.structs.replace(self, params=params)

    def render(self, translate: Translate = untranslated) -> str:
        """The sentence in the reader's language."""
        is_one = self.singular and self.params.get(self.counted) == 1
        return _fill(translate(self.singular if is_one else self.text), self.params, translate)

    def render_hint(self, translate: Translate = untranslated) -> str:
        """The next step in the reader's language, or an empty string."""
        return _fill(translate(self.hint), self.params, translate) if self.hint else ""


def _fill(template: str, params: Mapping[str, Param], translate: Translate) -> str:
    # A translation with a field that the code does not give must not turn a message into a crash.
    try:
        return template.format_map(
            {name: value.render(translate) if isinstance(value, Message) else value for name, value in params.items()}
        )
    except (KeyError, IndexError, ValueError):
        return template
