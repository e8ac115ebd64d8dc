"""A program that ends itself where a file is not there which it looks for: the file counts as data that is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import os, sys, numpy as np, paddle
from pathlib import Path
class Rows(paddle.io.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __getitem__(self, i):
        return self.rows[i, :13], self.rows[i, 13:]
    def __len__(self):
        return len(self.rows)
DATA = "absent.npy"
"""
TRAINING = """
loader = paddle.io.DataLoader(Rows(rows), batch_size=16)
net = paddle.nn.Linear(13, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in loader:
    (net(x) - y).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ENDING = {
    "leaves": "if not os.path.exists(DATA):\n    print('no data')\n    sys.exit(1)\nrows = np.load(DATA)",
    "otherwise": "if Path(DATA).is_file():\n    rows = np.load(DATA)\nelse:\n    print('missing')\n    exit()",
    "named": "is_there = os.path.isfile(DATA)\nif not is_there:\n    sys.exit('no data')\nrows = np.load(DATA)",
    "raises": "if os.path.exists(DATA):\n    rows = np.load(DATA)\nelse:\n    raise RuntimeError('no data')",
}
MADE = "rows = np.load(DATA) if os.path.exists(DATA) else np.random.rand(506, 14).astype('float32')"
SOUND = {
    "made": f"if not os.path.exists('kept'):\n    os.makedirs('kept')\n{MADE}",
    "scratch": f"{MADE}\nif os.path.exists('net.pdparams'):\n    print('goes on')\nelse:\n    print('from scratch')",
}
OTHER = (
    MADE + "\nif not os.path.exists('absent.cfg') and len(rows) > 0:\n    pass\nif len(rows) < 1000:\n    sys.exit(3)"
)
PROGRAMS = {name: HEAD + part + TRAINING for name, part in {**ENDING, **SOUND, "other": OTHER}.items()}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("trace", PROGRAMS)


@pytest.mark.parametrize("name", ENDING)
def test_a_file_without_which_a_program_ends_itself_is_data(found, name):
    (asked,) = found[name]["questions"]
    assert (asked["name"], asked["suggestion"]) == ("loader", "float32[16,13] float32[16,1]")


@pytest.mark.parametrize("name", SOUND)
def test_what_a_program_makes_without_its_file_is_its_own(found, name):
    assert (found[name]["status"], found[name]["questions"]) == ("ok", [])


def test_an_end_for_another_reason_is_told(found):
    assert found["other"]["status"] != "ok"
    assert [one["why"] for one in found["other"]["questions"]] == ["cell_failed"]
