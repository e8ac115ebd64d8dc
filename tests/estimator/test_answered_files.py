"""What a job reads in place of a file of settings that is not there, as the program's own readers read it."""

from __future__ import annotations

import configparser
import json

import pytest

from jupyter_paddle_gpu.estimator.answered_files import of_trace
from jupyter_paddle_gpu.estimator.trace import Trace, TracedField, TracedSettings

yaml, tomllib = pytest.importorskip("yaml"), pytest.importorskip("tomllib")
CONTENT = {
    "lr": 1e-05, "on": "no", "name": "größe: 1 # a", "flag": True,
    "model": {"widths": [64, 0.5], "deep": {"a b": "x"}}, "layers": [{"units": 8}, {"units": 16}], "empty": {},
}  # fmt: skip
READERS = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}


def _fields(content, keys=()):
    pairs = enumerate(content) if isinstance(content, list) else content.items()
    for key, value in pairs:
        inner = isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict))
        yield TracedField((*keys, key), "" if inner else json.dumps(value))
        if inner:
            yield from _fields(value, (*keys, key))


def _told(kind: str, content: dict) -> str:
    settings = (TracedSettings("/w/run", kind, tuple(_fields(content))),)
    (file,) = of_trace(Trace(status="ok", settings=settings))
    return file.text


@pytest.mark.parametrize("kind", READERS)
def test_each_form_says_what_was_answered(kind):
    assert READERS[kind](_told(kind, CONTENT)) == CONTENT
    assert READERS[kind](_told(kind, {})) == {}


def test_an_ini_says_it_in_sections():
    parser = configparser.ConfigParser()
    parser.read_string(_told("ini", {"train": {"batch": 16, "name": "a"}, "empty": {}}))
    assert {name: dict(parser[name]) for name in parser.sections()} == {
        "train": {"batch": "16", "name": "a"},
        "empty": {},
    }


def test_what_no_form_can_say_is_not_written():
    assert of_trace(Trace(status="ok", settings=(TracedSettings("/w/run", "", ()),))) == ()
