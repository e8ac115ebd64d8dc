"""What changes a training and what does not, and that places follow their lines."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.notebooks import Place
from jupyter_paddle_gpu.estimator.sources.programs import moved, program
from jupyter_paddle_gpu.estimator.trace import Trace, TracedNote

IMPORTS = "import matplotlib.pyplot as plt\nimport paddle\nwidth = 8"
TRAINING = "net = build(width)\nfor x in data:\n    step(net, x)"


def cells(*sources):
    return [{"index": index, "source": source} for index, source in enumerate(sources)]


PLAIN = program(cells(IMPORTS, TRAINING))


@pytest.mark.parametrize(
    "sources",
    [
        (IMPORTS + "  # wide", TRAINING),
        (IMPORTS, "# the training\n\n" + TRAINING.replace("(net, x)", "(net,   x)")),
        (IMPORTS, "", TRAINING, "# done"),
        (IMPORTS, TRAINING, "print('width', width)\nplt.plot(range(width), list(data_of))".replace("data_of", "[1]")),
        (IMPORTS, '"""How it trains."""\n' + TRAINING, "plt.show()"),
    ],
)
def test_comments_plots_and_prints_change_nothing(sources):
    assert program(cells(*sources)).loose == PLAIN.loose


@pytest.mark.parametrize(
    "sources",
    [
        (IMPORTS.replace("8", "9"), TRAINING),
        (IMPORTS.replace("8", "8.0"), TRAINING),
        (IMPORTS.replace("8", "True"), TRAINING),
        (IMPORTS, TRAINING + "\n    print(x)"),  # within the loop it may read a value
        (IMPORTS, TRAINING, "print(nothing_here)"),  # which would stop the notebook
        (IMPORTS, TRAINING, "print(net.train())"),
        (IMPORTS, TRAINING, "print = step\nprint(net)"),
        (IMPORTS, TRAINING, "plt = net\nplt.train(1)"),
        (IMPORTS, "print(width\n" + TRAINING),
        (TRAINING, IMPORTS),
    ],
)
def test_whatever_may_change_the_training_counts(sources):
    assert program(cells(*sources)).loose != PLAIN.loose


def test_places_follow_their_lines():
    after = program(cells("# a note of its own", IMPORTS, "\n\n# below\n" + TRAINING))
    trace = Trace(status="ok", where=Place(1, 2), others=(Trace(status="ok", id="2", where=Place(0, 3)),))
    found = moved(trace, PLAIN, after)
    assert (found.where, found.others[0].where) == (Place(2, 5), Place(1, 3))
    assert moved(trace, PLAIN, PLAIN) == trace


def test_a_place_that_cannot_be_moved_for_certain_is_traced_anew():
    noted = Trace(status="ok", notes=(TracedNote(code="stand_in_number", params={"line": 3}),))
    assert moved(noted, PLAIN, PLAIN) is None
    assert moved(Trace(status="ok", where=Place(7, 1)), PLAIN, PLAIN) is None
