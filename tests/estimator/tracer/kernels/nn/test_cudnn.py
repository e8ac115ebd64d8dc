"""What kernels ask cuDNN for on a GPU, beside what it answered on a card (`benchmarks/device`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

READING = Path(__file__).parents[5] / "benchmarks/results/device_reading.json"
RECURRENT = """
import json, sys
from types import SimpleNamespace as Space
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.kernels.nn import recurrent
recurrent.running = lambda: Space(target="gpu")
for number, one in enumerate(json.load(sys.stdin)):
    x, weights = Space(shape=tuple(one["x"]), dtype=one["dtype"]), Space(nbytes=one["weights"])
    attrs = dict(mode=one["mode"], hidden_size=one["hidden"], num_layers=one["layers"], is_bidirec=one["both_ways"])
    results = [recurrent._reserve(attrs, [[x]], Space(result=at)) for at in (1, 3)]
    found = recurrent._cudnn(attrs, [[x], [], [weights]], [])
    print(json.dumps([number, [*found, *(meta[0][0] for meta in results)]]), flush=True)
"""
CONVOLUTIONS = """
import json, sys
from types import SimpleNamespace as Space
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.kernels.nn.convolution import cudnn
for number, (weight, groups) in enumerate(json.load(sys.stdin)):
    x, out = Space(shape=[8, 64, 9, 9], nbytes=165888), Space(nbytes=1000)
    found = cudnn({"groups": groups}, [[x], [Space(shape=tuple(weight), nbytes=100, storage=None)]], [[out]])
    print(json.dumps([number, found]), flush=True)
"""
Run = Callable[[str, object], dict]


def test_recurrent_kernels_take_what_cudnn_asks_for(run_code: Run) -> None:
    cudnn = json.loads(READING.read_text())["cudnn"]
    found = run_code(RECURRENT, cudnn["recurrences"])
    for number, one in enumerate(cudnn["recurrences"]):
        low, high, states, reserve = found[number]
        assert low <= one["work"] <= high, one
        assert states == cudnn["dropout_states"]
        assert 0 <= one["reserve"] - reserve <= 16, one  # rounded up to sixteen bytes


def test_depthwise_convolutions_of_images_ask_for_nothing(run_code: Run) -> None:
    asked = [
        ([64, 1, 3, 3], 64),
        ([128, 1, 5, 5], 64),
        ([64, 2, 3, 3], 32),
        ([64, 64, 3, 3], 1),
        ([64, 1, 3, 3, 3], 64),
    ]
    found = run_code(CONVOLUTIONS, asked)
    whole = 165888 + 1000 + 100
    assert [found[number] for number in range(5)] == [[0, 0], [0, 0], [0, whole], [0, whole], [0, whole]]
