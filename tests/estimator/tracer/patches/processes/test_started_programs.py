"""Scripts that a program starts in processes of their own are followed where they stand; nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import argparse, os, sys
import paddle
from sizes import WIDTH
parser = argparse.ArgumentParser()
parser.add_argument("-b", type=int)
asked = parser.parse_args()
model = paddle.nn.Linear(WIDTH, int(os.environ.get("OUT", 3)))
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    loss = model(paddle.rand([asked.b, WIDTH])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HEAD = "import asyncio, os, subprocess, sys\nfrom subprocess import PIPE\n"
OPENED = """
with subprocess.Popen([sys.executable, "train.py", "-b", "8"], cwd="trainer", stdout=PIPE, text=True) as process:
    for line in process.stdout:
        print(line)
assert process.wait() == 0
"""
AWAITED = """
command = [sys.executable, "-m", "paddle.distributed.launch", "--devices", "0,1", "train.py", "-b", "8"]
started = asyncio.create_subprocess_exec(*command, cwd="trainer", stdout=asyncio.subprocess.PIPE)
async def followed():
    process = await started
    while await process.stdout.read(1):
        pass
    return await process.wait()
assert asyncio.run(followed()) == 0
"""
WAYS = {
    "run": 'subprocess.run([sys.executable, "-u", "train.py", "-b", "8"], cwd="trainer", check=True)',
    "shell": 'subprocess.check_call("python train.py -b 8", shell=True, cwd="trainer")',
    "module": 'os.chdir("trainer")\nsubprocess.run([sys.executable, "-m", "train", "-b", "8"], check=True)',
    "system": 'os.chdir("trainer")\nassert os.system(f"{sys.executable} train.py -b 8") == 0',
    "output": 'assert subprocess.check_output(["python3", "train.py", "-b", "8"], cwd="trainer") == b""',
    "line": 'assert os.system("cd trainer && X=1 python train.py -b 8 > log.txt 2>&1 | tee other.txt") == 0',
    "IPython": 'get_ipython().system("cd trainer; python train.py -b 8")',
    "opened": OPENED,
    "awaited": AWAITED,
}


BUILDS = """
import subprocess, sys
if subprocess.call("{} setup.py build_ext --inplace".format(sys.executable), shell=True) != 0:
    raise RuntimeError("cannot compile")
from .compiled import grow
"""
LINES = """
import numpy as np
import paddle
class SimpleDataSet(paddle.io.Dataset):
    def __init__(self, config, mode, logger, seed=None):
        self.lines = self.get_image_info_list(config[mode]["dataset"]["label_file_list"], [1.0])
        self.characters = self.known(config["Global"]["character_dict_path"])
    def get_image_info_list(self, file_list, ratio_list):
        return [line for file in file_list for line in open(file, "rb")]
    def known(self, character_dict_path):
        with open(character_dict_path, "rb") as file:
            return file.readlines()
    def __getitem__(self, index):
        return np.zeros([3, 8, 8], "float32")
    def __len__(self):
        return len(self.lines)
"""
READS = """
import paddle
from ppocr.data.simple_dataset import SimpleDataSet
own = {"label_file_list": ["/data/absent/train.txt"], "transforms": [{"CTCLabelEncode": None}]}
asked = {"Global": {"character_dict_path": "/data/absent/dictionary.txt"}, "Train": {"dataset": own}}
data = SimpleDataSet(asked, "Train", None)
model = paddle.nn.Conv2D(3, len(data.characters), 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for batch in paddle.io.DataLoader(data, batch_size=4):
    model(batch).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
EPOCHS = """
import copy, paddle
model = paddle.nn.Linear(1000, 1000)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
best = []
def evaluated():
    model.eval()
    with paddle.no_grad():
        best.append(model(paddle.rand([2, 1000])))
for epoch in range(4):
    model.train()
    for batch in paddle.io.DataLoader([paddle.rand([1000]) for _ in range(64)], batch_size=8):
        model(batch).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    weight = KEPT
    evaluated()
"""
WANTS = """
import paddle
words = open("dictionary.txt").read().split()
model = paddle.nn.Embedding(len(words), 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    model(paddle.zeros([8], "int64")).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FILES = {
    "trainer/epochs.py": EPOCHS.replace("KEPT", "copy.deepcopy(model.state_dict())"),
    "trainer/plain.py": EPOCHS.replace("KEPT", "None"),
    "trainer/ppocr/__init__.py": "",
    "trainer/ppocr/data/__init__.py": "",
    "trainer/ppocr/data/simple_dataset.py": LINES,
    "trainer/reads.py": READS,
    "trainer/train.py": SCRIPT,
    "trainer/sizes.py": "WIDTH = 4\n",
    "trainer/fails.py": "import paddle\npaddle.nn.Linear(4, 3)(paddle.rand([2, 5]))\n",
    "trainer/wants.py": WANTS,
    "decoding/__init__.py": BUILDS,
    "setup.py": "from Cython.Build import cythonize\n",
    "sizes.py": "WIDTH = 4\n",
}
OTHERS = {
    "epochs": 'subprocess.run([sys.executable, "epochs.py"], cwd="trainer", check=True)',
    "plain": 'subprocess.run([sys.executable, "plain.py"], cwd="trainer", check=True)',
    "reads": 'subprocess.run([sys.executable, "reads.py"], cwd="trainer", check=True)',
    "wants": 'subprocess.run([sys.executable, "wants.py"], cwd="trainer", check=True)',
    "given": 'subprocess.run([sys.executable, "train.py", "-b", "8"], cwd="trainer", env={**os.environ, "OUT": "5"})\n'
    'assert "OUT" not in os.environ',
    "fails": 'if subprocess.run([sys.executable, "fails.py"], cwd="trainer").returncode:\n    raise SystemExit(1)',
    "absent": 'subprocess.run([sys.executable, "absent.py"])',
    "behind_absent": 'assert os.system("cd trainer && python absent.py") == 512\nos.chdir("trainer")\n'
    'assert os.system("python train.py -b 8") == 0',
    "nowhere": 'subprocess.run([sys.executable, "train.py"], cwd="absent")',
    "other": 'subprocess.run(["make", "all"])',
    "builds": 'sys.argv[1:] = ["-b", "8"]\nfrom decoding import grow\n' + SCRIPT,
}
CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer

def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork"):
        raise PermissionError(event)

tracer.prepare()
sys.addaudithook(refuse)
folder, sources = json.load(sys.stdin)
for name, source in sources.items():
    cells = [{"index": 0, "source": source}]
    found = tracer.trace_notebook({"cells": cells, "folder": folder, "wall_seconds": 20.0})
    row = {key: found.get(key) for key in ("status", "batch_size", "parameters")}
    row["questions"] = [[q["why"], q["params"]] for q in found["questions"]]
    row["stop"] = found.get("stop")
    row["bytes"] = sum(storage[0] for storage in found.get("storages", ()))
    row["absent"] = [note["params"] for note in found["notes"] if note["code"] == "program_absent"]
    row["notes"] = [note["code"] for note in found["notes"]]
    print(json.dumps([name, row]), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    """A repository of a trainer beside the program that starts it."""
    folder: Path = tmp_path_factory.mktemp("repositories")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return run_code(CHILD, [str(folder), {name: HEAD + source for name, source in {**WAYS, **OTHERS}.items()}])


@pytest.mark.parametrize("name", WAYS)
def test_a_script_is_followed_however_it_is_started(traced, name):
    """By every function of the standard library, with its arguments, its folder and the modules beside it."""
    row = traced[name]
    assert (row["status"], row["batch_size"], row["parameters"], row["questions"]) == ("ok", 8, 15, [])


def test_a_script_has_the_environment_that_it_is_given(traced):
    assert traced["given"]["parameters"] == 25


def test_what_an_epoch_leaves_alive_is_in_the_next_one(traced):
    """Whether an evaluation may keep anything is seen in the script that is started, not in what starts it."""
    assert (traced["epochs"]["status"], traced["plain"]["status"]) == ("ok", "ok")
    assert traced["epochs"]["bytes"] - traced["plain"]["bytes"] >= 4 * 1000 * 1000


def test_a_script_that_fails_is_told_of_by_its_own_error(traced):
    """Not by that of the program which looks at its exit status."""
    row = traced["fails"]
    assert row["status"] == "would_stop"
    assert (row["stop"]["file"], row["stop"]["file_line"]) == ("fails.py", 2)


def test_a_script_that_is_not_here_is_told_of_by_its_name(traced):
    assert (traced["absent"]["status"], traced["absent"]["questions"]) == ("no_model", [])
    assert traced["absent"]["absent"] == [{"path": "absent.py", "cell": 1, "line": 3}]


def test_the_program_goes_on_behind_a_script_that_is_not_here(traced):
    """With the exit status that Python has then."""
    row = traced["behind_absent"]
    assert (row["status"], row["batch_size"]) == ("ok", 8)
    assert [one["path"] for one in row["absent"]] == ["trainer/absent.py"]


@pytest.mark.parametrize("name", ["nowhere", "other"])
def test_what_is_no_script_is_refused_as_before(traced, name):
    row = traced[name]
    assert (row["status"] == "ok", row["absent"]) == (False, [])


def test_a_module_that_compiles_itself_is_passed_by(traced):
    """What decodes the results of a detector is compiled where it is imported; no step needs it."""
    row = traced["builds"]
    assert (row["status"], row["batch_size"]) == ("ok", 8)


def test_what_a_file_decides_is_asked_for(traced):
    """Although nothing in the program that starts it trains."""
    assert traced["wants"]["status"] == "needs_input"
    assert [(why, params["beside"]) for why, params in traced["wants"]["questions"]] == [("number_unseen", "wants.py")]


def test_how_many_characters_there_are_decides_of_the_model_and_is_asked_for(traced):
    """How many outputs a recogniser has is known by a file alone that is not here, and so are its samples then."""
    row = traced["reads"]
    assert row["status"] == "needs_input"
    assert [(why, params["inner"]) for why, params in row["questions"]] == [("number_unseen", 7), ("batch_unseen", 9)]
