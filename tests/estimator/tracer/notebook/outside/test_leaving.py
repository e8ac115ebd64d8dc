"""A function that returns before the training which it holds is told with the condition, or asked for what it lacks."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINS = """
    net = paddle.nn.Linear(4, 2)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for step in range(9):
        loss = net(paddle.rand([size, 4])).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
ARGUMENT = f"""
import paddle
def main(path=None, size=8):
    if not path:
        print("no data")
        return
{TRAINS}
main()
"""
FLAG = f"""
import paddle
TRAIN = False
def main(size):
    if TRAIN:
        print("begins")
    else:
        return None
{TRAINS}
main(8)
"""
OPTION = f"""
import argparse, paddle
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int)
    size = parser.parse_args([]).size
    options = parser.parse_args([])
    if options.size is None:
        return
{TRAINS}
main()
"""
BEHIND = f"""
import paddle
def main(size):
{TRAINS}
    if size > 4:
        return
    print("small")
main(8)
"""
SOURCES = {"argument": ARGUMENT, "flag": FLAG, "option": OPTION, "behind": BEHIND}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(("name", "line", "test"), [("argument", 6, "not path"), ("flag", 8, "not TRAIN")])
def test_the_condition_is_told_under_which_it_returns(traced, name, line, test):
    assert (traced[name]["status"], traced[name]["questions"]) == ("no_model", [])
    told = dict(zip(traced[name]["notes"], traced[name]["params"], strict=True))
    assert told == {"left_early": {"cell": 1, "line": line, "function": "main", "test": test}}


def test_an_option_that_it_waits_for_is_asked_for_and_leads_to_a_figure(traced, run_child):
    (asked,) = traced["option"]["questions"]
    assert (asked["name"], asked["why"], asked["suggestion"]) == ("size", "argument_missing", 1)
    real = run_child("real", {"option": OPTION.replace("parse_args([])", 'parse_args(["--size", "16"])')})["option"]
    answered = run_child("trace", {"option": OPTION}, {"option": {"answers": {"size": 16}}})["option"]
    assert answered["peak"] == max(real["peaks"][1:]), real["failure"]


def test_an_answer_for_the_name_of_the_condition_has_it_go_on(run_child):
    found = run_child("trace", {"flag": FLAG}, {"flag": {"answers": {"TRAIN": True}}})["flag"]
    assert (found["status"], found["batch_size"], found["notes"]) == ("ok", 8, [])


def test_a_return_behind_the_training_is_none_of_it(traced):
    assert (traced["behind"]["status"], traced["behind"]["notes"]) == ("ok", [])
