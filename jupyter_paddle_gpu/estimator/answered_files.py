"""Files of settings as a job reads them where they are not there: what was answered, in the form that the program
reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..domain.estimates import AnsweredFile, Question
from ..domain.messages import Message
from .trace import Trace, TracedField

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*$")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""Names that YAML reads as values."""


def of_trace(trace: Trace) -> tuple[AnsweredFile, ...]:
    """Those whose form can say what was answered."""
    return tuple(
        AnsweredFile(path=one.path, text=_WRITERS[one.kind](_content(one.fields))) for one in trace.settings if one.kind
    )


def asked(trace: Trace) -> tuple[Question, ...]:
    """What else the job takes of such files: there is a figure without it, and an answer reaches the job."""
    return tuple(
        Question(name=name, why=msgspec.structs.replace(_OPEN, params={"name": name, "file": Path(one.path).name}))
        for one in trace.settings if one.kind
        for name in one.lacks
    )  # fmt: skip


_OPEN = Message(
    code="setting_open",
    text="The job takes {name} of {file}, which is not on this machine, and ends there without it.",
    hint="With an answer it reads a file that says it. The figure stands without one.",
)


def _content(fields: Iterable[TracedField]) -> Any:
    """The mapping that the fields are of, with lists where keys are numbers."""
    root: dict[str | int, Any] = {}
    for one in fields:
        at = root
        for key in one.keys[:-1]:
            at = at.setdefault(key, {})
        at.setdefault(one.keys[-1], {})
        if one.value:
            at[one.keys[-1]] = json.loads(one.value)
    return _listed(root)


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(key, int) for key in value):
        return [_listed(value[key]) for key in sorted(value)]
    return {key: _listed(one) for key, one in value.items()}


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _yaml(content: Any) -> str:
    return "\n".join(_yaml_lines(content, "")) + "\n" if content and isinstance(content, dict) else _json(content)


def _yaml_lines(content: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in content.items():
        name = key if _PLAIN.match(key) and key.lower() not in _WORDS else json.dumps(key)
        if isinstance(value, dict) and value:
            yield f"{indent}{name}:"
            yield from _yaml_lines(value, indent + "  ")
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """A value as JSON, which YAML and TOML read too, with the point that they want in `1.0e-05`."""
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_scalar(one)}" for key, one in value.items()) + "}"
    said = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?\d+)e", r"\1.0e", said) if isinstance(value, float) else said


def _toml(content: dict[str, Any]) -> str:
    return "\n".join(_toml_lines(content, ())) + "\n"


def _toml_lines(content: dict[str, Any], within: tuple[str, ...]) -> Iterator[str]:
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    if within:
        yield f"[{'.'.join(map(_toml_key, within))}]"
    for key, value in content.items():
        if key not in tables:
            yield f"{_toml_key(key)} = {_toml_value(value)}"
    for key, value in tables.items():
        yield from _toml_lines(value, (*within, key))


def _toml_key(key: str) -> str:
    return key if _PLAIN.match(key) else json.dumps(key, ensure_ascii=False)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(one)}" for key, one in value.items()) + "}"
    return f"[{', '.join(map(_toml_value, value))}]" if isinstance(value, list) else _scalar(value)


def _ini(content: dict[str, Any]) -> str:
    return "\n".join(f"[{name}]\n{_ini_lines(section)}" for name, section in content.items())


def _ini_lines(section: dict[str, Any]) -> str:
    return "".join(f"{key} = {value}\n" for key, value in section.items())


_WRITERS = {"json": _json, "yaml": _yaml, "toml": _toml, "ini": _ini}
