"""What a program saves and loads again, where what it writes stays in a folder of the estimate's own."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CODE = """
import json, os, sys, tempfile
private = os.path.realpath(tempfile.mkdtemp())
sys.path.insert(0, sys.argv[1])
from zygote.overlay import Overlay
import tracer
sent = json.load(sys.stdin)
os.chdir(sent["folder"])
def mine(path):
    whole = os.path.realpath(os.fsdecode(path))
    return whole == private or whole.startswith(private + os.sep)
Overlay(private, mine, lambda _: None).install()
for name, source in sent["sources"].items():
    cells = [{"index": 0, "source": source}]
    found = tracer.trace_notebook({"cells": cells, "answers": {}, "target": "cpu"})
    notes = [one["code"] for one in found["notes"]]
    print(json.dumps([name, [found["status"], found.get("stop"), notes, found.get("parameters")]]))
"""
BEGIN = """
import os, shutil
import paddle
net = paddle.nn.Linear(6, 3)
"""
TRAINS = """
opt = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(4):
    net(paddle.rand([4, 6])).mean().backward()
    opt.step()
    opt.clear_grad()
"""
SOURCES = {
    "copied and removed": BEGIN
    + "paddle.save(net.state_dict(), 'out/last.pdparams')\nshutil.copy('out/last.pdparams', 'best.pdparams')\n"
    + "assert os.path.exists('out/last.pdparams')\nos.remove('out/last.pdparams')\nassert os.listdir('out') == []\n"
    + "found = paddle.load('best.pdparams')\nassert sorted(found) == ['bias', 'weight']\n"
    + "assert found['weight'].shape == [6, 3] and found['weight'].name == net.weight.name\n"
    + TRAINS,
    "of a kind that is no state": BEGIN
    + "paddle.save({'seen': (3, net.bias), 'rate': 0.1}, 'all.pd')\nfound = paddle.load('all.pd')\n"
    + "assert found['seen'][0] == 3 and found['seen'][1].shape == [3] and found['rate'] == 0.1\n"
    + TRAINS,
    "as arrays": BEGIN
    + "paddle.save(net.state_dict(), 'a.pdparams')\nfound = paddle.load('a.pdparams', return_numpy=True)\n"
    + "assert found['weight'].shape == (6, 3) and not hasattr(found['weight'], 'name')\n"
    + TRAINS,
    "with its names": BEGIN
    + "paddle.save(net.state_dict(), 'b.pdparams')\n"
    + "found = paddle.load('b.pdparams', keep_name_table=True)\n"
    + "assert found['StructuredToParameterName@@']['bias'] == net.bias.name\n"
    + TRAINS,
    "numbers that are known": BEGIN
    + "paddle.save(paddle.to_tensor([6, 3]), 'sizes')\nnet = paddle.nn.Linear(*paddle.load('sizes').tolist())\n"
    + TRAINS,
    "by a model": BEGIN
    + "model = paddle.Model(net)\nmodel.prepare(paddle.optimizer.Adam(parameters=net.parameters()))\n"
    + "model.save('kept/final')\nmodel.load('kept/final')\n"
    + "assert sorted(paddle.load('kept/final.pdparams')) == ['bias', 'weight']\n"
    + TRAINS,
}


def test_it_is_read_as_it_was_saved(run_code, tmp_path):
    found = run_code(CODE, {"folder": str(tmp_path), "sources": SOURCES})
    assert found == {name: ["ok", None, [], 21] for name in SOURCES}
    assert not list(tmp_path.iterdir())
