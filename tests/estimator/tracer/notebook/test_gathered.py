"""How much loops have gathered is told where a plot takes another number of places, and only where the code says it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle
pytest.importorskip("matplotlib")

PROGRAM = """
import paddle, numpy as np, matplotlib.pyplot as plt
epochs = 3
net = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.rand([64, 4])]), batch_size=16)
#---
{empty}
for epoch in {through}:
    for (x,) in loader:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        {step}
    {round}
#---
{plot}
"""
AS_USUAL = {
    "empty": "losses, scores = [], []", "through": "range(epochs)", "step": "", "round": "losses.append(float(loss))",
}  # fmt: skip
TWICE = {"round": "losses.append(1.0); losses.append(2.0)"}
CASES: dict[str, tuple[dict[str, str], tuple[int, int] | None]] = {
    "another number": ({"plot": "plt.plot(range(4), losses)"}, (4, 3)),
    "from 1 on": ({"plot": "plt.plot(np.arange(1, epochs), losses, label='losses')"}, (2, 3)),
    "axes": ({"plot": "figure, axes = plt.subplots()\naxes.plot([1, 2, 3, 4], losses, 'r-')"}, (4, 3)),
    "two in each round": ({**TWICE, "plot": "plt.plot(list(range(epochs)), losses)"}, (3, 6)),
    "two lists": (
        {"round": "losses.append(1); losses.append(2); scores.append(3)", "plot": "plt.plot(losses, scores)"},
        (6, 3),
    ),
    "read before": (
        {"plot": "print(np.mean(losses[:5]), max(losses))\nplt.semilogy(range(epochs + 1), losses)"},
        (4, 3),
    ),
    "a bar of progress": (
        {
            "through": "tqdm(range(epochs))",
            "empty": "from tqdm import tqdm\nlosses = []",
            "plot": "plt.plot(range(5), losses)",
        },
        (5, 3),
    ),
    "in each step of fewer epochs": (
        {"step": "losses.append(1.0)", "round": "", "plot": "plt.plot(range(epochs), losses)"},
        (3, 12),
    ),
    "in each step and each epoch": (
        {"step": "losses.append(1.0)", "round": "losses.append(2.0)", "plot": "plt.plot(range(12), losses)"},
        (12, 15),
    ),
    "in each step by the loader's length": (
        {"step": "scores.append(1.0)", "plot": "plt.plot(range(epochs * len(loader)), losses)"},
        (12, 3),
    ),
    "as many": ({"plot": "plt.plot(range(epochs), losses)\nplt.plot(range(3), losses)"}, None),
    "as many as there are": ({"plot": "plt.plot(range(len(losses)), losses)"}, None),
    "by the last count": ({"plot": "plt.plot(range(epoch + 1), losses)"}, None),
    "as many of two": ({**TWICE, "plot": "plt.plot(range(6), losses)"}, None),
    "one more behind": ({"plot": "losses.append(1.0)\nplt.plot(range(4), losses)"}, None),
    "made anew": ({"plot": "losses = losses + [1.0]\nplt.plot(range(4), losses)"}, None),
    "another name": ({"plot": "other = losses\nother.append(1.0)\nplt.plot(range(4), losses)"}, None),
    "handed over": ({"plot": "def fill(rows): rows.append(1.0)\nfill(losses)\nplt.plot(range(4), losses)"}, None),
    "in each step": ({"step": "losses.append(1.0)", "round": "", "plot": "plt.plot(range(12), losses)"}, None),
    "in some rounds": ({"round": "if epoch > 0: losses.append(1.0)", "plot": "plt.plot(range(2), losses)"}, None),
    "rounds left out": (
        {"round": "if epoch == 1: continue\n    losses.append(1.0)", "plot": "plt.plot([1, 2], losses)"},
        None,
    ),
    "left early": ({"round": "losses.append(1.0)\n    if epoch == 0: break", "plot": "plt.plot([1], losses)"}, None),
    "not empty": ({"empty": "losses = [0.0]", "plot": "plt.plot(range(4), losses)"}, None),
    "handled": ({"plot": "try:\n    plt.plot(range(4), losses)\nexcept ValueError:\n    pass"}, None),
    "by a name that texts bind": (
        {"plot": "globals()['losses'] = [1, 2, 3, 4]\nplt.plot(range(4), losses)"},
        None,
    ),
}
"""What stands otherwise, and the places along x and y of the plot that ends it: real runs end, or do not end, so."""


def _function(source: str) -> str:
    """The same in a function that is called once."""
    top, rest = source.split("#---\n", 1)
    return (
        top + "def main():\n" + "".join(f"    {line}\n" for line in rest.replace("#---\n", "").splitlines()) + "main()"
    )


@pytest.fixture(scope="module")
def found(run_child):
    sources = {name: PROGRAM.format(**AS_USUAL | parts) for name, (parts, _) in CASES.items()}
    return run_child("trace", sources | {f"{name} within": _function(source) for name, source in sources.items()})


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("where", ["", " within"])
def test_a_plot_of_another_length_than_the_loops_gather(found, name, where):
    one, places = found[name + where], CASES[name][1]
    assert one["status"] == "ok"
    if places is None:
        assert one["stop"] is None
    else:
        x, y = places
        said = f"ValueError: x and y must have same first dimension, but have shapes ({x},) and ({y},)"
        assert one["stop"]["error"] == said
