"""What a notebook is told that would stop, at a terminal: once, by its cause, with the word that was meant."""

from __future__ import annotations

import pytest

from .test_commands import TRAINING

SHORT = TRAINING.replace("for _ in range(5):", "assert batch_size < 64, 'too few rows'\nfor _ in range(5):")
SLIP = TRAINING.replace("nn.Linear(8, 2)", "nn.Sequential(paddle.nn.Linear(8, 2), paddle.nn.Relu())")


@pytest.mark.paddle
def test_a_stop_by_what_was_asked_is_told_by_that(cli, notebook):
    name = notebook(SHORT)
    ran = cli("estimate", name, "--batch-size", "64", "--amp", "O1")
    assert ran.status == 6
    told, way, *_ = ran.out.splitlines()
    assert told.startswith("The notebook would stop with batch 64, with mixed precision O1 in cell 1, line 7: ")
    assert way == "As it is written it would not. Take another value."
    broken = cli("estimate", notebook(SHORT.replace("< 64", "< 8")), "--batch-size", "64")
    assert broken.out.startswith("The notebook would stop in cell 1, line 7: "), "it does as it is written, too"


@pytest.mark.paddle
def test_a_stop_is_told_once_with_the_name_that_was_meant(cli, notebook):
    ran = cli("estimate", notebook(SLIP))
    assert ran.out.count("would stop") == 1
    assert "has no attribute 'Relu'. Did you mean: 'ReLU'?" in ran.out.splitlines()[0]
    assert "–" not in ran.out, "what is not known takes no row"
    ran = cli("estimate", notebook(TRAINING.replace("optimizer.step", "optimiser.step")))
    assert "name 'optimiser' is not defined. Did you mean: 'optimizer'?" in ran.out
    ran = cli("estimate", notebook(TRAINING.replace("net =", "model =").replace("net.", "model.")))
    assert "name 'net' is not defined\n" in ran.out, "no slip of Python's own next"


@pytest.mark.paddle
def test_a_script_has_lines_and_no_cells(cli, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SLIP)
    ran = cli("estimate", str(script))
    assert ran.status == 6
    line = 1 + SLIP.splitlines().index(next(one for one in SLIP.splitlines() if "Relu" in one))
    assert ran.out.startswith(f"The script would stop in line {line}: AttributeError")
    script.write_text(2 * f"{TRAINING.rstrip()}\n")
    ran = cli("estimate", str(script))
    first, second = (n for n, one in enumerate(script.read_text().splitlines(), 1) if one.startswith("for "))
    assert "The script holds 2 trainings" in ran.out and "cell" not in ran.out and "notebook" not in ran.out
    assert f"line {first} " in ran.out and f"line {second} " in ran.out


@pytest.mark.paddle
def test_a_loop_without_a_step_is_told_of_a_script(cli, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAINING.replace("optimizer.step()", "pass"))
    ran = cli("estimate", str(script))
    assert (ran.status, ran.out.splitlines()[0]) == (4, "No training of Paddle was found in this script.")
    assert "and no optimizer steps: nothing is learned." in ran.out


def test_another_frameworks_notebook_is_told_to_be_one(cli, notebook):
    ran = cli("estimate", notebook(TRAINING.replace("paddle", "torch")))
    assert ran.status == 4
    assert ran.out.splitlines()[0] == "No training of Paddle was found in this notebook."
    assert "trains with PyTorch" in ran.out and "%pip install" not in ran.out


@pytest.mark.parametrize("name", ["train.ipynb", "train.py"])
def test_a_notebook_without_a_command_is_told_the_one_that_looks_at_it(cli, name):
    ran = cli(name)
    assert ran.status == 2
    assert f"Did you mean 'estimate {name}'?" in ran.err


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(cli, notebook):
    notebook("print(1)")
    assert "Did you mean train.ipynb?" in cli("estimate", "trian.ipynb").err
    assert "Did you mean" not in cli("estimate", "sixteen.ipynb").err, "only the ending is alike"
    neither = cli("explain", "last_one").err
    assert "“last_one” is neither a notebook nor a job." in neither and "jobs" in neither
    absent = cli("submit", "other.py").err
    assert "There is no script at" in absent and "Check the name and the folder." in absent


def test_who_types_nothing_and_who_has_no_jobs_is_told_how_to_begin(cli):
    assert cli().err.rstrip().endswith("Begin with `jupyter paddle-gpu estimate train.ipynb`.")
    assert "`jupyter paddle-gpu submit train.ipynb` makes one." in cli("jobs").out


def test_a_rule_in_a_pipe_is_as_long_as_is_read(cli, notebook):
    notebook("import paddle", "raise ValueError('x' * 300)")
    cli("submit", "train.ipynb", "--follow")
    rules = [line for line in cli("jobs", "last").out.splitlines() if line and not line.strip(" ─")]
    assert rules and max(map(len, rules)) <= 100
