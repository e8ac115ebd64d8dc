"""What a program does with numbers that it reads of a model: real values and their stand-ins lack the same attributes,
take the same arguments and end by the same words; what runs, runs in both."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.refusals.running import ROOT

PROGRAM = """
import math, paddle, numpy as np
net = paddle.nn.Linear(4, 2)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    out = net(paddle.rand([3, 4]))
    loss = out.mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    number, array = loss.item(), out.numpy()
    {line}
"""
ENDS = (
    "loss.numpy().shapes", "array.shapes", "array.cpu()", "array.size()", "array.detach()", "array.mean(dim=0)",
    "array.sum(axis=0, keepdims=True, foo=1)", "np.mean(array, dim=0)", "array.max(1).values", "np.foo(number)",
    "number.item()", "number.numpy()", "number.shape", "number.astype('int32')", "(number * 2).item()",
    "round(number, 2).item()", "abs(number).item()", "float(loss).item()", "number.append(1)", "number[0]",
    "len(number)", "iter(number)", "number()", "array.tolist()[0][0].item()", "array[0, 0].item().item()",
    "'loss ' + number", "f'{number:d}'", "f'{array:.3f}'", "round(array, 2)", "range(number)", "[1, 2][number]",
    "array.reshape(4, 2)", "array.transpose(0, 2, 1)", "array.mean(axis=2)", "array + np.zeros(3)",
    "array @ np.zeros((3, 2))", "np.concatenate([array, np.zeros((2, 3))])", "np.stack([array, array[0]])",
    "array.item()", "array.squeeze(0)", "array.astype(np.float)", "float(array)", "array[0, 0, 0]", "array[number]",
)  # fmt: skip
RUNS = (
    "number.is_integer(), number.hex(), number.conjugate(), number.real", "np.mean([number]).item()",
    "(np.mean([number]) * 2).astype('float32').item()", "(number + np.mean([number])).item()",
    "array.argmax().astype('int32') + 1", "(array.argmax() + 1).item()", "out.argmax().item().bit_length()",
    "array.argmax().dtype.name + ''", "f'{out.argmax().item():d} {number:.3f} {array.mean():.3f}'",
    "(number * np.ones(3, 'float32')).dtype.name == 'float32' or 1 / 0", "number ** 1000, number ** 0.5, number % 2",
    "number / (number + 1e-9), math.floor(number), int(number), divmod(number, 2)",
    "(out * number).sum() * float(loss) + out.max().item() - number * out, paddle.full([2], number)",
    "paddle.to_tensor(number) + paddle.to_tensor([number, 1.0]), np.random.choice([1, 2], p=[0.5, 0.5]) * number",
    "sum([number, number]), {number: 1}",
    "(array > 0).sum().item() / len(array), array.max(1)[0].item()", "np.sqrt(abs(number)).item(), array.T @ array",
    "array.argmax().item() & 1, array.argmax() & 1, range(out.argmax().item())",
)  # fmt: skip


@pytest.fixture(scope="module")
def answers() -> dict:
    pytest.importorskip("paddle")
    sent = [{"name": line, "source": PROGRAM.format(line=line)} for line in (*ENDS, *RUNS)]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    text = "".join(json.dumps(one) + "\n" for one in sent)
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: (row["real"], row["traced"]) for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("line", ENDS)
def test_it_ends_by_the_same_words(answers: dict, line: str) -> None:
    real, traced = answers[line]
    assert real["ended"] == "refused"
    assert traced == real


@pytest.mark.parametrize("line", RUNS)
def test_what_runs_runs(answers: dict, line: str) -> None:
    assert [one["ended"] for one in answers[line]] == ["ran", "ran"]
