"""English in the code, other languages from `locale/`: what every face uses to speak to its reader."""

from __future__ import annotations

import gettext
import os
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .domain.messages import Message, Translate, untranslated

DOMAIN = "jupyter_paddle_gpu"
LOCALE_FOLDER = Path(__file__).parent / "locale"


@cache
def translator(language: str) -> Translate:
    """The translation for a language tag (`zh-CN`, `zh_CN.UTF-8`, `zh-Hans`, `en`); English where there is none."""
    tag = language.split(".")[0].split(",")[0].split(";")[0].replace("-", "_").strip()
    candidates = [tag] if not tag.lower().startswith("zh") else ["zh_CN"]
    try:
        return gettext.translation(DOMAIN, LOCALE_FOLDER, languages=candidates).gettext
    except OSError:
        return untranslated


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
            message = msgspec.convert(value, Message)
            return {
                "code": message.code,
                "message": message.render(translate),
                "hint": message.render_hint(translate),
            }
        return {key: _render(item, translate) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_render(item, translate) for item in value]
    return value
