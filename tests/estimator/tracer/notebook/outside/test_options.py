"""Options that a program reads by getopt and optparse, and what these leave, are asked for and take the answers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import sys, numpy as np, paddle
sys.argv = ["train.py"]
def train(rows, width=8):
    net = paddle.nn.Linear(13, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for _ in range(4):
        net(paddle.rand([rows, 13])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
GETOPT = """
import getopt
def main(argv):
    {begins}
    try:
        found, rest = getopt.getopt(argv, "hb:w:", ["help", "batch-size=", "width="])
    except getopt.GetoptError:
        print("train.py -b <rows>")
        sys.exit(2)
    for option, value in found:
        if option in ("-h", "--help"):
            sys.exit()
        elif option in ("-b", "--batch-size"):
            batch = int(value)
        elif option == "-w":
            width = int(value)
    {checks}
    train(batch, width)
"""
DICTIONARY = """
import getopt
found = dict(getopt.gnu_getopt(sys.argv[1:], "", ["batch="])[0])
{checks}
train(int(found{read}))
"""
OPTPARSE = """
from optparse import OptionParser
parser = OptionParser()
parser.add_option("-b", "--batch", type="int")
parser.add_option("-w", "--width", type="int", default=8)
options, rest = parser.parse_args()
"""
PROGRAMS = {
    "ends": GETOPT.format(
        begins="batch, width = None, 8", checks="if batch is None:\n        print('-b')\n        sys.exit(2)"
    )
    + "main(sys.argv[1:])",
    "none": GETOPT.format(begins="batch, width = None, 8", checks="") + "main(sys.argv[1:])",
    "unbound": GETOPT.format(begins="width = 8", checks="") + "main(sys.argv[1:])",
    "short": GETOPT.format(begins="batch, width = 16, None", checks="") + "main(sys.argv[1:])",
    "given": GETOPT.format(begins="width = 8", checks="") + "main(['--batch-size=16'])",
    "key": DICTIONARY.format(checks="", read="['--batch']"),
    "got": DICTIONARY.format(checks="", read=".get('--batch')"),
    "looked": DICTIONARY.format(checks="if '--batch' not in found:\n    sys.exit('give it')", read="['--batch']"),
    "counted": "import getopt\nfound, rest = getopt.getopt(sys.argv[1:], '', ['batch='])\n"
    "if not found:\n    sys.exit('Usage: train.py --batch=<n>')\ntrain(int(dict(found)['--batch']))",
    "counted_as_dictionary": DICTIONARY.format(checks="if not found:\n    sys.exit('give it')", read="['--batch']"),
    "counted_in_a_dictionary": "import getopt\nfound, rest = getopt.getopt(sys.argv[1:], '', ['batch='])\n"
    "given = dict(found)\nif len(given) == 0:\n    sys.exit('give it')\ntrain(int(given['--batch']))",
    "counted_before": "if len(sys.argv) < 2:\n    sys.exit(1)" + DICTIONARY.format(checks="", read="['--batch']"),
    "rest": "import getopt\nfound, rest = getopt.getopt(sys.argv[1:], 'v')\n"
    "if len(rest) != 2:\n    sys.exit('two')\ntrain(int(rest[0]), int(rest[1]))",
    "place": "import getopt\nfound, rest = getopt.getopt(sys.argv[1:], 'v')\ntrain(int(rest[0]))",
    "optparse": f"{OPTPARSE}train(options.batch, options.width)",
    "optparse_error": f"{OPTPARSE}if not options.batch:\n    parser.error('give it')\ntrain(options.batch)",
    "optparse_rest": f"{OPTPARSE}if not rest:\n    parser.error('give it')\ntrain(int(rest[0]))",
}
ASKED = {
    "ends": {"batch_size": 32},
    "none": {"batch_size": 32},
    "unbound": {"batch_size": 32},
    "short": {"width": 256},
    "key": {"batch": 32},
    "got": {"batch": 32},
    "looked": {"batch": 32},
    "counted": {"arguments": "--batch=32"},
    "counted_as_dictionary": {"arguments": "--batch=32"},
    "counted_in_a_dictionary": {"arguments": "--batch=32"},
    "counted_before": {"arguments": "--batch=32"},
    "rest": {"argv_1": "1", "argv_2": "2"},
    "place": {"argv_1": "1"},
    "optparse": {"batch": 32},
    "optparse_error": {"batch": 32},
    "optparse_rest": {"argv_1": "1"},
}


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    whole = {name: f"{HEAD}{part}" for name, part in PROGRAMS.items()}
    whole |= {f"{name}_answered": whole[name] for name in ASKED}
    options = {name: {"folder": str(folder), "answers": {}} for name in whole}
    options |= {f"{name}_answered": {"folder": str(folder), "answers": answers} for name, answers in ASKED.items()}
    return run_child("trace", whole, options)


@pytest.mark.parametrize("name", ASKED)
def test_what_was_not_given_is_asked_for(found, name):
    assert {one["name"]: one["suggestion"] for one in found[name]["questions"]} == ASKED[name]


@pytest.mark.parametrize("name", ASKED)
def test_the_answer_has_it_train(found, name):
    one = found[f"{name}_answered"]
    assert (one["status"], one["questions"], one["notes"]) == ("ok", [], [])


def test_what_is_given_is_not_asked_for(found):
    assert found["given"]["status"] == "ok"
