"""An error is one sentence and a next step on standard error, or one JSON object on standard output."""

import json

import pytest


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["estimate", "no.ipynb"], 1, "notebook_missing"),
        (["estimate"], 2, "no_notebook"),
        (["estimate", "a.ipynb", "b.ipynb"], 2, "usage"),
        (["estimate", "train.ipynb", "--batch-size", "0"], 2, "usage"),
        (["estimate", "train.ipynb", "--set", "=3"], 2, "usage"),
        (["estimate", "train.ipynb", "--set", "a=3", "--set", "a=4"], 2, "usage"),
        (["estimate", "train.ipynb", "--device", "toaster"], 2, "unknown_device"),
        (["submit", "train.ipynb", "--engine", "abacus"], 2, "unknown_engine"),
        (["submit", "train.ipynb", "--memory", "lots"], 2, "usage"),
        (["submit", "train.ipynb", "--gpus", "-1"], 2, "usage"),
        (["submit", "train.ipynb", "--time-limit", "0"], 2, "usage"),
        (["submit", "train.ipynb", "--cpus", "nan"], 2, "out_of_bounds"),
        (["submit", "train.ipynb", "--device-id", "0", "--device-id", "0"], 2, "device_twice"),
        (["submit", "train.ipynb", "--device-id", "all"], 2, "device_name"),
        (["submit", "train.ipynb", "--device-id", "0", "--gpus", "2"], 2, "devices_disagree"),
        (["submit", "train.ipynb", "--engine", "local", "--image", "a:1"], 2, "option_unknown"),
        (["estimate", "train.ipynb", "--image", "Not A Name"], 2, "bad_image_name"),
        (["fit", "train.ipynb", "--image", "deadbeef"], 2, "image_by_id"),
        (["submit", "train.ipynb", "--batch-size", "3"], 1, "batch_size_unnamed"),
        (["logs"], 1, "no_jobs"),
        (["contribute"], 1, "no_jobs"),
        (["logs", "nope"], 1, "no_such_job"),
        (["cancel", "nope"], 1, "no_such_job"),
        (["fly"], 2, "usage"),
        (["gpus", "--wings"], 2, "usage"),
    ],
)
def test_errors(cli, notebook, arguments, status, code):
    notebook("print(1)")
    ran = cli(*arguments)
    assert (ran.status, ran.out) == (status, "")
    assert 0 < len(ran.err.splitlines()) < 8
    ran = cli(*arguments, "--json")
    assert ran.status == status
    assert (ran.json["code"], set(ran.json)) == (code, {"code", "message", "hint"})
    assert ran.err == ""


@pytest.mark.parametrize("command", ["estimate", "fit", "submit", "sweep", "apply"])
def test_the_command_that_lacks_a_notebook_is_shown_with_one(cli, notebook, command):
    notebook("print(1)", name="my own.ipynb")
    assert f"`jupyter paddle-gpu {command} 'my own.ipynb'`" in cli(command).err


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\0", b"", b"[]"], ids=repr)
def test_what_is_no_notebook(cli, tmp_path, content):
    (tmp_path / "odd.ipynb").write_bytes(content)
    ran = cli("estimate", "odd.ipynb", "--json")
    assert ran.status == 1
    assert "odd.ipynb" in ran.json["message"]
    assert ran.json["hint"]


def test_a_script_that_is_not_in_utf8_is_told_how_to_be_read(cli, tmp_path):
    (tmp_path / "train.py").write_bytes("print('你好')\n".encode("gbk"))
    ran = cli("estimate", "train.py", "--json")
    assert (ran.status, ran.json["code"]) == (1, "script_not_utf8")
    assert "Save it in UTF-8" in ran.json["hint"]


@pytest.mark.parametrize("command", ["sweeps", "schedules", "jobs"])
def test_an_empty_list_says_what_fills_it(cli, command):
    assert "`jupyter paddle-gpu s" in cli(command).out


@pytest.mark.parametrize("command", ["estimate", "fit", "explain", "submit"])
def test_where_a_job_would_run_is_said_to_each_command(cli, notebook, command):
    ran = cli(command, notebook("print(1)"), "--engine", "nowhere", "--json")
    assert (ran.status, ran.json["code"]) == (2, "unknown_engine")


@pytest.mark.parametrize("encoding", ["gbk", "ascii"])
def test_a_sign_that_the_terminal_lacks_ends_no_command(environment, encoding):
    import subprocess
    import sys

    told = {**environment, "PYTHONIOENCODING": encoding, "LANG": "zh_CN.UTF-8"}
    program = [sys.executable, "-m", "jupyter_paddle_gpu"]
    done = subprocess.run([*program, "doctor"], capture_output=True, env=told, check=False)
    assert "jupyter_paddle_gpu" in done.stdout.decode(encoding)
    assert done.stderr == b""
    done = subprocess.run([*program, "logs", "no", "--json"], capture_output=True, env=told, check=False)
    assert "没有" in json.loads(done.stdout.decode(encoding))["message"]


def test_a_notebook_of_fifty_megabytes(cli, tmp_path):
    with (tmp_path / "big.ipynb").open("wb") as file:
        file.truncate(50_000_000)
    assert cli("submit", "big.ipynb").status == 1


def test_a_broken_cell_is_told_in_the_facts_of_the_estimate(cli, notebook):
    ran = cli("estimate", notebook("import paddle", "for x in"), "--target", "cpu", "--json")
    assert (ran.status, ran.json["status"]) == (6, "would_stop")


def test_chinese_by_the_environment(cli):
    ran = cli("estimate", "no.ipynb", LANG="zh_CN.UTF-8")
    assert any("一" <= sign <= "鿿" for sign in ran.err)
    assert "。 " not in cli("estimate", "--widget", LANG="zh_CN.UTF-8").err
    assert "列出作业" in cli("--help", LANG="zh_CN.UTF-8").out


def test_mistakes_are_told_in_chinese_too(cli, notebook):
    name = notebook("print(1)")
    for arguments in (["gpu"], ["submit", name, "--memory", "lots"], ["submit", name, "--gpus", "-1"], ["cancel"]):
        said = cli(*arguments, LANG="zh_CN.UTF-8").err
        assert not {"No", "Invalid", "Missing", "not", "See"} & set(said.replace(",", " ").split()), said
        assert len(said.splitlines()) == 2
    assert "用法" in cli("submit", "--help", LANG="zh_CN.UTF-8").out


@pytest.mark.parametrize(("typed", "meant"), [("A1000", "A100"), ("rtx 2080 to", "RTX 2080 Ti"), ("toaster", "")])
def test_the_nearest_device_is_suggested(cli, notebook, typed, meant):
    hint = cli("estimate", notebook("print(1)"), "--device", typed, "--json").json["hint"]
    assert ("Did you mean" in hint) == bool(meant)
    assert meant in hint


def test_a_mistyped_command_is_recognised(cli):
    ran = cli("gpu")
    assert ran.status == 2
    assert "--help" in ran.err


def test_the_help_that_is_named_is_that_of_the_command(cli):
    assert "`jupyter paddle-gpu policy check --help`" in cli("policy", "check", "x", "--json").json["hint"]
    assert "`jupyter paddle-gpu gpus --help`" in cli("gpus", "--wings", "--json").json["hint"]


def test_what_is_a_programs_own_is_said_to_stand_behind_two_dashes(cli):
    hint = cli("submit", "tools/train.py", "-c", "x.yml", "--json").json["hint"]
    assert "`jupyter paddle-gpu submit tools/train.py -- -c …`" in hint
    assert "--wings …" not in cli("estimate", "train.py", "--wings", "--", "-c", "x.yml", "--json").json["hint"]


def test_colours_only_where_they_are_wanted(cli):
    assert "\x1b[" not in cli("doctor").out
    assert "\x1b[3" not in cli("doctor", FORCE_COLOR="1", NO_COLOR="1").out


def test_a_narrow_terminal_loses_nothing(cli):
    lines = cli("gpus", "--catalog", COLUMNS="50").out.splitlines()
    assert max(map(len, lines)) <= 50
    row = next(line for line in lines if "A100 PCIe 80GB" in line)
    assert "80.0 GiB" in row
    words = "".join(cli("gpus", "--catalog", COLUMNS="30").out.split())
    assert "80GB" in words


def test_in_a_pipe_a_row_stays_a_row(cli):
    for line in cli("doctor").out.splitlines():
        assert line == line.rstrip()
    row = next(line for line in cli("gpus", "--catalog").out.splitlines() if "A100 PCIe 80GB" in line)
    assert "nvidia" in row
    assert "/s" in row


def test_commands_to_copy_are_not_broken_into_rows(cli):
    assert "`jupyter paddle-gpu jobs`" in cli("logs", "nope", COLUMNS="20").err


def test_help_needs_no_heavy_library(cli, environment):
    import subprocess
    import sys

    code = (
        "import sys\nfrom jupyter_paddle_gpu.cli.terminal import run\nrun(['--help'])\n"
        "print([name for name in ('paddle', 'docker', 'pynvml', 'rich', 'tornado', 'IPython') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["submit", "train.ipynb", "--watch"], "--follow"),
        (["logs", "--tail"], "--follow"),
        (["submit", "train.ipynb", "--lr", "0.1"], "--set"),
        (["submit", "train.ipynb", "--nightly"], "--cron"),
        (["sweeps", "show", "--watch"], "--follow"),
        (["submit", "train.ipynb", "--batch", "3"], "--batch-size"),
    ],
)
def test_an_option_that_means_another_is_answered_with_that_one(cli, notebook, arguments, meant):
    notebook("print(1)")
    ran = cli(*arguments)
    assert ran.status == 2
    assert f"Did you mean '{meant}'?" in ran.err or f"Did you mean {meant}?" in ran.err
