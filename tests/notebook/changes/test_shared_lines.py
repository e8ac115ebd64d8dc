"""Statements that share a line where a change goes are put into lines of their own; all other lines stay."""

from __future__ import annotations

import ast

import pytest

from jupyter_paddle_gpu.domain.estimates import Among
from jupyter_paddle_gpu.domain.notebooks import Place
from tests.notebook.changes.test_table import FIT, LOOP, made, refused

HEAD = "import paddle; import numpy as np\n"
MODEL = "net = paddle.nn.Linear(8, 1); opt = paddle.optimizer.SGD(parameters=net.parameters()){end}\n"
STEP = "y = net(x); loss = y.mean(); loss.backward(); opt.step(); opt.clear_grad()"
SUMMED = """\
{indent}y = net(x)
{indent}loss = y.mean()
{indent}(loss / 2).backward()
{indent}if next(micro_batches) % 2 == 0:
{indent}    opt.step()
{indent}    opt.clear_grad()
"""


@pytest.mark.parametrize(
    ("loop", "indent"),
    [
        (f"for x in data: {STEP}\n", "    "),
        (f"for x in data:\n  {STEP};  # 中文\n", "  "),
        (f"for x in data:\n\t{STEP} ;\n", "\t"),
        (f"for x in data:\n    try: \\\n     {STEP}\n    except ValueError: pass\n", "        "),
        (f"for x in data:\n    {STEP}".replace("; opt.step", "; \\\n    opt.step"), "    "),
    ],
)
def test_each_statement_of_the_step_gets_a_line(loop: str, indent: str) -> None:
    cell = HEAD + MODEL.format(end="") + "batch_size = 4\n" + loop
    copy, found = made({"accumulation": 2}, cell)
    source = copy.content["cells"][0]["source"]
    ast.parse(source)
    assert not found.refused
    assert source.startswith(HEAD + MODEL.format(end="")), "what is not changed keeps its line"
    wanted = SUMMED.format(indent=indent).replace(
        f"{indent}    opt", f"{indent}{indent if len(indent) < 4 else '    '}opt"
    )
    assert wanted.rstrip("\n") in source.replace("\n\n", "\n")


def test_a_comment_stays_behind_the_last_of_them() -> None:
    cell = HEAD + MODEL.format(end=";  # both") + f"for x in data: {STEP}\n"
    source = made({"amp": "O2"}, cell)[0].content["cells"][0]["source"]
    ast.parse(source)
    assert "net = paddle.nn.Linear(8, 1)\nopt = paddle.optimizer.SGD(parameters=net.parameters())  # both\n" in source
    assert 'net, opt = paddle.amp.decorate(net, opt, level="O2"' in source


def test_of_several_trainings_the_meant_one_is_still_found_behind_lines_put_apart() -> None:
    first = HEAD + MODEL.format(end="") + f"for x in data: {STEP}\n"
    second = first.replace("opt", "sgd").replace("net", "model")
    among = Among(id="b", where=Place(1, 3), others=(Place(0, 4),))
    copy, found = made({"accumulation": 2, "batch_size": 4}, "batch_size = 4\n" + first, second, among=among)
    assert copy.content["cells"][0]["source"].endswith(first)
    assert "accumulation" not in dict(refused(found))
    assert "    (loss / 2).backward()\n" in copy.content["cells"][1]["source"]


def test_a_refused_change_puts_nothing_apart() -> None:
    cell = LOOP.replace("        opt.step()", "        opt.step(); net.weight.grad")
    copy, found = made({"amp": "O1"}, cell)
    assert refused(found) == [("amp", "amp_gradients")]
    assert copy.content["cells"][0]["source"] == cell


GIVEN = "options = {options}\nmodel.fit(data, **options)\n"


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ("dict(epochs=1, batch_size=64)", "dict(epochs=1, batch_size=8)"),
        ("{**dict(batch_size=16), 'batch_size': 64}", "{**dict(batch_size=16), 'batch_size': 8}"),
        ("{'batch_size': 16, **{'batch_size': 64}}", "{'batch_size': 16, **{'batch_size': 8}}"),
        ("dict({'batch_size': 64}, epochs=1)", "dict({'batch_size': 8}, epochs=1)"),
    ],
)
def test_an_argument_that_comes_by_two_stars_is_changed_where_it_stands(options: str, changed: str) -> None:
    fit = FIT[: FIT.index("model.fit")]
    copy, found = made({"batch_size": 8}, fit + GIVEN.format(options=options))
    assert not found.refused
    assert copy.content["cells"][0]["source"] == fit + GIVEN.format(options=changed)


@pytest.mark.parametrize("options", ["read('a.json')", "{**read('a.json'), 'epochs': 1}", "dict(read('a.json'))"])
def test_no_argument_is_given_twice(options: str) -> None:
    _, found = made({"batch_size": 8, "accumulation": 2}, FIT[: FIT.index("model.fit")] + GIVEN.format(options=options))
    assert set(refused(found)) == {("batch_size", "change_in_options"), ("accumulation", "change_in_options")}


def test_an_argument_is_added_beside_options_that_do_not_say_it() -> None:
    fit = FIT[: FIT.index("model.fit")] + "own = {'epochs': 1}\n" + GIVEN.format(options="{**own, 'verbose': 0}")
    copy, found = made({"batch_size": 8}, fit)
    assert not found.refused
    assert "model.fit(data, **options, batch_size=8)" in copy.content["cells"][0]["source"]
