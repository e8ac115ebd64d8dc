"""A program that ends in order, or a step later, where its file is not there: it is followed as if the file were."""

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
def train(rows):
    loader = paddle.io.DataLoader(Rows(rows), batch_size=16)
    net = paddle.nn.Linear(13, 1)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for x, y in loader:
        (net(x) - y).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
def load(path):
    if not os.path.isfile(path):
        print("no", path)
        return None
    return np.load(path)
"""
ENDING = {
    "returns": """
def main():
    if not os.path.exists(DATA):
        print("no data")
        return
    train(np.load(DATA))
main()
""",
    "with_status": """
def main():
    rows = load(DATA)
    if rows is None:
        return 1
    train(rows)
    return 0
if __name__ == "__main__":
    sys.exit(main())
""",
    "leaves": "rows = load(DATA)\nif rows is None:\n    sys.exit('no rows')\ntrain(rows)",
    "raises": "rows = load(DATA)\nif rows is None:\n    raise ValueError('no rows')\ntrain(rows)",
    "takes_none": "train(load(DATA)[:400])",
    "otherwise": "if Path(DATA).exists():\n    train(np.load(DATA))\nelse:\n    print('put the data to', DATA)",
    "caught": """
def main():
    os.makedirs("logs") if not os.path.isdir("logs") else None
    try:
        rows = np.load(DATA)
    except Exception as problem:
        print("failed", problem)
        return
    train(rows)
main()
""",
    "beside_results": """
def last(folder):
    return sorted(one for one in os.listdir(folder) if one.startswith("checkpoint"))[-1]
def main():
    begins = last("results") if os.path.isdir("results") else None
    try:
        rows = np.load(DATA)
    except Exception as problem:
        print("failed", problem)
        return
    train(rows)
main()
""",
    "caught_within": """
def rows_of(path):
    try:
        return np.load(path)
    except FileNotFoundError:
        return None
rows = rows_of(DATA)
if rows is not None:
    train(rows)
""",
}
BUILT = """
def build():
    if 3 > 2:
        raise ValueError("the table is broken")
train(np.load(DATA) if os.path.exists(DATA) else build())
"""
IDLE = "if os.path.exists(DATA):\n    print(np.load(DATA).shape)"
MADE = "rows = load(DATA)\nrows = np.random.rand(506, 14).astype('float32') if rows is None else rows\ntrain(rows)"
PROGRAMS = {name: HEAD + part for name, part in {**ENDING, "built": BUILT, "idle": IDLE, "made": MADE}.items()}


@pytest.fixture(scope="module")
def found(run_child):
    answered = {"returns_answered": {"answers": {"loader": "float32[16,13] float32[16,1]"}}}
    return run_child("trace", {**PROGRAMS, "returns_answered": PROGRAMS["returns"]}, answered)


@pytest.mark.parametrize("name", ENDING)
def test_a_program_that_ends_for_want_of_its_file_is_asked_for_a_batch(found, name):
    (asked,) = found[name]["questions"]
    assert (asked["name"], asked["suggestion"]) == ("loader", "float32[16,13] float32[16,1]")


def test_an_answer_leads_to_the_figure(found):
    assert found["returns_answered"]["status"] == "ok"
    assert found["returns_answered"]["peak"] > 0


def test_what_a_program_makes_without_its_file_is_followed(found):
    assert (found["made"]["status"], found["made"]["questions"]) == ("ok", [])


def test_a_fault_of_what_makes_it_is_told(found):
    assert "the table is broken" in found["built"]["stop"]["error"]


def test_a_program_that_trains_nothing_asks_for_nothing(found):
    assert (found["idle"]["status"], found["idle"]["questions"]) == ("no_model", [])
