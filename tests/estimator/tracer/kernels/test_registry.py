"""Every operator is declared once, under a name that Paddle has, and a rule that fails is told of."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

ROOT = Path(__file__).resolve().parents[4]

NAMES = """
import json, mmap, re, sys
sys.path.insert(0, sys.argv[1])
import paddle
from paddle import _C_ops
from paddle.base import core, libpaddle
from tracer.kernels.registry import RULES
with open(libpaddle.__file__, "rb") as library, mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ) as text:
    built = {name.decode() for name in re.findall(rb"pd_op\\.([a-z0-9_]+)\\0", text)}
    composed = {name.decode() for name in re.findall(rb"\\0([a-z0-9_]+_double_grad)\\0", text)}
known = {*dir(_C_ops), *core._get_all_register_op_kernels("phi"), *built, *composed}
print(json.dumps(["count", len(RULES)]))
print(json.dumps(["unknown", sorted(set(RULES) - known)]))
"""
TWICE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.kernels import registry
from tracer.kernels.rules import Operator, Rule
said = {}
for name, declared in json.load(sys.stdin).items():
    try:
        registry.gathered(Operator(names, "", Rule(), gradient=Rule()) for names in declared)
    except ValueError as problem:
        said[name] = str(problem)
    else:
        said[name] = None
for row in said.items():
    print(json.dumps(row))
"""
FAILING = """
import dataclasses, json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.kernels import registry

def breaks(*asked):
    raise IndexError("list index out of range")

cells = [{"index": 0, "source": '''
import paddle
layer = paddle.nn.Linear(16, 8)
optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
for _ in range(3):
    loss = paddle.tanh(layer(paddle.rand([4, 16]))).transpose([1, 0]).reshape([-1]).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
'''}]
for case, broken in json.load(sys.stdin).items():
    child = os.fork()
    if child == 0:
        for field, name in broken:
            registry.RULES[name] = dataclasses.replace(registry.rule_of(name), **{field: breaks})
        found = tracer.trace_notebook({"cells": cells, "answers": {}, "target": "cpu"})
        notes = [note["params"] for note in found["notes"] if note["code"] == "rule_failed"]
        flops = {row[0]: row[3] for row in found["operations"]}
        print(json.dumps([case, {"status": found["status"], "notes": notes, "flops": flops}]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
CASES = {
    f"{name}: {field}": [(field, name)]
    for field, name in (
        ("flops", "matmul"), ("workspace", "add_grad"), ("gpu", "tanh_grad"), ("result", "tanh"), ("shares", "add"),
        ("view", "reshape"), ("view", "transpose_grad"), ("surplus", "mean"), ("result", "matmul_grad"),
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def broken(run_code):
    return run_code(FAILING, {**CASES, "none": [], "operations": [("flops", "matmul"), ("flops", "tanh")]})


def test_every_name_is_one_that_paddle_has(run_code):
    found = run_code(NAMES, None)
    assert found["count"] > 300
    assert found["unknown"] == []


def test_the_page_of_rules_is_what_the_declarations_say():
    pytest.importorskip("paddle")
    command = [sys.executable, "-W", "ignore", str(ROOT / "docs" / "programs" / "kernels.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


def test_sources_name_tests_that_are_there():
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    there = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    named = set(re.findall(r"test_\w+\.py", page))
    assert len(named) > 8
    assert named <= there


def test_a_second_declaration_of_a_kernel_is_refused(run_code):
    declared = {
        "once": ["tanh", "sigmoid"],
        "twice": ["tanh sigmoid", "exp tanh"],
        "a gradient twice": ["masked_fill", "masked_fill_"],
        "in one": ["tanh tanh_"],
    }
    said = run_code(TWICE, declared)
    assert said["once"] is None
    assert said["in one"] is None
    assert said["twice"] == "tanh is declared twice, the second time with exp tanh"
    assert said["a gradient twice"] == "masked_fill_grad is declared twice, the second time with masked_fill_"


@pytest.mark.parametrize("case", CASES)
def test_a_rule_that_fails_is_told_of_with_its_operator(broken, case):
    found = broken[case]
    assert found["status"] == "ok"
    assert found["notes"] == [{"op": CASES[case][0][1], "problem": "IndexError: list index out of range"}]


def test_operations_are_never_none_for_want_of_a_rule(broken):
    found = broken["operations"]
    assert {params["op"] for params in found["notes"]} == {"matmul", "tanh"}
    assert found["flops"]["matmul"] == 4 * 16  # one for each element of the larger
    assert found["flops"]["tanh"] == 4 * 8


def test_nothing_is_told_of_rules_that_hold(broken):
    assert broken["none"]["notes"] == []
    assert broken["none"]["flops"]["matmul"] == 2 * 4 * 16 * 8
