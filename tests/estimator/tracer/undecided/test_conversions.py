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
