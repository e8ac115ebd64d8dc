"""Where code may train, read without running it: that reading it ends."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook.sites import Sites


def test_a_name_that_is_bound_to_itself_again_and_again_stands_for_each_function_once():
    """A layer's `forward` (`x = norm(x) + x`), where `x` is the name of a function elsewhere, doubled what it stands
    for line by line, until the memory was full."""
    train = "def train():\n    for x in rows:\n        net(x).backward()\n        optimizer.step()\n"
    source = f"{train}x = train\n" + "x = [x, x]\n" * 24 + "x[0]()"
    (site,) = Sites([{"index": 0, "source": source}]).all
    assert (site.line, site.trainings) == (source.count("\n") + 1, 1)


def test_a_script_that_starts_itself_adds_nothing_to_what_it_trains():
    again = "import subprocess\nsubprocess.run(['python', 'worker.py'])\n"
    train = "def train():\n    for x in rows:\n        net(x).backward()\n"
    for script, trainings in ((again, []), (f"{again}{train}train()\n", [1])):
        sites = Sites([{"index": 0, "source": again}], {"worker.py": script}).all
        assert [site.trainings for site in sites] == trainings


@pytest.mark.parametrize(
    ("made", "trainings"),
    [
        ("getattr(paddle.optimizer, name)(0.1, parameters=net.parameters())", 2),
        ("{'sgd': paddle.optimizer.SGD}[name](parameters=net.parameters())", 2),
        ("Own(parameters=net.parameters())", 2),
        ("nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=1.0)", 1),
    ],
)
def test_an_optimizer_is_made_by_whatever_is_given_parameters(made, trainings):
    """A grid over settings, whose class is looked up by its name, was one training: that of its first, small model."""
    own = "class Own(paddle.optimizer.Adam):\n    def __init__(self, **given):\n        super().__init__(**given)\n"
    loop = f"for width, name in grid:\n    optimizer = {made}\n    for x in rows:\n        net(x).backward()\n"
    (site,) = Sites([{"index": 0, "source": own + loop}]).all
    assert site.trainings == trainings
