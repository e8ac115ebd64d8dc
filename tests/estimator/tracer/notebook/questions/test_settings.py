"""Numbers of settings files by their keys, each where its digits stand."""

from __future__ import annotations

import pytest

FILES = {
    "JSON": (
        '{\n  "lr": 0.001,\n  "train": {"batch_size": 32, "rate": 1.5},\n  "eval": {"batch_size": 16}\n}',
        {"train.batch_size": 32, "eval.batch_size": 16},
    ),
    "JSON in a line": ('{"train": {"batch": "32"}, "eval": {"batch": 4}}', {"train.batch": 32, "eval.batch": 4}),
    "YAML": (
        "# batch: 1\nlr: 0.1\nTrain:\n  loader:\n    bs: 32   # of each\n"
        "Eval:\n  - loader: {bs: 16, n: '2'}\nname: x1\n",
        {"Train.loader.bs": 32, "Eval.loader.bs": 16, "Eval.loader.n": 2},
    ),
    "an anchor": (
        "size: &bs 32\ntrain:\n  batch: *bs\neval: {batch: *bs}\n",
        {"size": 32, "train.batch": 32, "eval.batch": 32},
    ),
    "a text in YAML": ("text: |\n  batch: 3\n  x: 4\nbatch: 5\n", {"batch": 5}),
    "lines of Windows": ("größe: ä\r\nbatch: 32\r\n", {"batch": 32}),
    "TOML": ("[train]\nbatch = 32 # n\nrate = 1e-3\n[eval]\nbatch=8\n", {"train.batch": 32, "eval.batch": 8}),
}


@pytest.mark.parametrize("kind", FILES)
def test_numbers_by_their_keys(kind):
    settings = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.settings")
    text, wanted = FILES[kind]
    lines = text.encode().split(b"\n")
    found = list(settings.numbers_in(text.encode()))
    assert {one.name: one.value for one in found} == wanted
    assert all(int(lines[one.line - 1][one.column : one.end]) == one.value for one in found)
