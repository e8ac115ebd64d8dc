"""What a file of settings holds that is not here is asked for by its own name, also where `int` is made of it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAIN = """
import paddle
class Rows(paddle.io.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return paddle.ones([13])
def train(batch, width):
    net = paddle.nn.Linear(13, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for rows in paddle.io.DataLoader(Rows(), batch_size=batch):
        net(rows).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
READ = {
    "json": "import json\nconf = json.load(open('absent.json'))\n"
    "train(int(conf['train']['batch']), int(conf['model']['width']))",
    "ini": "import configparser\nconf = configparser.ConfigParser(); conf.read('absent.ini')\n"
    "train(int(conf['train']['batch']), int(conf['model']['width']))",
}


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    folder, answers = str(tmp_path_factory.mktemp("program")), {"conf_train_batch": 8, "conf_model_width": 4}
    whole = {name: TRAIN + part for name, part in READ.items()}
    again = {f"{name} answered": source for name, source in whole.items()}
    options = {name: {"folder": folder} for name in whole}
    options |= {name: {"folder": folder, "answers": answers} for name in again}
    return run_child("trace", whole | again, options)


@pytest.mark.parametrize("name", READ)
def test_a_number_is_asked_for_by_its_place_in_the_file(found, name):
    asked = {one["name"]: one["suggestion"] for one in found[name]["questions"]}
    assert asked == {"conf_train_batch": 32, "conf_model_width": 256}


@pytest.mark.parametrize("name", READ)
def test_its_answer_is_that_number(found, name):
    one = found[f"{name} answered"]
    assert (one["status"], one["batch_size"]) == ("ok", 8)


STEP = """
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    net(paddle.rand([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ABSENT = "import json, paddle\nconf = json.load(open('absent.json'))\n"
AS_PYTHON = {
    "another meaning of the name": """
def of(int, text): return int(text)
assert of(list, "ab") == ["a", "b"]
float = str
assert float(3) == "3"
""",
    "no and two arguments": """
assert int(*()) == 0 and int(*("ff", 16)) == int("ff", base=16) == 255 and float(*["3"]) == 3.0
""",
    "what it is": """
import collections, functools, pickle
class Own(int):
    def twice(self): return int(self) * 2
def kind(given):
    match given:
        case int(): return "int"
        case float(): return "float"
assert int is type(3) and isinstance(int, type) and pickle.loads(pickle.dumps(int)) is int
assert Own("4").twice() == 8 and type(int(Own(3))) is int and [kind(int("3")), kind(float("3"))] == ["int", "float"]
assert list(map(int, "12")) == [1, 2] and collections.defaultdict(int)["a"] == 0
assert functools.partial(int, base=2)("101") == 5 and int.from_bytes(b"a", "big") == 97
""",
    "annotations are values": """
import dataclasses, inspect
@dataclasses.dataclass
class Config:
    width: int = 4
    rate: float = 0.1
config = Config(**{one.name: one.type("3") for one in dataclasses.fields(Config)})
assert config.width == 3 and Config.__init__.__annotations__["rate"] is float
assert str(inspect.signature(lambda: 0)) == "()"
""",
    "annotations are texts from there on": """
from __future__ import annotations
#---
class Tree:
    def leaf(self) -> Leaf: ...
    left: Tree
class Leaf: ...
assert Tree.__annotations__ == {"left": "Tree"}
""",
}
"""What hangs on `int`, `float` and annotations in the cells of a notebook, in which an error would be told."""


@pytest.fixture(scope="module")
def plain(run_child):
    sources = {name: f"import paddle\n#---\n{source}\n#---\n{STEP}" for name, source in AS_PYTHON.items()}
    sources |= {f"{name} beside absent data": f"{ABSENT}#---\n{source}\n#---\n{STEP}\nprint(conf['width'] + 1)"
                for name, source in AS_PYTHON.items()}  # fmt: skip
    return run_child("trace", sources)


@pytest.mark.parametrize("name", AS_PYTHON)
@pytest.mark.parametrize("beside", ["", " beside absent data"])
def test_names_and_annotations_are_pythons_own(plain, name, beside):
    found = plain[name + beside]
    assert (found["status"], found["stop"]) == ("ok", None)
