"""Options that a program has read by click or absl are asked for as those of argparse are, and take the answers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import sys, os, numpy as np, paddle
sys.argv = ["train.py"]
def train(width, rows=None):
    net = paddle.nn.Linear(13, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for i in range(8):
        net(paddle.rand([16, 13]) if rows is None else paddle.to_tensor(rows[i : i + 16])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
CLICK = {
    "click": """
import click
@click.command()
@click.option("--width", type=int, required=True)
@click.option("--seed", default=3)
@click.argument("out")
def main(width, seed, out):
    assert out and seed == 3
    train(width)
main()
""",
    "click_mode": """
import click
@click.group(invoke_without_command=True)
@click.option("--mode", type=click.Choice(["eval", "train"]), default="eval")
def main(mode):
    if mode == "train":
        train(8)
main()
""",
    "click_prompt": """
import click
@click.command()
@click.option("--units", type=int, prompt="How many units")
def main(units):
    train(units)
main()
""",
    "click_file": """
import click, json
@click.command()
@click.option("--config", help="a file, e.g. small.json")
def main(config):
    width = json.load(open(config))["width"]
    train(width)
main()
""",
}
ABSL = {
    "absl": """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_string("out", None, "where it goes")
flags.DEFINE_integer("width", None, "of the layer", required=True)
flags.mark_flag_as_required("out")
def main(argv):
    train(FLAGS.width)
app.run(main)
""",
    "absl_itself": """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_string("out", None, "where it goes")
def main(argv):
    if not FLAGS.out:
        raise ValueError("give --out")
    train(8)
app.run(main)
""",
    "absl_mode": """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_enum("mode", "eval", ["eval", "train"], "what to do")
def main(argv):
    if FLAGS.mode == "train":
        train(8)
app.run(main)
""",
    "absl_file": """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_string("rows", "absent.npy", "rows of 13 numbers")
def main(argv):
    if not os.path.exists(FLAGS.rows):
        print("no rows")
        return
    train(4, np.load(FLAGS.rows))
app.run(main)
""",
}
ASKED = {
    "click": {"width": 256, "out": "out"},
    "click_mode": {"mode": "train"},
    "click_prompt": {"units": 256},
    "click_file": {"config": "small.json"},
    "absl": {"width": 256, "out": "out"},
    "absl_itself": {"out": "out"},
    "absl_mode": {"mode": "train"},
}


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    folder = {"folder": str(tmp_path_factory.mktemp("program"))}  # with no documents beside it
    programs = {name: HEAD + part for name, part in {**CLICK, **ABSL}.items()}
    answered = {
        f"{name}_answered": {"answers": answers, **folder} for name, answers in ASKED.items() if name != "click_file"
    }
    again = {name: programs[name.removesuffix("_answered")] for name in answered}
    return run_child("trace", {**programs, **again}, {**dict.fromkeys(programs, folder), **answered})


@pytest.mark.parametrize("name", ASKED)
def test_what_is_missing_is_asked_for_by_its_name(found, name):
    asked = {one["name"]: one["suggestion"] for one in found[name]["questions"] if one["why"] != "number_unseen"}
    assert asked == ASKED[name]


@pytest.mark.parametrize("name", [name for name in ASKED if name != "click_file"])
def test_answers_stand_for_what_was_not_given(found, name):
    assert found[f"{name}_answered"]["status"] == "ok"
    assert found[f"{name}_answered"]["notes"] == []


def test_a_file_without_which_absl_has_nothing_to_run_is_data(found):
    assert [one["name"] for one in found["absl_file"]["questions"]] == ["absent_npy", "rows"]
