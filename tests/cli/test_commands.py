"""Every command, its JSON, its drawing, its exit status."""

import pytest

from jupyter_paddle_gpu import __version__

TRAINING = """
import numpy as np
import paddle
batch_size = 16
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(5):
    loss = net(paddle.to_tensor(np.zeros([batch_size, 8], "float32"))).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_gpus_and_catalogue(cli):
    inventory = cli("gpus", "--json").json
    assert inventory["host"]["cpu_count"] > 0
    assert "processors" in cli("gpus").out
    assert any("A100" in row["name"] for row in cli("gpus", "--catalog", "--json").json)


def test_the_list_of_commands_says_each_whole_on_a_usual_terminal(cli):
    words = cli("--help", COLUMNS="80").out
    assert "submit " in words
    assert "..." not in words.partition("Commands:")[2]


def test_its_version_is_the_package_s(cli):
    assert cli("--version").out.split() == ["jupyter_paddle_gpu", __version__]


def test_images_and_doctor(cli):
    assert all("reference" in row for row in cli("images", "--device", "A100 80GB", "--json").json)
    none = cli("images", "--device", "MI300X")
    assert none.status == 1 and "No image of Paddle for amd" in none.out
    nonsense = cli("images", "--paddle-version", "x;y")
    assert nonsense.status == 2 and "“x;y” is not a version of Paddle" in nonsense.err
    card = cli("images", "--paddle-version", "2.6.2", "--device", "RTX 5090")
    assert "Paddle 3.2.1 is the nearest that does" in card.out and "needs driver" in card.out
    ran = cli("doctor", "--json")
    checks = {check["name"]: check for check in ran.json["checks"]}
    assert {"version", "kernel", "engine_local", "data_folder"} <= checks.keys()
    assert ran.status == int(any(check["needed"] and not check["ok"] for check in checks.values()))
    assert all(check["ok"] or check["hint"] for check in checks.values())


def test_the_doctor_names_a_kernel_that_is_not_there(cli):
    ran = cli("doctor", "--kernel", "nope", "--json")
    assert ran.status == 1
    assert next(check for check in ran.json["checks"] if check["name"] == "kernel")["code"] == "no_such_kernel"


@pytest.mark.paddle
def test_estimate_draws_and_tells_by_its_status(cli, notebook):
    training = notebook(TRAINING)
    ran = cli("estimate", training)
    assert ran.status == 0
    assert "Batch size" in ran.out
    assert "█" in ran.out
    ran = cli("estimate", training, "--batch-size", "4", "--target", "cpu", "--json")
    assert (ran.status, ran.json["batch_size"], ran.json["target"]) == (0, 4, "cpu")
    assert sum(ran.json["breakdown"].values()) == ran.json["peak_bytes"]
    reading = "import os\n" + TRAINING.replace("8, 2", "8, int(os.environ['WIDTH'])")
    ran = cli("estimate", notebook(reading, name="reading.ipynb"), "--env", "WIDTH=5", "--target", "cpu", "--json")
    assert (ran.status, ran.json["parameters"]) == (0, 45)
    ran = cli("estimate", training, "--image-size", "64")
    assert ran.status == 9
    assert "There is no figure" in ran.out and "gets no images" in ran.out
    ran = cli("estimate", notebook("print(1)", name="plain.ipynb"))
    assert ran.status == 4
    assert "No training of Paddle" in ran.out


@pytest.mark.paddle
def test_a_missing_package_says_what_to_do_and_nothing_else(cli, notebook):
    width = "module_of_nobody.width(), 2"
    ran = cli("estimate", notebook("import module_of_nobody", TRAINING.replace("8, 2", width)))
    assert ran.status == 7
    assert "lacks a package that the training needs" in ran.out
    assert "%pip install module_of_nobody" in ran.out
    assert "--set =" not in ran.out
    assert "Where it fits" not in ran.out


def test_a_job_from_submit_to_delete(cli, notebook):
    ran = cli("submit", notebook("for n in range(3):\n    print(n)"), "--follow", "--name", "three")
    assert ran.status == 0
    assert [line for line in ran.out.splitlines() if line in list("012")] == ["0", "1", "2"]
    (job,) = cli("jobs", "--json").json["jobs"]
    assert (job["state"], job["spec"]["name"]) == ("succeeded", "three")
    assert cli("jobs", "last", "--json").json == job
    short = job["id"].rsplit("-", 1)[-1]
    assert cli("jobs", short, "--json").json == job
    assert "three" in cli("jobs").out

    lines = cli("logs", short, "--json").lines
    assert [line["n"] for line in lines] == list(range(len(lines)))
    assert cli("logs", short, "--since", "1", "--json").lines == lines[1:]
    assert cli("logs", "--json").lines == lines, "of the newest where none is named"
    assert cli("logs", short, "-f").status == 0

    again = cli("rerun", short, "--follow", "--json")
    assert again.status == 0
    assert cli("delete", short, "--json").json == {"deleted": job["id"]}
    assert len(cli("jobs", "--json").json["jobs"]) == 1


def test_an_answer_is_the_jobs_environment_too(cli, notebook):
    ran = cli("submit", notebook("import os\nprint(os.environ['BATCH'])"), "--set", "BATCH=8", "--no-estimate", "-f")
    assert ran.status == 0
    assert "8" in ran.out.splitlines()


def test_a_job_runs_again_with_the_answer_that_it_lacked(cli, notebook):
    code = "import os\nrounds = 2\nprint(os.environ['BATCH'], rounds)"
    assert cli("submit", notebook(code), "--set", "BATCH=8", "--no-estimate", "-f").status == 0
    again = cli("rerun", "last", "--set", "BATCH=9", "--set", "rounds=3", "--follow")
    assert (again.status, "9 3" in again.out.splitlines()) == (0, True)
    assert "no variable “steps”" in cli("rerun", "last", "--set", "steps=3").err


def test_a_word_that_is_no_command_is_answered_with_all_of_them(cli):
    ran = cli("frobnicate")
    assert ran.status == 2
    assert "The commands are estimate, fit, " in ran.err
    assert "The commands are check, init, show." in cli("policy", "frobnicate").err


def test_follow_ends_with_the_jobs_status(cli, notebook):
    ran = cli("submit", notebook("1 / 0"), "--follow", "--no-estimate")
    assert ran.status == 1
    assert "ZeroDivisionError" in ran.out
    ran = cli("submit", notebook("1 / 0"), "--no-estimate", "--json")
    assert ran.status == 0
    assert cli("logs", ran.json["id"], "-f", "--json").status == 0
    assert cli("jobs", ran.json["id"], "--json").json["state"] == "failed"


def test_wishes_reach_the_job(cli, notebook):
    wishes = ["--set", "epochs=2", "--set", "name=resnet", "--env", "A=b=c", "--time-limit", "60", "--memory", "2g"]
    job = cli("submit", notebook("epochs = 1"), *wishes, "--token", "t", "--no-estimate", "--json").json
    assert job["spec"]["sets"] == {"epochs": 2, "name": "resnet"}
    assert job["spec"]["environment"] == {"name": "resnet", "A": "b=c"}, (
        "a name that no cell binds may be read elsewhere"
    )
    assert (job["spec"]["resources"]["seconds"], job["spec"]["resources"]["memory_bytes"]) == (60, 2 << 30)
    again = cli("submit", notebook("epochs = 1"), "--token", "t", "--no-estimate", "--json").json
    assert again["id"] == job["id"]
    cli("cancel", "last", "--force")
    cli("logs", "last", "-f")


def test_an_empty_list_says_so(cli):
    assert cli("jobs", "--json").json == {"jobs": []}
    assert "no jobs" in cli("jobs").out
