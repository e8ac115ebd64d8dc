"""A training's command behind `estimate`, as a person types it in a terminal."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.services.notebooks import Started, started

SCRIPT = """
import argparse
import paddle
import paddle.distributed as dist
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--device", default="gpu")
asked = parser.parse_args()
dist.init_parallel_env()
net = paddle.DataParallel(paddle.nn.Linear(256, asked.width))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([64, 256])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LAUNCH = ("-m", "paddle.distributed.launch")


@pytest.fixture
def script(tmp_path):
    place = tmp_path / "train.py"
    place.write_text(SCRIPT)
    return place


@pytest.fixture
def estimated(cli, script):
    def ask(*words):
        ran = cli("estimate", "--json", *words)
        assert ran.status == 0, ran.err + ran.out
        found = ran.json
        return found["allocated_peak_bytes"], found["devices"], [note["code"] for note in found["notes"]]

    return ask


@pytest.mark.paddle
def test_arguments_behind_python_are_the_scripts_own(estimated):
    written = estimated("train.py", "--", "--width", "512", "--device", "cpu")
    assert estimated("python", "train.py", "--width", "512", "--device", "cpu") == written
    assert estimated("--", "python3", "train.py", "--width", "512", "--device", "cpu") == written
    assert estimated("train.py", "--width", "512", "--device", "cpu") == written
    assert estimated("train.py", "--width=512", "--device", "cpu") == written
    assert written != estimated("train.py")


def test_a_mistyped_option_behind_a_script_that_reads_none_is_answered_with_the_one_meant(cli, script):
    script.write_text("import paddle\nprint(paddle.__version__)\n")
    ran = cli("estimate", "train.py", "--bach-size", "2")
    assert ran.status == 2 and "--batch-size" in ran.err
    assert cli("estimate", "train.py", "--", "--bach-size", "2").status == 4, "nothing trains"
    (script.parent / "given.py").write_text("")
    script.write_text("import paddle\nimport given\n")
    assert cli("estimate", "train.py", "--bach-size", "2").status == 4, "a module may read it"


@pytest.mark.paddle
def test_the_launcher_makes_it_one_of_so_many_as_in_a_cell(estimated, notebook):
    path = notebook("!python -m paddle.distributed.launch --devices 0,1 train.py --width 512")
    in_a_cell = estimated(path)
    assert in_a_cell[1:] == (2, ["data_parallel"])
    for words in (
        (*LAUNCH, "--devices", "0,1"),
        (*LAUNCH, "--gpus=0,1"),
        ("python", "-u", *LAUNCH, "--nproc_per_node", "2", "--log_dir", "logs"),
        ("--", "python", *LAUNCH, "--devices", "0,1"),
        ("fleetrun", "--gpus", "0,1"),
    ):
        given = (*words, "train.py", "--width", "512")
        if words[0] == "fleetrun":
            assert started(given) == Started("train.py", ("--width", "512"), " ".join(given))
        assert estimated(*given) == in_a_cell


@pytest.mark.parametrize(
    "words", [("python",), (*LAUNCH, "--devices", "0,1"), ("python", "-m", "nothing.here"), ("-m",)]
)
def test_a_command_without_a_script_is_told_what_to_type(cli, script, words):
    ran = cli("estimate", *words)
    assert (ran.status, ran.out) == (2, "")
    assert f"“{' '.join(words)}” names no script." in ran.err
    assert "python -m paddle.distributed.launch --devices 0,1 train.py" in ran.err


def test_a_device_may_be_called_like_python(cli, script):
    ran = cli("estimate", "--device", "python", "train.py")
    assert (ran.status, "names no script" in ran.err) == (2, False)


def test_an_option_behind_a_script_is_the_commands_own_where_it_has_it(cli, script):
    ran = cli("estimate", "train.py", "--batch-size", "many")
    assert (ran.status, "'--batch-size': 'many' is not a valid whole number" in ran.err) == (2, True)
    ran = cli("estimate", "a.ipynb", "-c", "config.yml")
    assert (ran.status, "No such option '-c'" in ran.err) == (2, True)


def test_submit_says_how_a_job_gets_several_processes(cli, script):
    ran = cli("submit", *LAUNCH, "--devices", "0,1", "train.py")
    assert ran.status == 2
    assert "jupyter paddle-gpu submit train.py --devices 2" in ran.err
