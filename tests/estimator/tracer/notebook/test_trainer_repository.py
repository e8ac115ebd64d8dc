"""A trainer in a repository of its own (`tools/train.py -c … -o …`) is estimated in the folder it is started in.

Configurations, registries, an argument parser, set-up of distributed training, a data set made deep inside of it,
checkpoints, logs: the step is that of the same program with its data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.sources.traces import tracer_request
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

pytestmark = pytest.mark.paddle

FILES = {
    "configs/base.json": json.dumps({"batch_size": 8}),
    "configs/small.json": json.dumps(
        {
            "base": "base.json",
            "model": {"type": "Small", "classes": 5},
            "train": {"type": "Listed", "root": "data", "names": "data/train.txt", "image_size": 32},
        }
    ),
    "kit/__init__.py": "",
    "kit/registry.py": """
MODELS, DATA = {}, {}
def register(table):
    def keep(kind):
        table[kind.__name__] = kind
        return kind
    return keep
def build(table, described):
    described = dict(described)
    return table[described.pop("type")](**described)
""",
    "kit/models.py": """
from paddle import nn
from .registry import MODELS, register
@register(MODELS)
class Small(nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten())
        self.head = nn.Linear(16, classes)
    def forward(self, x):
        return self.head(self.body(x))
""",
    "kit/data.py": """
import os
import numpy as np
import paddle
from PIL import Image
from .registry import DATA, register
@register(DATA)
class Listed(paddle.io.Dataset):
    def __init__(self, root, names, image_size):
        assert os.path.exists(names), f"path {names} does not exist."
        with open(names) as lines:
            self.items = [line.split() for line in lines]
        self.root, self.image_size = root, image_size
    def __getitem__(self, i):
        name, label = self.items[i]
        image = Image.open(os.path.join(self.root, name)).resize((self.image_size, self.image_size))
        return np.asarray(image, "float32").transpose(2, 0, 1), np.array([int(label)], "int64")
    def __len__(self):
        return len(self.items)
@register(DATA)
class Careful(Listed):
    def __init__(self, **described):
        try:
            self.inner = Listed(**described)
        except AssertionError:
            self.inner = [(np.zeros([3, 16, 16], "float32"), np.zeros([1], "int64"))] * 64
    def __getitem__(self, i):
        return self.inner[i]
    def __len__(self):
        return len(self.inner)
def look(folder, names):
    if not os.path.isfile(os.path.join(folder, names)) or names.startswith("small"):
        raise ValueError(f"Dataset {os.path.realpath(folder)} is not valid for reason above, please check again.")
@register(DATA)
class Checked(Listed):
    def __init__(self, root, names, image_size):
        self.root, self.names, self.image_size = "configs", os.path.basename(names), image_size
        look(self.root, self.names)
        with open(os.path.join(self.root, self.names)) as lines:
            self.items = [line.split() for line in lines]
""",
    "kit/engine.py": """
import json, logging, os
import paddle
import paddle.distributed as dist
from . import data, models
from .registry import DATA, MODELS, build
def load(path):
    with open(path) as file:
        found = json.load(file)
    base = found.pop("base", None)
    return found if base is None else {**load(os.path.join(os.path.dirname(path), base)), **found}
class Engine:
    def __init__(self, config):
        self.logger = logging.getLogger("kit")
        paddle.set_device("gpu" if paddle.is_compiled_with_cuda() else "cpu")
        if dist.get_world_size() > 1:
            dist.init_parallel_env()
        train_set = build(DATA, config["train"])
        sampler = paddle.io.DistributedBatchSampler(train_set, batch_size=config["batch_size"], shuffle=True)
        self.loader = paddle.io.DataLoader(train_set, batch_sampler=sampler, num_workers=2)
        self.model = build(MODELS, config["model"])
        rate = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=len(self.loader) * 10)
        self.optimizer = paddle.optimizer.Momentum(rate, parameters=self.model.parameters())
    def train(self):
        for epoch in range(10):
            for number, (x, y) in enumerate(self.loader):
                loss = paddle.nn.functional.cross_entropy(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                self.optimizer.clear_grad()
                self.logger.info("epoch %d %d/%d loss %f", epoch, number, len(self.loader), float(loss))
            paddle.save(self.model.state_dict(), f"output/{epoch}.pdparams")
""",
    "tools/train.py": """
import argparse, os, sys
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..")))
from kit.engine import Engine, load
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", required=True)
    parser.add_argument("-o", "--override", action="append", default=[])
    args = parser.parse_args()
    config = load(args.config)
    for one in args.override:
        name, _, value = one.partition("=")
        if "." in name:
            config[name.split(".")[0]][name.split(".")[1]] = value
        else:
            config[name] = type(config[name])(value)
    Engine(config).train()
if __name__ == "__main__":
    main()
""",
}
BATCH = {"loader": "float32[8,3,32,32] int64[8,1]"}
CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.undecided.branches import peak
for name, request in json.load(sys.stdin).items():
    os.chdir(request["folder"])
    for known in [module for module in sys.modules if module.split(".")[0] == "kit"]:
        del sys.modules[known]
    found = tracer.trace_notebook(request)
    row = {key: found.get(key) for key in ("status", "batch_size", "inputs", "batch_from", "questions", "stop")}
    row["peak"] = peak(found, "cpu") if found["status"] == "ok" else None
    row["notes"] = [note["code"] for note in found["notes"]]
    print(json.dumps([name, row]))
"""
CASES: dict[str, tuple[tuple[str, ...], dict]] = {
    "with data": ((), {}),
    "without data": ((), {}),
    "answered": ((), {"answers": BATCH}),
    "other batch": (("-o", "batch_size=8"), {"answers": BATCH, "batch_size": 4}),
    "given batch": (("-o", "batch_size=4"), {"answers": {"loader": BATCH["loader"].replace("8,", "4,")}}),
    "own way": (("-o", "train.type=Careful"), {}),
    "checked": (("-o", "train.type=Checked"), {}),
    "refused": (("-o", "train.type=Checked", "-o", "train.names=small.json"), {}),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def traced(run_code: Callable[[str, object], dict], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    complete = tmp_path_factory.mktemp("complete")
    for name, text in FILES.items():
        (complete / name).parent.mkdir(exist_ok=True)
        (complete / name).write_text(text)
    (complete / "data").mkdir()
    Image.fromarray(np.zeros((40, 40, 3), "uint8")).save(complete / "data" / "a.png")
    (complete / "data" / "train.txt").write_text("a.png 1\n" * 160)

    def request(name: str) -> dict:
        more, asked = CASES[name]
        folder = complete if name == "with data" else repository
        source = read_notebook(folder / "tools" / "train.py", arguments=("-c", "configs/small.json", *more))
        facts = inspect_notebook(msgspec.structs.replace(source, runs_in=folder))
        assert facts.loop == "custom", "its modules are read"
        asked = {"answers": {}, **asked}
        return {**tracer_request(facts, folder, EstimateRequest(target="cpu")), "processes": None, **asked}

    return run_code(CHILD, {name: request(name) for name in CASES})


def test_with_its_data_there_is_nothing_to_ask(traced: dict) -> None:
    assert (traced["with data"]["status"], traced["with data"]["batch_size"]) == ("ok", 8)


def test_without_its_data_its_modules_say_what_a_batch_looks_like(traced: dict) -> None:
    row = traced["without data"]
    assert (row["status"], row["stop"], row["questions"]) == ("ok", None, [])
    assert row["peak"] == traced["with data"]["peak"]
    assert "data_followed" in row["notes"]


def test_a_folder_without_its_list_is_absent_data_and_one_that_is_refused_with_it_is_not(traced: dict) -> None:
    assert (traced["checked"]["status"], traced["checked"]["peak"]) == ("ok", traced["with data"]["peak"])
    assert traced["refused"]["stop"]["error"].startswith("ValueError: Dataset ")


def test_an_answer_gives_the_step_that_the_data_would(traced: dict) -> None:
    assert traced["answered"]["peak"] == traced["with data"]["peak"]
    assert "data_absent" in traced["answered"]["notes"]


def test_a_batch_size_among_the_arguments_is_what_another_one_changes(traced: dict) -> None:
    assert traced["other batch"]["batch_size"] == 4
    assert traced["other batch"]["peak"] == traced["given batch"]["peak"]
    (place,) = traced["other batch"]["batch_from"]
    assert (place["cell"], place["how"], place["name"]) == (0, "argument", "batch_size")


def test_a_program_with_its_own_way_to_live_without_files_goes_it(traced: dict) -> None:
    row = traced["own way"]
    assert (row["status"], row["notes"]) == ("ok", [])
    assert row["inputs"] == ["float32[8, 3, 16, 16]", "int64[8, 1]"]


def test_nothing_is_left_in_the_folder(traced: dict, repository: Path) -> None:
    found = {
        os.path.relpath(Path(place) / name, repository) for place, _, names in os.walk(repository) for name in names
    }
    assert {name for name in found if "__pycache__" not in name} == set(FILES)
