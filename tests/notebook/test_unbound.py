"""Names that no code binds, where a job surely comes to them; what may never run, or may bind unseen, is left alone."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.notebooks import Place
from tests.notebook.facts import Inspect

FOUND = {
    "a library that is not imported": (["import paddle", "x = 1\ntorch.save(x, 'a')"], ("torch", Place(1, 2))),
    "in the function that is called": (["def f():\n    return lost\n", "x = 1\nf()"], ("lost", Place(1, 2))),
    "in a script's main": (
        ["def main():\n    print(lost)\nif __name__ == '__main__':\n    main()"],
        ("lost", Place(0, 4)),
    ),
    "what a loop goes through": (["for one in rows:\n    pass"], ("rows", Place(0, 1))),
    "what a `with` holds": (["with open('a') as file:\n    file.write(lost)"], ("lost", Place(0, 2))),
    "behind a function that returns": (["def f():\n    return 1\nf()\nlost"], ("lost", Place(0, 4))),
    "behind a method called eval": (["net = open('a')\nnet.eval()\nlost(net)"], ("lost", Place(0, 3))),
    "the first of a line": (["first.item // 每批的大小"], ("first", Place(0, 1))),
    "what is called before what it is given": (["first.log(second, key=third)"], ("first", Place(0, 1))),
    "what is given before the body": (["def f(x):\n    return second\nf(first)"], ("first", Place(0, 3))),
    "what is bound before where": (["second[third] = first"], ("first", Place(0, 1))),
    "a condition": (["if lost > 1:\n    other()"], ("lost", Place(0, 1))),
}
LEFT = {
    "builtins and IPython's": "print(len(In)); display(__name__)",
    "bound anywhere": "def f():\n    global model\n    model = 1\nprint(model)",
    "in a branch": "if x := 0:\n    print(lost)\nelse:\n    pass",
    "in a loop's body": "for i in []:\n    print(lost)",
    "what an exception may catch": "try:\n    lost\nexcept NameError:\n    pass",
    "what is suppressed": "import contextlib\nwith contextlib.suppress(NameError):\n    lost",
    "the rest of a condition": "x = 0\ny = x and lost\nz = lost if x else 1\nw = [lost for _ in []]\nv = lambda: lost",
    "a function that nobody calls": "def f():\n    return lost",
    "behind the end": "import sys\nsys.exit()\nlost",
    "imported with all others": "from numpy import *\nlost",
    "run from elsewhere": "%run other.ipynb\nlost",
    "bound by text": "globals()['lost'] = 1\nlost",
    "an annotation": "x: lost = 1",
}


@pytest.mark.parametrize("case", FOUND)
def test_a_name_that_nothing_binds_is_found_where_the_job_comes_to_it(inspect: Inspect, case: str) -> None:
    cells, (name, place) = FOUND[case]
    assert [(one.name, one.place) for one in inspect(*cells).unbound] == [(name, place)]


@pytest.mark.parametrize("case", LEFT)
def test_what_may_be_bound_or_may_not_run_is_not_told_of(inspect: Inspect, case: str) -> None:
    assert inspect(LEFT[case]).unbound == ()
