"""`sweep`, `sweeps …`, `schedules …` and `submit --at | --when | --cron` as they are typed."""

import csv
import io
import json

import pytest

SOURCES = ("lr = 0.1\nbatch_size = 32", "print(f'epoch 1/1 loss {lr * 10}')\nassert lr < 0.5")


@pytest.fixture
def path(notebook):
    return notebook(*SOURCES)


def result(ran):
    assert ran.status == 0, ran.err
    return ran.json


def test_a_dry_run_says_the_trials_and_begins_nothing(cli, path):
    wish = ("sweep", path, "--set", "lr=0.1,0.2", "--set", "batch=8:16:x2", "--dry-run")
    told = result(cli(*wish, "--json"))
    assert [one["values"] for one in told["trials"]] == [
        {"lr": lr, "batch_size": batch} for lr in (0.1, 0.2) for batch in (8, 16)
    ]
    text = cli(*wish).out
    assert all(word in text for word in ("lr", "batch_size", "0.2", "16"))
    assert result(cli("sweeps", "--json")) == {"sweeps": []}


def test_a_learning_rate_in_a_call_has_the_same_name_in_every_command(cli, notebook):
    path = notebook(
        "import paddle\nnet = paddle.nn.Linear(1, 1)",
        "opt = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())\nprint('rate', opt.get_lr())",
    )
    told = result(cli("sweep", path, "--set", "lr=0.5,0.25", "--dry-run", "--json"))
    assert [one["values"] for one in told["trials"]] == [{"learning_rate": 0.5}, {"learning_rate": 0.25}]
    for name in ("lr", "learning_rate"):
        shown = cli("apply", path, "--set", f"{name}=0.5")
        assert "+opt = paddle.optimizer.SGD(learning_rate=0.5, " in shown.out, shown.err
    ran = cli("submit", path, "--set", "learning_rate=0.5", "--follow")
    assert (ran.status, "rate 0.5" in ran.out) == (0, True), ran.out + ran.err
    refused = cli("submit", path, "--set", "learning_rate=fast")
    assert (refused.status, "is a number" in refused.err) == (1, True), refused.err


def test_a_sweep_is_followed_shown_repeated_saved_and_deleted(cli, path, tmp_path):
    policy = {"notices": {"usual": ["lab"], "receivers": {"lab": {"kind": "json", "url": "http://127.0.0.1:9/"}}}}
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "paddle-gpu.yaml").write_text(json.dumps(policy))
    followed = cli("sweep", path, "--set", "lr=0.4,0.1,0.7", "--at-once", "3", "--follow", "--json")
    lines, _, last = followed.out.partition("\n{\n")
    assert followed.status == 1, "one trial fails"
    assert {json.loads(line)["number"] for line in lines.splitlines()} == {1, 2, 3}
    assert json.loads("{" + last)["best"] == 2, followed.out
    sweep = result(cli("sweeps", "show", "--json"))
    assert sweep["counts"] == {"succeeded": 2, "failed": 1}
    assert (sweep["metric"], sweep["best"]) == ("loss", 2)
    assert result(cli("sweeps", "show", "--metric", "loss", "--direction", "max", "--json"))["best"] == 1
    assert [job["spec"]["notify"] for job in result(cli("jobs", "--json"))["jobs"]] == [[]] * 3
    rows = [line for line in cli("jobs").out.splitlines() if "train" in line]
    assert len(rows) == 1, "one row for all trials"
    assert "3 of 3 trials · 1 failed" in rows[0]
    assert len([line for line in cli("jobs", "--all").out.splitlines() if "train" in line]) == 3
    short = sweep["id"].rsplit("-", 1)[-1]
    assert "loss" in cli("sweeps", "show", short).out
    assert [row["id"] for row in result(cli("sweeps", "--json"))["sweeps"]] == [sweep["id"]]
    rows = list(csv.DictReader(io.StringIO(cli("sweeps", "table", short).out)))
    assert [float(row["lr"]) for row in rows] == [0.4, 0.1, 0.7]
    again = result(cli("sweeps", "retry", short, "--json"))
    assert again["state"] == "running"
    assert [one["job_id"] for one in again["trials"][:2]] == [one["job_id"] for one in sweep["trials"][:2]]
    refused = cli("sweeps", "delete", short, "--json")
    assert (refused.status, refused.json["code"]) == (1, "not_ended")
    assert cli("sweeps", "show", short, "--follow").status == 1
    assert result(cli("sweeps", "delete", short, "--json")) == {"deleted": sweep["id"]}
    assert result(cli("sweeps", "--json")) == {"sweeps": []}
    assert result(cli("jobs", "--json")) == {"jobs": []}


def test_a_cancelled_sweep_begins_no_further_trial(cli, notebook):
    path = notebook("lr = 0.1", "import time\nwhile True: time.sleep(0.1)")
    sweep = result(cli("sweep", path, "--set", "lr=0.4,0.1,0.7", "--at-once", "1", "--json"))
    assert (sweep["wanted"], sweep["at_once"]) == (3, 1)
    cli("sweeps", "cancel", "--json")
    assert cli("sweeps", "show", "--follow").status == 130, "as a cancelled job"
    ended = result(cli("sweeps", "show", "--json"))
    assert ended["state"] == "cancelled"
    assert set(ended["counts"]) == {"cancelled"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("sweep", "train.ipynb"), "sweep_values"),
        (("sweep", "train.ipynb", "--set", "lr=0.1:0.5"), "sweep_open"),
        (("sweep", "train.ipynb", "--set", "speed=1,2"), "sweep_unknown"),
        (("sweep", "train.ipynb", "--set", "batch=16,640.1"), "sweep_fraction"),
        (("sweep", "train.ipynb", "--set", "batch=0,16"), "sweep_count"),
        (("sweep", "train.ipynb", "--set", "lr=abc, def"), "sweep_text"),
        (("sweeps", "show", "nope"), "no_such_plan"),
        (("sweeps", "cancel", "nope"), "no_such_plan"),
        (("schedules", "pause", "nope"), "no_such_plan"),
        (("submit", "train.ipynb", "--when", "the moon is full"), "condition_wrong"),
        (("submit", "train.ipynb", "--at", "soon"), "moment_wrong"),
        (("submit", "train.ipynb", "--cron", "* *"), "cron_wrong"),
    ],
)
def test_what_cannot_be_done_is_said(cli, path, words, code):
    ran = cli(*words, "--json")
    assert (ran.status, ran.json["code"]) == (1 if "nope" in words else 2, code)
    assert ran.json["hint"]
    assert ran.json["message"] in cli(*words).err.replace("\n", " ")


def test_words_that_do_not_go_together(cli, path):
    assert "--zone" in cli("submit", path, "--zone", "UTC").err
    assert "--follow" in cli("submit", path, "--at", "+2h", "--follow").err
    assert cli("submit", path, "--at", "+2h", "--cron", "0 2 * * *").status in (1, 2)


def test_a_schedule_is_made_listed_paused_deleted_and_taken_back(cli, path):
    nightly = result(cli("submit", path, "--cron", "0 2 * * *", "--zone", "Asia/Shanghai", "--json"))
    assert (nightly["trigger"], nightly["source"], nightly["cron"]) == ("cron", "disk", "0 2 * * *")
    later = result(cli("submit", path, "--at", "+2h", "--as-saved", "--json"))
    assert (later["trigger"], later["source"], len(later["dates"])) == ("at", "saved", 1)
    assert {row["id"] for row in result(cli("schedules", "--json"))["schedules"]} == {nightly["id"], later["id"]}
    short = nightly["id"].rsplit("-", 1)[-1]
    for move, state in (("pause", "paused"), ("resume", "active"), ("delete", "deleted"), ("restore", "active")):
        assert result(cli("schedules", move, short, "--json"))["state"] == state
    shown = result(cli("schedules", "show", short, "--json"))
    assert len(shown["dates"]) > 1
    assert "Asia/Shanghai" in cli("schedules", "show", short).out
    assert "train" in cli("schedules").out
    for one in (nightly, later):
        cli("schedules", "delete", one["id"])
