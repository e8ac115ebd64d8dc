"""An evaluation between epochs whose annotations are not here is passed by, and the next epoch is followed."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.paddle

TRAINER = """
import copy, json
import paddle
class Data:
    def get_anno(self):
        return {annotations!r}
class Trainer:
    def __init__(self):
        self.cfg = {{"EvalDataset": Data()}}
        self.model = paddle.nn.Linear(1000, 1000)
        self.optimizer = paddle.optimizer.SGD(parameters=self.model.parameters())
        self._init_metrics()
    def _init_metrics(self, validate=False):
        self._metrics = [len(json.load(open(self.cfg["EvalDataset"].get_anno())))] if validate else []
    def _eval_with_loader(self, loader):
        self.model.eval()
        for batch in loader:
            self._metrics.append(self.model(batch))
        assert self._metrics[0] == 2
    def train(self, validate=False):
        for epoch in range(4):
            self.model.train()
            for batch in paddle.io.DataLoader([paddle.rand([1000]) for _ in range(64)], batch_size=8):
                self.model(batch).mean().backward()
                self.optimizer.step()
                self.optimizer.clear_grad()
            weight = copy.deepcopy(self.model.state_dict())
            if validate:
                self._init_metrics(validate=validate)
                with paddle.no_grad():
                    self._eval_with_loader([paddle.rand([2, 1000])])
"""
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from ppdet.engine.trainer import Trainer
trainer = Trainer()
evaluated = []
with __import__("paddle").no_grad():
    trainer.model.eval(), evaluated.append(trainer.model(__import__("paddle").rand([1, 1000])))
trainer.train({validate})
"""


def _program(folder, annotations, *, validate):
    package = folder / "ppdet" / "engine"
    package.mkdir(parents=True)
    for file in (folder / "ppdet" / "__init__.py", package / "__init__.py"):
        file.write_text("")
    (package / "trainer.py").write_text(TRAINER.format(annotations=str(annotations)))
    return PROGRAM.format(folder=str(folder), validate=validate)


@pytest.fixture(scope="module")
def traced(run_child, tmp_path_factory):
    """Each in a process of its own, as each has a module of that name."""
    told = tmp_path_factory.mktemp("told") / "annotations.json"
    told.write_text(json.dumps([1, 2]))
    wanted = {"alone": (told, False), "there": (told, True), "absent": (told.with_name("absent.json"), True)}
    return {
        name: run_child("trace", {name: _program(tmp_path_factory.mktemp(name), file, validate=validate)})[name]
        for name, (file, validate) in wanted.items()
    }


def test_the_next_epoch_is_followed_without_the_annotations(traced):
    """It has a copy of the weights alive, as one without an evaluation has."""
    assert [row["status"] for row in traced.values()] == ["ok"] * 3
    assert traced["absent"]["peak"] == traced["alone"]["peak"]


def test_it_says_that_they_are_not_there(traced):
    piles = "batches_pile_up"  # each batch is one tensor: real ones stay until Python's collector comes
    assert [row["notes"] for row in traced.values()] == [[piles], [piles], [piles, "data_absent"]]
