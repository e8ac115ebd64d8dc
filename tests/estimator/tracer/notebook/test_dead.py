"""A training in an arm that never runs asks for nothing."""

from __future__ import annotations

import argparse
import ast

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook import dead, reached

_HEAD = """
import argparse
import numpy as np
import paddle
"""
_TRAINS = """
    net = paddle.nn.Linear(4, 2)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for row in rows:
        net(paddle.to_tensor(row)).mean().backward()
        optimizer.step()
"""
_PARSER = """
parser = argparse.ArgumentParser()
parser.add_argument("--train", action="store_true")
"""
ARGUMENTS = f"{_HEAD}{_PARSER}args = parser.parse_args([])\nrows = np.load('rows.npy')\nif args.train:{_TRAINS}"
WITHIN = f"""{_HEAD}{_PARSER}
def run(args, rows):
  if args.train:{_TRAINS}
  else:
    print(len(rows))
if __name__ == "__main__":
    args = parser.parse_args([])
    run(args, np.load("rows.npy"))
"""
SOURCES = {
    "constant": f"{_HEAD}rows = np.load('rows.npy')\nif False:{_TRAINS}",
    "name": f"{_HEAD}TRAIN = False\nrows = np.load('rows.npy')\nif TRAIN and len(rows):{_TRAINS}",
    "arguments": ARGUMENTS,
    "within": WITHIN,
    "behind data": f"""{_HEAD}
def predict(count):
    net = paddle.nn.Embedding(count, 4)
    print(net(paddle.to_tensor([int(input("word"))])))
def train(rows):{_TRAINS}
if __name__ == "__main__":
    rows = np.load("rows.npy")
    mode = "predict"
    if mode == "train":
        train(rows)
    else:
        predict(len(rows))
""",
    "method": f"""{_HEAD}
class Work:
    def train(self, rows):
        {_TRAINS.strip().replace(chr(10), chr(10) + "    ")}
    def score(self):
        print(np.load("rows.npy").mean())
{_PARSER.replace("--train", "--mode").replace('action="store_true"', "default='train'")}
work = Work()
work.score()
# work.train(np.load("rows.npy"))
""",
    "left": f"""{_HEAD}
class Rows(paddle.io.Dataset):
    def __init__(self):
        self.rows = np.load("rows.npy")
    def __getitem__(self, index):
        return self.rows[index]
    def __len__(self):
        return len(self.rows)
def parse_args():
    {_PARSER.strip().replace(chr(10), chr(10) + "    ").replace("--train", "--evaluate-only")}
    args = parser.parse_args(["--evaluate-only"])
    return args
def run(args, rows):
    if args.evaluate_only:
        for batch in paddle.io.DataLoader(rows, batch_size=4):
            print(paddle.nn.Linear(4, 2)(batch[0]).mean())
        return
    train(rows)
def train(rows):{_TRAINS}
if __name__ == "__main__":
    args = parse_args()
    run(args, Rows())
""",
    "trains": WITHIN.replace('action="store_true"', "default=True"),
    "answered": f"{_HEAD}TRAIN = False\nrows = np.load('rows.npy')\nif TRAIN:{_TRAINS}",
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES, {"answered": {"answers": {"TRAIN": True}}})


@pytest.mark.paddle
@pytest.mark.parametrize("name", ["constant", "name", "behind data", "method", "left"])
def test_a_dead_training_asks_nothing(traced, name):
    assert (traced[name]["status"], traced[name]["questions"]) == ("no_model", [])


@pytest.mark.paddle
@pytest.mark.parametrize("name", ["arguments", "within"])
def test_one_that_an_option_leaves_out_asks_for_the_option_first(traced, name):
    asked = [(one["why"], one["name"], one["suggestion"]) for one in traced[name]["questions"]]
    assert asked == [("argument_trains", "train", True), ("batch_unseen", "rows", "float32[32,4]")]


@pytest.mark.paddle
@pytest.mark.parametrize("name", ["trains", "answered"])
def test_one_that_runs_asks_for_its_batch(traced, name):
    (asked,) = [one for one in traced[name]["questions"] if one["kind"] == "batch"]
    assert asked["suggestion"] == "float32[32,4]"


@pytest.mark.parametrize(
    ("test", "way"),
    [
        ("False", False),
        ("not TRAIN", True),
        ("TRAIN and unknown", False),
        ("TRAIN or unknown", None),
        ("mode == 'test'", True),
        ("args.epochs > 3", False),
        ("args.other", None),
        ("mode > 3", None),
        ("call()", None),
    ],
)
def test_a_condition_is_told_by_what_is_known(test, way):
    known = {"TRAIN": False, "mode": "test", "args": argparse.Namespace(epochs=2)}
    assert dead.decided(ast.parse(test, mode="eval").body, known) is way


def test_what_a_module_does_as_a_program_is_not_reached():
    module = "def f():\n    pass\nif __name__ == '__main__':\n    loss.backward()\n"
    assert "backward" in "".join(reached.reached(["import module"], [module]))
    assert "backward" not in "".join(reached.reached(["import module"], [module], {}, [module]))


@pytest.mark.parametrize(
    ("code", "is_reached"),
    [
        ("Work().score()  # Work().train()\nprint('train')", False),
        ("Work().train()", True),
        ("run(Work().train)", True),
        ("getattr(Work(), 'train')()", True),
        ("fire.Fire(Work)", True),
        ("Work().score()\nclass Work(Base):\n    def train(self):\n        loss.backward()", True),
        ("Own().score()\nclass Own(Work): pass", False),
    ],
)
def test_a_method_is_reached_by_its_name(code, is_reached):
    work = "class Work:\n    def train(self):\n        loss.backward()\n    def score(self):\n        self.net.eval()"
    assert ("backward" in "".join(reached.reached([f"{work}\n{code}"], []))) is is_reached


def test_what_others_call_of_any_object_is_reached():
    work = "class Work:\n    def fit(self):\n        loss.backward()\nGridSearchCV(Work(), {})"
    assert "backward" in "".join(reached.reached([work], []))


def test_a_name_that_is_bound_twice_is_not_settled():
    namespace = {"once": True, "twice": False, "made": object()}
    assert dead.settled(["once = True\ntwice = True\ntwice = False\nmade = f()"], namespace) == {"once": True}


def test_what_a_loop_binds_is_not_settled_by_its_last_round():
    source = "for phase in ('train', 'val'):\n    trains = phase == 'train'\n    if trains:\n        loss.backward()"
    assert dead.settled([source], {"phase": "val", "trains": False}) == {}


def test_what_a_function_calls_by_the_same_name_is_another_thing():
    tree = ast.parse("def f(train):\n    if train:\n        a()\nif train:\n    b()")
    assert ast.unparse(dead.alive(tree, {"train": False})) == ast.unparse(
        ast.parse("def f(train):\n    if train:\n        a()\npass")
    )


def test_what_a_function_binds_itself_is_another_thing():
    """PaddleGAN's registry calls a dictionary `args`, as its program does the command line."""
    source = "def build(cfg):\n    args = cfg.copy()\n    if args:\n        a()\nargs = parse()\nif args.eval:\n    b()"
    known = dead.settled([source], {"args": argparse.Namespace(eval=False)})
    assert known == {"args": argparse.Namespace(eval=False)}
    found = ast.unparse(dead.alive(ast.parse(source), known))
    assert "a()" in found
    assert "b()" not in found


def test_behind_what_leaves_a_function_nothing_runs():
    loop = "    for x in y:\n        if args.eval:\n            a()\n            continue\n        b()"
    source = f"def f(args):\n{loop}\n    c()"
    known = {"args": argparse.Namespace(eval=True)}
    assert ast.unparse(dead.alive(ast.parse(source), known)) == source.replace(
        "        if args.eval:\n            a()\n            continue\n        b()", "        a()\n        continue"
    )


def test_a_constant_is_known_before_the_code_came_to_it():
    """`mode = "predict"` behind a download that failed, and of unknown content with the block around it."""
    source = "if __name__ == '__main__':\n    download()\n    mode = 'predict'\n    if mode == 'train':\n        go()"
    assert dead.settled([source], {}) == dead.settled([source], {"mode": object()}) == {"mode": "predict"}
    assert dead.settled([source], {"mode": "train"}) == {"mode": "train"}  # an answer
    assert dead.settled([f"{source}\nexec(open('flags').read())"], {}) == {}
    assert dead.settled(["def f():\n    mode = 'predict'"], {}) == {}


def test_the_tree_itself_stays_as_it_is():
    source = (
        "def f():\n    try:\n        if False:\n            a()\n    except E:\n        if True:\n            b()\n"
    )
    tree = ast.parse(source)
    before = ast.dump(tree)
    assert ast.unparse(dead.alive(tree, {})) == "def f():\n    try:\n        pass\n    except E:\n        b()"
    assert ast.dump(tree) == before
