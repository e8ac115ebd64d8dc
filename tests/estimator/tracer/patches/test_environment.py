"""What a program has of the world outside: static graphs, whose lines are named, and weights that are not here."""

from __future__ import annotations

import inspect
import os
from typing import Any

import pytest

from jupyter_paddle_gpu.estimator.tracer.call_stack import cell_name
from jupyter_paddle_gpu.estimator.tracer.patches.environment import patches

pytestmark = pytest.mark.paddle

TRAINING = """
import paddle
model = paddle.nn.Linear(20, 3)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([8, 20])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GRAPH = """
import paddle
paddle.enable_static()
image = paddle.static.data(name="image", shape=[None, 20], dtype="float32")
"""
LOADS = """
import os, paddle
def required(path):
    if not os.path.exists(path):
        raise ValueError(f"Model pretrain path {{path}} does not exist.")
    return path
def load(model, optimizer):
    state = paddle.load({path})
    print(state["epoch"], len(state), state.get("best"))
    model.set_state_dict(state)
    optimizer.set_state_dict(paddle.load("absent/model.pdopt"))
def main():
    model = paddle.nn.Linear(20, 3)
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    load(model, optimizer)
    for step in range(4):
        model(paddle.rand([8, 20])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
main()
"""
OWN = """
import pathlib, sys, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "ppgan" / "utils").mkdir(parents=True)
for name in ("__init__.py", "utils/__init__.py"):
    (folder / "ppgan" / name).write_text("")
(folder / "ppgan" / "utils" / "download.py").write_text("def get_path_from_url(url): raise RuntimeError(url)")
sys.path.insert(0, str(folder))
from ppgan.utils.download import get_path_from_url as fetch
"""
CONDITION = """
label = paddle.static.data(name="label", shape=[None, 1], dtype="float32")
loss = paddle.nn.functional.mse_loss(paddle.static.nn.fc(image, 1), label)
loss = paddle.static.nn.cond(loss > 1, lambda: loss * 2, lambda: loss)
paddle.optimizer.SGD().minimize(loss)
executor = paddle.static.Executor(paddle.CPUPlace())
executor.run(paddle.static.default_startup_program())
import numpy; executor.run(feed={"image": numpy.zeros([4, 20], "float32"), "label": numpy.zeros([4, 1], "float32")})
"""
MODEL = """
import numpy, paddle
paddle.enable_static()
network = paddle.nn.Linear(20, 3)
inputs = [paddle.static.InputSpec([None, 20], "float32", "x")]
model = paddle.Model(network, inputs, [paddle.static.InputSpec([None, 1], "int64", "y")])
model.prepare(paddle.optimizer.Adam(parameters=network.parameters()), paddle.nn.CrossEntropyLoss())
model.fit([(numpy.zeros(20, "float32"), numpy.zeros(1, "int64"))] * 32, batch_size=8)
"""
CHOSEN = "optimizer = paddle.optimizer.Adam(parameters=model.parameters())"
CHOOSES = """known = inspect.signature(paddle.optimizer.Adam).parameters
given = {"parameters": model.parameters(), "learning_rate": 0.1, "momentum": 0.9}
optimizer = paddle.optimizer.Adam(**{name: value for name, value in given.items() if name in known})"""
EXPORTED = """
model = copy.deepcopy(paddle.jit.to_static(model, input_spec=[paddle.static.InputSpec([None, 20])], full_graph=True))
assert not model.forward.outputs and model.forward.main_program.clone()
optimizer"""
SOURCES = {
    "model": MODEL,
    "graph": GRAPH + "paddle.static.Executor(paddle.CPUPlace()).train_from_dataset(dataset=None)",
    "old-kind": "import os, paddle\nos.environ['FLAGS_enable_pir_api'] = '0'\npaddle.enable_static()",
    "condition": GRAPH + CONDITION,
    "left": GRAPH
    + "paddle.static.Executor(paddle.CPUPlace()).train_from_dataset(dataset=None)\n"
    + "#---\nimport paddle\npaddle.disable_static()\n#---"
    + TRAINING,
    "built-only": GRAPH + "executor = paddle.static.Executor(paddle.CPUPlace())",
    "switched-only": "import paddle\npaddle.enable_static()\npaddle.disable_static()" + TRAINING,
    "plain": TRAINING,
    "loaded": LOADS.format(path="'absent/model.pdparams'"),
    "fetched": LOADS.format(path="paddle.utils.download.get_weights_path_from_url('https://a.invalid/a.pdparams')"),
    "fetched-by-its-own": OWN + LOADS.format(path="fetch('https://a.invalid/a.pdparams')"),
    "vectors": "import paddle\nvectors = paddle.load('absent/glove.pdtensor')" + TRAINING,
    "of-both": LOADS.format(path="'absent/model'"),
    "model-load": MODEL.replace("paddle.enable_static()\n", "").replace(
        "model.fit", "model.load('absent/final')\nmodel.fit"
    ),
    "checked": "import paddle\npaddle.utils.run_check()" + TRAINING,
    "exported": "import copy" + TRAINING.replace("\noptimizer", EXPORTED, 1),
    "chosen": "import inspect" + TRAINING.replace(CHOSEN, CHOOSES),
    "missed": LOADS.format(path="required('absent/model.pdparams')"),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(("name", "line"), [("graph", 5), ("old-kind", 3), ("condition", 12)])
def test_the_line_of_a_static_graph_is_named(traced, name, line):
    row = traced[name]
    assert (row["status"], row["questions"]) == ("static_graph", [])
    assert dict(zip(row["notes"], row["params"], strict=True))["static_graph"] == {"cell": 1, "line": line}


def test_a_model_is_fitted_in_static_mode(traced):
    assert (traced["model"]["status"], traced["model"]["notes"]) == ("ok", ["static_graph_on_cpu"])
    assert traced["model"]["trainings"]["1"][0] == "Linear"


def test_a_graph_that_nothing_runs_trains_nothing(traced):
    assert (traced["built-only"]["status"], traced["built-only"]["notes"]) == ("no_model", [])


@pytest.mark.parametrize("name", ["left", "switched-only"])
def test_a_training_in_dynamic_mode_is_estimated_beside_it(traced, name):
    assert traced[name]["status"] == "ok"
    assert traced[name]["peak"] == traced["plain"]["peak"]
    assert ("static_graph_beside" in traced[name]["notes"]) == (name == "left")


@pytest.mark.parametrize("name", ["loaded", "fetched", "fetched-by-its-own"])
def test_without_weights_a_model_keeps_its_own(traced, name):
    assert traced[name]["peak"] == traced["plain"]["peak"]
    assert traced[name]["notes"] == ["weights_absent"]


@pytest.mark.parametrize("name", ["vectors", "of-both", "model-load"])
def test_whatever_paddle_loads_that_is_not_here_is_weights(traced, name):
    assert (traced[name]["status"], traced[name]["notes"]) == ("ok", ["weights_absent"])


def test_a_check_of_the_installation_leaves_the_mode_as_it_was(traced):
    """It switches to static graphs and back, and runs programs of its own."""
    assert (traced["checked"]["peak"], traced["checked"]["notes"]) == (traced["plain"]["peak"], [])


def test_a_trainer_may_look_at_the_graph_of_its_export(traced):
    """Nothing is exported, so that the graph is empty; a copy of the layer trains weights of its own."""
    assert (traced["exported"]["peak"], traced["exported"]["notes"]) == (traced["plain"]["peak"], [])


def test_a_program_may_choose_arguments_by_a_signature(traced):
    assert (traced["chosen"]["peak"], traced["chosen"]["notes"]) == (traced["plain"]["peak"], [])


def test_an_error_that_names_an_absent_file_is_not_the_programs(traced):
    row = traced["missed"]
    assert (row["status"], row["questions"]) == ("ok", [])
    assert "data_absent" in row["notes"]


def test_a_function_of_a_script_stands_in_the_scripts_file():
    """Hydra looks beside it for the configuration; what stands in no cell is where it was."""
    names: dict[str, Any] = {"__file__": "/programs/train.py"}
    exec(compile("def main(): pass", cell_name(0), "exec"), names)
    told = next(patch for patch in patches() if patch.owner is inspect and patch.name == "getfile")
    assert told.replacement(None, inspect.getfile, names["main"]) == "/programs/train.py"
    assert told.replacement(None, inspect.getfile, patches) == patches.__code__.co_filename


def test_arrow_maps_what_python_opens(monkeypatch, tmp_path):
    """Hugging Face's reader writes a file by `open`, whose place only that knows, and has Arrow's own C map it."""
    written, real = tmp_path / "kept", open
    written.write_bytes(b"rows")
    monkeypatch.setattr(
        "builtins.open", lambda path, mode: real(written if path == "cache/texts.arrow" else path, mode)
    )
    told = next(patch for patch in patches() if patch.name == "memory_map")

    def mapped(path, mode="r"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return os.read(descriptor, 9), mode
        finally:
            os.close(descriptor)

    assert told.replacement(None, mapped, "cache/texts.arrow", "r") == (b"rows", "r")
    with pytest.raises(FileNotFoundError, match=r"cache/none\.arrow"):
        told.replacement(None, mapped, "cache/none.arrow")
