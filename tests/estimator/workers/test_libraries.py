"""Libraries are imported once, before the fork."""

from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.libraries import imported
from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings
from jupyter_paddle_gpu.estimator.workers.worker import Worker


def test_only_well_known_libraries_are_named():
    sources = [
        "import numpy as np, mine\nfrom sklearn.datasets import load_digits",
        "from .own import x",
        "not python (",
    ]
    more = ["def f():\n    import numpy\n    import matplotlib.pyplot as plt", "\0"]

    assert imported([*sources, *more]) == ("numpy", "sklearn.datasets", "matplotlib.pyplot")


@pytest.mark.paddle
def test_a_library_stays_imported_for_the_next_request(tmp_path):
    worker = Worker(find_interpreter("python3"), WorkerSettings(tracer=Path(__file__).parents[1] / "bare_tracer"))
    code = {"cells": [{"index": 0, "source": "import sys; result = [n in sys.modules for n in ('this', 'absent')]"}]}
    before = worker.request("trace", code, tmp_path)
    after = worker.request("trace", code, tmp_path, libraries=("this", "absent.module"))
    later = worker.request("trace", code, tmp_path)
    worker.close()

    assert [outcome.value["extra"]["result"] for outcome in (before, after, later)] == [
        [False, False],
        [True, False],
        [True, False],
    ]
