"""Signals on the nodes of a graph: the sizes stand in the program, and their order is that of such nets."""

from __future__ import annotations

import argparse

from jupyter_paddle_gpu.estimator.tracer.notebook.questions.hints import hints
from jupyter_paddle_gpu.estimator.tracer.notebook.questions.shapes.signals import signals


def test_steps_and_nodes_make_a_batch():
    numbers = {"num_of_vertices": 330, "num_of_history": 12, "num_for_predict": 3, "num_of_features": 2, "filters": 64}
    found = list(signals(32, numbers))
    assert found[0] == [("float32", (32, 12, 330, 2)), ("float32", (32, 3, 330))]
    assert found[-1] == [("float32", (32, 330, 12, 2)), ("float32", (32, 330, 3, 2))]


def test_without_either_nothing_is_said():
    assert list(signals(32, {"num_nodes": 330})) == list(signals(32, {"n_his": 12})) == []


def test_numbers_of_a_configuration_that_was_answered_count(tmp_path):
    """`open(args.config)`: the answer names a file that is here."""
    (tmp_path / "net.json").write_text('{\n  "num_of_vertices": 330,\n  "rate": 1e-3,\n  "filters": [64, 64]\n}')
    (tmp_path / "net.yml").write_text("num_of_vertices: 20  # stations\nnum_of_history: 12\n")
    paths = {name: str(tmp_path / f"net.{name}") for name in ("json", "yml")}
    namespace = {"args": argparse.Namespace(config=paths["json"], more=paths["yml"], absent="no.json")}
    found = hints([{"index": 0, "source": "epochs = 4"}], {}, namespace, "loader", [])
    assert found.numbers == {"num_of_vertices": 330, "num_of_history": 12, "epochs": 4}
