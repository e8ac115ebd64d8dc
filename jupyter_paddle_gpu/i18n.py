"""English in the code, other languages from `locale/`: what every face uses to speak to its reader.

The catalogue is the JSON that JupyterLab's translation manager reads, so that one file serves the front end and Python.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from .domain.decoding import convert
from .domain.messages import Message, Translate, untranslated

DOMAIN = "jupyter_paddle_gpu"
LOCALE_FOLDER = Path(__file__).parent / "locale"


def translator(language: str) -> Translate:
    """The translation for a language tag (`zh-CN`, `zh_CN.UTF-8`, `zh-Hans`, `en`); English where there is none."""
    tag = re.split(r"[.,;]", language, maxsplit=1)[0].strip().replace("-", "_")
    if tag.lower().startswith("zh"):
        tag = "zh_CN"
    return _translator(tag)


@lru_cache(64)  # a tag is what a client writes
def _translator(tag: str) -> Translate:
    path = LOCALE_FOLDER / tag / "LC_MESSAGES" / f"{DOMAIN}.json"
    if not re.fullmatch(r"\w+", tag) or not path.is_file():
        return untranslated
    catalogue: dict[str, Any] = msgspec.json.decode(path.read_bytes())

    def translate(template: str) -> str:
        found = catalogue.get(template) if template else None
        return str(found[0]) if found else template

    return translate


def terminal_language() -> str:
    """The language that the terminal's environment asks for."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.split(":")[0]
    return "en"


def to_json(value: Any, translate: Translate = untranslated) -> Any:
    """Plain JSON of any domain object; each `Message` becomes `{code, message, hint}` in the reader's language."""
    return _render(msgspec.to_builtins(value), translate)


_MESSAGE_FIELDS = frozenset(Message.__struct_fields__)


def _render(value: Any, translate: Translate) -> Any:
    if isinstance(value, dict):
        if value.keys() == _MESSAGE_FIELDS:
            message = convert(value, Message)
            return {
                "code": message.code,
                "message": message.render(translate),
                "hint": message.render_hint(translate),
            }
        return {key: _render(item, translate) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_render(item, translate) for item in value]
    return value
