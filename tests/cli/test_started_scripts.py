"""A training in a script that a cell starts: another batch size is written where the notebook says it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle
SCRIPT = """
import argparse
import paddle
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--rate", type=float, default=0.1)
asked = parser.parse_args()
model = paddle.nn.Linear(13, 400)
optimizer = paddle.optimizer.Adam(asked.rate, parameters=model.parameters())
for step in range(5):
    loss = model(paddle.rand([asked.batch_size, 13])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print("batch", asked.batch_size)
"""
WRITTEN = f"%%writefile train.py{SCRIPT}"
CONFIGURED = """
import json, sys
import paddle
size = json.load(open(sys.argv[1]))["batch_size"]
model = paddle.nn.Linear(13, 400)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(5):
    loss = model(paddle.rand([size, 13])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SHORT = WRITTEN.replace('"--batch-size", ', '"-b", "--batch-size", ')
CASES = {
    "one letter": (
        [SHORT, "!python train.py -b 32 --rate 32"],
        ("!python train.py -b 32 --rate 32", "!python train.py -b 16 --rate 32"),
    ),
    "one letter in a shell": (
        ["%%bash\nmkdir -p sub", SHORT.replace("train.py", "sub/train.py"), "%%bash\ncd sub\npython train.py -b32"],
        ("python train.py -b32", "python train.py -b16"),
    ),
    "line": (
        [WRITTEN, "!python train.py --batch-size 32 --rate 32"],
        ("!python train.py --batch-size 32 --rate 32", "!python train.py --batch-size 16 --rate 32"),
    ),
    "continued": (
        ["!cd . && python -u script.py \\\n  --rate 0.2 \\\n  --batch-size=32"],
        ("  --batch-size=32", "  --batch-size=16"),
    ),
    "run": (
        ["epochs = 32\n%run script.py --batch-size 32"],
        ("%run script.py --batch-size 32", "%run script.py --batch-size 16"),
    ),
    "shell": (
        ["%%bash\necho 32\npython script.py --batch-size 32"],
        ("python script.py --batch-size 32", "python script.py --batch-size 16"),
    ),
    "body": (
        [WRITTEN, "!python train.py"],
        tuple(f'parser.add_argument("--batch-size", type=int, default={size})' for size in (64, 16)),
    ),
    "not given": (
        ["!python script.py --rate 0.2 > log.txt"],
        ("!python script.py --rate 0.2 > log.txt", "!python script.py --batch-size 16 --rate 0.2 > log.txt"),
    ),
    "list": (
        ["import subprocess, sys\nsubprocess.run([sys.executable, 'script.py', '--batch-size', '32', '--rate', '32'])"],
        tuple(
            f"subprocess.run([sys.executable, 'script.py', '--batch-size', '{size}', '--rate', '32'])"
            for size in (32, 16)
        ),
    ),
    "named list": (
        ["import subprocess\nline = [\n    'python', 'script.py',\n    '--batch-size=32',\n]\nsubprocess.run(line)"],
        ("    '--batch-size=32',", "    '--batch-size=16',"),
    ),
    "line of a call": (
        ["import os\nrate = 0.2\nos.system(f'python script.py --batch-size 32 --rate {rate}')"],
        tuple(f"os.system(f'python script.py --batch-size {size} --rate {{rate}}')" for size in (32, 16)),
    ),
    "process": (
        ["%%python\nsize = 32\n" + SCRIPT.replace("default=64", "default=size")],
        ("size = 32", "size = 16"),
    ),
    "configuration": (
        ['%%writefile config.json\n{"epochs": 32, "batch_size": 32}', "!python configured.py config.json"],
        tuple(f'{{"epochs": 32, "batch_size": {size}}}' for size in (32, 16)),
    ),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "configured.py").write_text(CONFIGURED)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_the_difference_is_where_the_batch_size_stands(cli, notebook, folder, name):
    cells, (before, after) = CASES[name]
    done = cli("submit", notebook(*cells), "--batch-size", "16", "--dry-run")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert [line for line in lines if line[:1] == "-" and line[:3] != "---"] == [f"-{before}"]
    assert [line for line in lines if line[:1] == "+" and line[:3] != "+++"] == [f"+{after}"]


def test_the_job_trains_with_it(cli, notebook, folder):
    job = cli("submit", notebook(WRITTEN, "!python train.py --batch-size 32"), "--batch-size", "16", "--follow")
    assert job.status == 0, job.err
    assert "batch 16" in job.out


@pytest.mark.parametrize("start", ["!bash run.sh", "%%bash\nbash run.sh"])
def test_a_size_in_a_script_of_the_shell_stays_and_the_refusal_says_where_it_stands(cli, notebook, folder, start):
    (folder / "run.sh").write_text("python script.py --batch-size 32\n")
    done = cli("submit", notebook(start), "--batch-size", "16", "--dry-run")
    assert "stands in a script that a cell starts" in done.out + done.err


WRITTEN_OUT = """
import paddle
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([4, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_the_batch_that_a_script_has_is_nothing_to_change_and_no_refusal(cli, folder):
    """Its place is found by a trace with another batch; with the same one none is needed."""
    (folder / "own.py").write_text(WRITTEN_OUT)
    for command in (["apply"], ["submit", "--dry-run"]):
        done = cli(*command, "own.py", "--batch-size", "4")
        assert (done.status, done.out) == (0, "Nothing is changed: it is so already (with batch 4).\n")
    done = cli("apply", "own.py", "--batch-size", "2")
    assert "+    net(paddle.rand([2, 8])).mean().backward()" in done.out
    assert done.out.endswith("Nothing is written yet: `--write` writes it into the notebook.\n")


def test_what_no_cell_is_changed_for_is_said(cli, notebook):
    name = notebook("import paddle\nrate = 0.1")
    assert f"`jupyter paddle-gpu apply {name} --batch-size 32`" in cli("apply", name).out
    for command in (["apply"], ["submit", "--dry-run"]):
        assert "A job gets rate as it runs" in cli(command[0], name, "--set", "rate=0.5", *command[1:]).out
