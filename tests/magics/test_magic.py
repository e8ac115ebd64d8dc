"""The magic in a real kernel: on the open notebook, on executed cells, on live objects, and on jobs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from jupyter_paddle_gpu.commands import drawing
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.magics.cell import CellFace
from jupyter_paddle_gpu.magics.language import SETTING
from jupyter_paddle_gpu.magics.result import Result
from tests.processes import at_work

from .conftest import STEP, TRAINING

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_it_needs_no_load_ext_and_answers_in_text_and_html(kernel):
    running = kernel()
    _, rich, errors = running.run("%paddle_gpu gpus")
    assert not errors
    assert "processor" in rich[0]["text/plain"]
    assert "processor" in rich[0]["text/html"]
    _, rich, _ = running.run("%paddle_gpu policy show")  # its next step is typed in a cell
    assert "`%paddle_gpu policy init`" in rich[0]["text/plain"]
    assert "<code>%paddle_gpu policy init</code>" in rich[0]["text/html"]


def test_with_load_ext_it_works_too(kernel):
    _, rich, errors = kernel().run("%load_ext jupyter_paddle_gpu\n%paddle_gpu gpus --catalog")
    assert not errors
    assert "A100" in rich[0]["text/plain"]


def test_errors_are_a_sentence_without_a_traceback(kernel):
    running = kernel()
    for line, words in (
        ("estimate no.ipynb", "no.ipynb"),
        ("estimate nothing_here", "nothing_here"),
        ("logs nope", "nope"),
        ("fly", "The commands are estimate, fit, "),
        ("estimate --batch-size big", "See `%paddle_gpu estimate --help`."),
        ("estimate 'half", "quotation"),
    ):
        _, _, errors = running.run(f"%paddle_gpu {line}")
        assert words in errors[0]["evalue"]
        assert "Traceback" not in "".join(errors[0]["traceback"])
        assert len(errors[0]["traceback"]) <= 2


def test_mistakes_are_told_in_the_readers_language_with_a_next_step_for_a_cell(kernel):
    running = kernel(LANGUAGE="zh_CN")
    _, _, errors = running.run("%paddle_gpu delete")
    assert "缺少参数" in errors[0]["evalue"]
    _, _, errors = running.run("%paddle_gpu logs nope")
    assert "`%paddle_gpu jobs`" in errors[0]["evalue"]
    text, _, _ = running.run("import click\nprint(click.core._('Options'))\n%paddle_gpu logs --help")
    assert text.split()[0] == "Options"
    assert "选项" in text


def test_a_cell_of_jupyterlab_is_answered_in_the_language_of_its_menu(kernel, tmp_path):
    chosen = tmp_path / "settings" / SETTING
    chosen.parent.mkdir(parents=True)
    chosen.write_text('{\n    // "locale": "en",\n    // Language locale\n    "locale": "zh_CN"\n}')
    environment = {"JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"), "LANGUAGE": "en"}
    running = kernel(**environment, JPY_SESSION_NAME="one.ipynb")
    _, _, errors = running.run("%paddle_gpu delete")
    assert "缺少参数" in errors[0]["evalue"]
    # The page is loaded in another language, the kernel goes on.
    said = chosen.read_text()
    chosen.write_text('{"locale": "en"}')
    _, _, errors = running.run("%paddle_gpu delete")
    assert "缺少参数" not in errors[0]["evalue"]
    chosen.write_text(said)
    _, _, errors = kernel(**environment).run("%paddle_gpu delete")  # of no Jupyter server
    assert "缺少参数" not in errors[0]["evalue"]
    chosen.write_text('{"locale": "default"}')
    _, _, errors = kernel(**environment, JPY_SESSION_NAME="one.ipynb").run("%paddle_gpu delete")
    assert "缺少参数" not in errors[0]["evalue"]


def test_help_is_printed(kernel):
    text, _, errors = kernel().run("%paddle_gpu")
    assert not errors
    assert "estimate" in text


@pytest.mark.paddle
def test_tab_completes_commands_options_names_and_notebooks_before_the_magic_was_used(kernel, tmp_path):
    shutil.copy(EXAMPLES / "wine_broken.ipynb", tmp_path)
    running = kernel()
    assert running.complete("%padd") == ["%paddle_gpu"]
    assert running.complete("%%padd") == ["%%paddle_gpu"]
    assert "%%paddle_gpu" not in running.complete("%%q")
    assert running.complete("x = 1\n%paddle_gpu est") == ["estimate"]
    assert "gpus" in running.complete("%paddle_gpu ")
    assert running.complete("%%paddle_gpu estimate --batch") == ["--batch-size"]
    assert running.complete("%paddle_gpu estimate w") == ["wine_broken.ipynb"]
    assert running.complete("%paddle_gpu estimate --amp o") == ["O1", "O2", "off"]
    assert "local" in running.complete("%paddle_gpu submit --engine ")
    for command in ("estimate", "fit"):
        assert "A100-PCIe-80GB" in running.complete(f"%%paddle_gpu {command} --device A1")
    for nothing in ("%paddle_gpu logs ", "%paddle_gpu estimate --training ", "%paddle_gpu frob"):
        assert [one for one in running.complete(nothing) if one not in nothing] == [], "no words of Python"
    running.run("import paddle\nnet = paddle.nn.Linear(4, 2)\nother = 1")
    assert running.complete("%paddle_gpu estimate n") == ["net"]


def test_a_first_tab_imports_no_use_case():
    # JupyterLab waits a second for it, on a busy machine too.
    code = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "from jupyter_paddle_gpu.magics import completion\n"
        "print(completion._completions(InteractiveShell(), [], 'est'))\n"
        "print([name for name in ('jupyter_paddle_gpu.services', 'rich', 'pynvml', 'paddle') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['estimate']", "[]"]


@pytest.mark.paddle
def test_the_largest_batch_of_live_objects_is_found_and_a_slider_moves_the_estimate(kernel):
    running = kernel()
    running.run(TRAINING.replace("128", "65536"))
    text, _, errors = running.run("%paddle_gpu fit net --device T4 --json")
    assert not errors, errors
    (fit,) = json.loads(text)["fits"]
    for batch, inside in ((fit["largest_batch"], True), (fit["largest_batch"] + 1, False)):
        text, _, _ = running.run(f"%paddle_gpu estimate net --device T4 --batch-size {batch} --json")
        assert (json.loads(text)["high"] <= fit["limit_bytes"]) is inside
    _, rich, errors = running.run("%paddle_gpu fit net --device T4")
    assert not errors, errors
    assert f"{fit['largest_batch']:,}" in rich[-1]["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in rich[0]
    text, _, errors = running.run(
        "from ipywidgets.widgets.widget import _instances\n"
        "found = {type(one).__name__: one for one in _instances.values()}\n"
        "before = found['HTML'].value\n"
        "slider, number = found['SelectionSlider'], found['BoundedIntText']\n"
        "slider.value = 64\n"
        "print(repr(before), '64' in found['HTML'].value, number.value, slider.options[-1])\n"
        "number.value = 70\n"
        "print('70' in found['HTML'].value, slider.value, len(slider.options) < 60)\n"
        "print('open><summary style=\"cursor:pointer\">Where it fits' in found['HTML'].value)"
    )
    assert not errors, errors
    assert text.split() == ["''", "True", "64", str(fit["largest_batch"]), "True", "64", "True", "True"]


@pytest.mark.paddle
def test_live_objects_are_estimated_for_where_they_would_train(kernel):
    running = kernel()
    running.run(TRAINING)
    shown, on_cpu, on_gpu = (
        json.loads(running.run(f"%paddle_gpu estimate net {target} --json")[0])["allocated_peak_bytes"]
        for target in ("", "--target cpu", "--target gpu")
    )
    assert shown == on_cpu != on_gpu, "there is no GPU here, and a GPU's linear layer is one operator"


@pytest.mark.paddle
def test_live_objects_are_estimated_for_builds_that_keep_both_operands_of_a_product(kernel):
    """Where a mask wants no gradient a GPU's build keeps the mask alone, and Kunlun's the map as well."""
    running = kernel()
    running.run(
        "import paddle\n"
        "class Masked(paddle.nn.Layer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layers = paddle.nn.LayerList([paddle.nn.Linear(512, 512) for _ in range(6)])\n"
        "    def forward(self, x):\n"
        "        for layer in self.layers:\n"
        "            x = layer(x) * paddle.ones([2048, 512])\n"
        "        return x\n"
        "masked, x = Masked(), paddle.ones([2048, 512])"
    )
    on_gpu, on_kunlun = (
        json.loads(running.run(f"%paddle_gpu estimate masked x --device '{card}' --json")[0])["allocated_peak_bytes"]
        for card in ("V100 PCIe 16GB", "Kunlun R300 32GB")
    )
    assert on_kunlun - on_gpu >= 5 * 2048 * 512 * 4


@pytest.mark.paddle
def test_a_live_step_is_explained_in_sentences(kernel):
    running = kernel()
    running.run(TRAINING)
    _, rich, errors = running.run("%paddle_gpu explain net --target cpu")
    assert not errors, errors
    assert "9,610 parameters take 37.5 KiB" in rich[0]["text/plain"]
    assert "Adam keeps" in rich[0]["text/html"]


def test_devices_are_watched_until_the_cell_is_interrupted(kernel):
    running = kernel()
    running.run("import _thread, threading, time\nthreading.Timer(4, _thread.interrupt_main).start()")
    seen = []

    def hook(message):
        seen.append(message["msg_type"])

    reply = running.client.execute_interactive("%paddle_gpu gpus --watch --interval 0.2", output_hook=hook, timeout=60)
    assert reply["content"]["status"] == "ok"
    assert seen.count("display_data") == 1
    assert seen.count("update_display_data") > 1


@pytest.mark.paddle
def test_the_open_notebook_is_estimated(kernel, tmp_path):
    shutil.copy(EXAMPLES / "wine_broken.ipynb", tmp_path)
    session = str(tmp_path / "wine_broken.ipynb")
    text, _, errors = kernel(JPY_SESSION_NAME=session).run("%paddle_gpu estimate --target cpu --json")
    assert not errors
    assert json.loads(text)["batch_size"] == 32


@pytest.mark.paddle
def test_executed_cells_are_estimated_where_there_is_no_file(kernel):
    running = kernel()
    running.run(TRAINING)
    running.run(STEP)
    text, _, errors = running.run("%paddle_gpu estimate --target cpu --json")
    assert not errors
    estimate = json.loads(text)
    assert (estimate["status"], estimate["batch_size"], estimate["parameters"]) == ("ok", 32, 9610)


@pytest.mark.paddle
def test_a_cell_is_estimated_before_it_runs(kernel):
    running = kernel()
    running.run(TRAINING)
    text, _, errors = running.run(f"%%paddle_gpu estimate --target cpu --json\n{STEP}\nbroken = 1 / 0")
    assert not errors, errors
    estimate = json.loads(text)
    assert (estimate["status"], estimate["batch_size"], estimate["parameters"]) == ("ok", 32, 9610)
    text, _, errors = running.run("print('loss' in globals(), len(optimizer._accumulators))")
    assert text.split() == ["False", "0"]
    _, rich, errors = running.run("%%paddle_gpu estimate --target cpu\nprint('trains nothing')")
    assert not errors, errors
    assert "No training of Paddle" in rich[0]["text/plain"]


@pytest.mark.paddle
def test_an_interrupted_estimate_is_over_at_once_and_the_next_one_right(kernel):
    running, came = kernel(), []

    def interrupt():
        came.append(time.monotonic())
        running.manager.interrupt_kernel()

    running.run(TRAINING)
    _, before, _ = running.run("%%paddle_gpu estimate" + STEP)
    process = psutil.Process(running.manager.provisioner.process.pid)
    for seconds in (1.0, 0.2):
        threading.Timer(seconds, interrupt).start()
        _, _, errors = running.run("%%paddle_gpu estimate\nwhile True:\n    paddle.rand([2])" + STEP)
        took = time.monotonic() - came[-1]
        assert (errors[0]["ename"], errors[0]["traceback"]) == ("Interrupted", ["Interrupted."])
        assert took < 1.0
        time.sleep(1)
        assert not [one for zygote in process.children() for one in at_work(zygote)], "a trace goes on"
    _, rich, errors = running.run("%%paddle_gpu estimate" + STEP)
    assert not errors
    assert rich[0]["text/plain"].splitlines()[:2] == before[0]["text/plain"].splitlines()[:2]


@pytest.mark.paddle
def test_live_objects_are_estimated_and_stay_as_they_were(kernel):
    running = kernel()
    running.run(TRAINING)
    running.run("before = net[0].weight.numpy().copy(); methods = (paddle.matmul, paddle.Tensor.backward)")
    text, _, errors = running.run("%paddle_gpu estimate net --target cpu --json")
    assert not errors, errors
    live = json.loads(text)
    assert (live["status"], live["batch_size"], live["model"]) == ("ok", 32, "Sequential")
    assert (live["optimizer"], live["parameters"]) == ("Adam", 9610)
    text, _, _ = running.run("%paddle_gpu estimate net --target cpu --batch-size 64 --json")
    assert json.loads(text)["inputs"] == ["float32[64, 64]", "int64[64]"]
    text, _, _ = running.run(
        "print((before == net[0].weight.numpy()).all(), methods == (paddle.matmul, paddle.Tensor.backward))\n"
        "print(len(optimizer._accumulators), net[0].weight.grad)"
    )
    assert text.split() == ["True", "True", "0", "None"]

    running.run(STEP)
    text, _, _ = running.run("%paddle_gpu estimate --target cpu --json")
    loop = json.loads(text)  # the loop holds on to its last batch and its loss, a bare step does not
    assert live["allocated_peak_bytes"] <= loop["allocated_peak_bytes"] < 1.5 * live["allocated_peak_bytes"]


@pytest.mark.paddle
def test_a_live_model_without_data_asks_for_it(kernel):
    running = kernel()
    running.run("import paddle\nnet = paddle.nn.Linear(4, 2)")
    _, _, errors = running.run("%paddle_gpu estimate net")
    assert "DataLoader" in errors[0]["evalue"]
    _, rich, errors = running.run("x = paddle.rand([8, 4])\n%paddle_gpu estimate net x --target cpu")
    assert not errors
    assert "Linear" in rich[0]["text/plain"]
    _, _, errors = running.run("%paddle_gpu estimate x")
    assert "no paddle.nn.Layer" in errors[0]["evalue"]


def test_a_cell_runs_as_a_job_with_what_was_executed_before(kernel):
    running = kernel()
    running.run("value = 6\n%paddle_gpu jobs --json")
    text, rich, errors = running.run(
        "%%paddle_gpu submit --engine local --follow --no-estimate\nprint('answer', value * 7)"
    )
    assert not errors, errors
    assert "answer 42" in text.splitlines()
    assert any("done" in data["text/plain"] for data in rich)


def test_a_job_from_a_cell(kernel, tmp_path):
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": "print('hello')",
        "outputs": [],
        "execution_count": 1,
    }
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (tmp_path / "job.ipynb").write_text(json.dumps(notebook))
    running = kernel(JPY_SESSION_NAME=str(tmp_path / "job.ipynb"))
    text, rich, errors = running.run("job = %paddle_gpu submit --engine local --follow\njob")
    assert not errors, errors
    assert "hello" in text.splitlines()
    assert any("done" in data["text/plain"] for data in rich)
    text, _, _ = running.run("print(job.value.state, job.json['state'])")
    assert text.split() == ["succeeded", "succeeded"]
    text, _, _ = running.run("%paddle_gpu logs last --since 1 --json")
    assert "hello" in [json.loads(line)["x"] for line in text.splitlines()]
    _, rich, _ = running.run("%paddle_gpu jobs")
    assert "done" in rich[0]["text/html"]
    # Without --follow the cell is free at once, and what it shows goes on by itself to the job's end.
    _, rich, _ = running.run("%paddle_gpu submit --engine local --no-estimate")
    assert "done" not in rich[0]["text/plain"]
    assert 'href="#paddle-gpu-job=' in rich[0]["text/html"]
    shown = running.updates(lambda data: "done" in data["text/plain"])
    assert "Executed notebook" in shown["text/plain"]
    assert 'href="#paddle-gpu-job=' in shown["text/html"]
    _, rich, _ = running.run("%paddle_gpu jobs last")
    assert "done" in rich[0]["text/plain"]


def test_a_job_does_not_submit_its_own_notebook_once_more(kernel):
    running = kernel(PADDLE_GPU_JOB_ID="20260101-000000-abcdef")
    running.run("value = 6")
    heads = ("%paddle_gpu submit --follow", "%paddle_gpu sweep --set value=1,2", "%%paddle_gpu submit\nprint(value)")
    for head in heads:
        text, _, errors = running.run(head)
        assert not errors, "the job goes on"
        assert "not submitted once more" in text
    _, rich, _ = running.run("%paddle_gpu jobs")
    assert "Where" not in rich[0]["text/plain"], "no job was made"


def test_devices_are_watched_in_one_place_of_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    looks = iter(["one", "two"])

    class View:
        def rich(self, say):
            return next(looks, None) or _interrupt()

    CellFace(SimpleNamespace()).watch(View, 0.0)
    shown = capsys.readouterr().out
    assert shown.index("one") < shown.index("\x1b[2K") < shown.index("two"), "the line is drawn over"


def _interrupt():
    raise KeyboardInterrupt


def test_sentences_of_the_plain_text_go_on_to_their_end():
    sentence = "What the notebook's own loop keeps besides " * 5 + "is not in it."
    view = SimpleNamespace(data=None, rich=lambda say: drawing.sentence(sentence))
    assert repr(Result(view, Speech("en"))) == sentence
