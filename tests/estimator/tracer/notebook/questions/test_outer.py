"""What a value from outside of a program is suggested to be: by documents, by the code, by its name."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

STEPS = """
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(6):
    loss = net(paddle.rand([batch, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
OPTIONAL = """
import argparse, sys, paddle
parser = argparse.ArgumentParser()
parser.add_argument({declared})
parser.add_argument("--other", default=None)
args = parser.parse_args([])
"""
NET = "net = paddle.nn.Linear(4, 2)\nbatch = 8\n" + STEPS
ARGUMENT = """
import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument({declared}, required=True)
args = parser.parse_args([])
"""
PROGRAMS = {
    "a comparison": ARGUMENT.format(declared="'--model'") + """
if args.model == 'narrow':
    net = paddle.nn.Linear(4, 2)
elif args.model == 'wide':
    net = paddle.nn.Linear(4, 200)
else:
    raise ValueError(args.model)
batch = 8
""" + STEPS,
    "a table": ARGUMENT.format(declared="'--model'") + """
KINDS = {'first': paddle.nn.Linear, 'second': None}
net = KINDS[args.model](4, 2)
batch = 8
""" + STEPS,
    "a class": ARGUMENT.format(declared="'--kind'") + """
class NetOfTwo(paddle.nn.Linear):
    pass
net = eval('Net' + args.kind)(4, 2)
batch = 8
""" + STEPS,
    "a help": ARGUMENT.format(declared="'--city', help='the city (e.g. Shenzhen)'") + NET,
    "a number": ARGUMENT.format(declared="'--batch', type=int")
    + "net = paddle.nn.Linear(4, 2)\nbatch = args.batch\n" + STEPS,
    "a text": ARGUMENT.format(declared="'--run_name'") + NET,
    "a folder": ARGUMENT.format(declared="'--data_dir'") + NET,
    "a variable": "import os, paddle\nbatch = int(os.environ['ROW_BATCH'])\nnet = paddle.nn.Linear(4, 2)\n" + STEPS,
    "a variable beside others": "import os, paddle\nrate, batch = float(os.environ.get('RATE', 1)), "
    "int(os.environ['ROW_BATCH'])\nnet = paddle.nn.Linear(4, 2)\n" + STEPS,
    "a variable that is looked at": "import os, paddle\nrows = os.environ.get('ROW_BATCH')\nif rows is None:\n"
    "    raise SystemExit('set ROW_BATCH')\nbatch = int(rows)\nnet = paddle.nn.Linear(4, 2)\n" + STEPS,
    "a variable that a function asks for": "import os, sys, paddle\ndef fail():\n    sys.exit(3)\n"
    "if not ('ROW_BATCH' in os.environ):\n    fail()\nbatch = int(os.environ['ROW_BATCH'])\n" + NET,
    "an input": "import paddle\nkind = input('kind? ')\nif kind not in ('narrow', 'wide'):\n    raise SystemExit(2)\n"
    + NET,
    "a raise": OPTIONAL.format(declared="'--batch', type=int")
    + "if args.batch is None:\n    raise ValueError('no batch')\n"
    + NET.replace("= 8", "= args.batch"),
    "an error of the parser": OPTIONAL.format(declared="'--data_dir', default=''")
    + "if not args.data_dir:\n    parser.error('no folder')\n" + NET,
    "an assertion in a function": OPTIONAL.format(declared="'--width', type=int")
    + "def made(width):\n    assert width is not None\n    return paddle.nn.Linear(4, width)\n"
    + NET.replace("paddle.nn.Linear(4, 2)", "made(args.width)"),
    "an exit": OPTIONAL.format(declared="'--run_name'")
    + "if args.run_name is None:\n    print('no name')\n    sys.exit(1)\n" + NET,
    "one of several": OPTIONAL.format(declared="'--kind'")
    + "if args.kind == 'wide':\n    width = 200\nelif args.kind == 'narrow':\n    width = 2\nelse:\n"
    + "    raise ValueError(args.kind)\n" + NET.replace("(4, 2)", "(4, width)"),
    "one of two flags": OPTIONAL.format(declared="'--do_train', action='store_true'")
    + "parser.add_argument('--do_eval', action='store_true')\nargs = parser.parse_args([])\n"
    + "if not (args.do_eval or args.do_train):\n    raise ValueError('neither')\nif args.do_train:\n    "
    + NET.strip().replace("\n", "\n    "),
    "a mode": OPTIONAL.format(declared="'--mode', default='eval', choices=['eval', 'train']")
    + "if args.mode == 'train':\n    " + NET.strip().replace("\n", "\n    "),
    "a mode without choices": OPTIONAL.format(declared="'--phase', default='test'")
    + "print('begins')\nif args.phase == 'pretrain':\n    " + NET.strip().replace("\n", "\n    "),
    "a flag that trains": OPTIONAL.format(declared="'--train', action='store_true'")
    + "if args.train:\n    " + NET.strip().replace("\n", "\n    "),
    "a flag of something else": OPTIONAL.format(declared="'--train_log', action='store_true'")
    + "if args.train_log:\n    " + NET.strip().replace("\n", "\n    "),
    "a mode where nothing trains": OPTIONAL.format(declared="'--mode', default='eval', choices=['eval', 'train']")
    + "net = paddle.nn.Linear(4, 2)\nprint(args.mode, net(paddle.rand([8, 4])).shape)",
    "a class that nobody has": ARGUMENT.format(declared="'--kind'") + "net = eval('Net' + args.kind)(4, 2)\n" + NET,
}  # fmt: skip
SCRIPT = "# train.py as a script\nimport sys\n__file__ = '/srv/train.py'\nsys.argv = ['/srv/train.py']\n"
LOOP = "import paddle\ndef train(batch):\n    net = paddle.nn.Linear(4, 2)\n" + "".join(
    f"    {line}\n" for line in STEPS.strip().splitlines()
)
SCRIPTS = {
    "an index": LOOP + "train(int(sys.argv[1]))\n",
    "names side by side": LOOP + "from sys import argv\ndata, batch = argv[1:]\ntrain(int(batch))\n",
    "a count": LOOP + "if len(sys.argv) < 2:\n    print('usage: train.py BATCH')\n    sys.exit(1)\n"
    "batch = int(sys.argv[1])\ntrain(batch)\n",
    "a count within a function": LOOP + "def usage():\n    sys.exit('usage: train.py DATA BATCH')\n"
    "if not len(sys.argv) == 3: usage()\n_, data, batch = sys.argv\ntrain(int(batch))\n",
    "an assertion": LOOP + "assert 2 <= len(sys.argv) <= 4, 'BATCH'\ntrain(int(sys.argv[1]))\n",
    "another exit": LOOP + "if len(sys.argv) < 2 and len(LOOPS) > 1:\n    sys.exit(1)\ntrain(8)\n",
    "a place of another list": LOOP + "train([8][1])\n",
}
ASKED = {
    "an index": {"argv_1": "32"},
    "names side by side": {"argv_1": "data", "argv_2": "32"},
    "a count": {"argv_1": "32"},
    "a count within a function": {"argv_1": "data", "argv_2": "32"},
    "an assertion": {"argv_1": "32"},
}
EXPECTED = {
    "a comparison": ("model", "narrow", "code"),
    "a table": ("model", "first", "code"),
    "a class": ("kind", "OfTwo", "code"),
    "a help": ("city", "Shenzhen", "code"),
    "a number": ("batch", 32, "any"),
    "a text": ("run_name", "run_name", "any"),
    "a folder": ("data_dir", "data", "any"),
    "a variable": ("ROW_BATCH", "32", "any"),
    "a variable beside others": ("ROW_BATCH", "32", "any"),
    "a variable that is looked at": ("ROW_BATCH", "32", "any"),
    "a variable that a function asks for": ("ROW_BATCH", "32", "any"),
    "an input": ("kind", "narrow", "code"),
    "a raise": ("batch", 32, "any"),
    "an error of the parser": ("data_dir", "data", "any"),
    "an assertion in a function": ("width", 256, "any"),
    "an exit": ("run_name", "run_name", "any"),
    "one of several": ("kind", "wide", "code"),
    "one of two flags": ("do_train", True, "code"),
    "a mode": ("mode", "train", "code"),
    "a mode without choices": ("phase", "pretrain", "code"),
    "a flag that trains": ("train", True, "code"),
}
OWN = ("a default", "another reason", "a name")
OWN_FAULTS = {
    "a default": OPTIONAL.format(declared="'--kind', default='wide'")
    + "if args.kind == 'wide':\n    raise ValueError('it')\n",
    "another reason": OPTIONAL.format(declared="'--kind'") + "if args.kind is None and len([1]) or args.other == 3:\n"
    "    kind = 1\nif kind == 1 or args.kind == 'wide':\n    raise ValueError('it')\n",
    "a name": "import paddle\nkind = None\nif kind is None:\n    raise ValueError('it')\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(run_child):
    """With the last program also as it goes on with what is suggested for it."""
    absent = "a class that nobody has"
    return run_child(
        "trace",
        {**PROGRAMS, **{name: source + NET for name, source in OWN_FAULTS.items()}, "answered": PROGRAMS[absent]},
        {"answered": {"answers": {"kind": "kind"}}},
    )


@pytest.mark.parametrize("program", EXPECTED)
def test_an_outer_value_is_suggested_with_its_reason(asked, program):
    (question,) = asked[program]["questions"]
    assert (question["name"], question["suggestion"], question["params"]["source"]) == EXPECTED[program]


@pytest.mark.parametrize("program", ["a flag of something else", "a mode where nothing trains"])
def test_a_program_that_is_not_to_train_is_asked_nothing(asked, program):
    assert (asked[program]["status"], asked[program]["questions"]) == ("no_model", [])


def test_what_the_program_refuses_by_itself_is_no_question(asked):
    """Its own default, another reason beside what was left out, and a name of its own with no argument."""
    assert [asked[name]["stop"]["error"] for name in OWN] == ["ValueError: it", "ValueError: it", "ValueError: it"]


def test_what_the_program_cannot_take_stops_it(asked):
    """No class of any such name is there: the suggestion shows it."""
    (question,) = asked["a class that nobody has"]["questions"]
    assert question["suggestion"] == "kind"
    assert asked["answered"]["stop"]["error"] == "NameError: name 'Netkind' is not defined"


@pytest.fixture(scope="module")
def scripts(run_child):
    """Each asked, and each with its suggestions."""
    programs = {name: f"{SCRIPT}#---\n{source}" for name, source in SCRIPTS.items()}
    answered = {f"{name}, answered": programs[name] for name in ASKED}
    return run_child(
        "trace", {**programs, **answered}, {f"{name}, answered": {"answers": ASKED[name]} for name in ASKED}
    )


@pytest.mark.parametrize("script", ASKED)
def test_places_of_a_command_line_are_asked_for(scripts, script):
    asked = {one["name"]: one["suggestion"] for one in scripts[script]["questions"]}
    assert asked == ASKED[script]
    assert {one["why"] for one in scripts[script]["questions"]} == {"place_missing"}
    answered = scripts[f"{script}, answered"]
    assert not answered["questions"] and answered["batch_size"] == 32
    assert not any(note.startswith("answers_") for note in answered["notes"])


@pytest.mark.parametrize("script", ["another exit", "a place of another list"])
def test_other_endings_ask_for_no_place(scripts, script):
    assert not scripts[script]["questions"] and scripts[script]["stop"]


def test_documents_give_variables_of_the_environment(tmp_path, monkeypatch):
    documented = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.documented")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("Run `BATCH=48 DATA=/path/to/data python train.py`.\n")
    assert documented.variables("BATCH") == [("48", "documented")]
    assert documented.variables("DATA") == documented.variables("ATCH") == []
    monkeypatch.setattr("sys.argv", ["train.py"])
    (tmp_path / "run.sh").write_text("python train.py rows.csv 48\npython train.py --help me\n")
    assert (documented.places(1), documented.places(2)) == ([("rows.csv", "documented")], [("48", "documented")])


def test_documents_of_the_repository_speak_of_programs_below(tmp_path, monkeypatch):
    """`python3 src/train.py config/train.ini` stands in the README of the whole."""
    documented = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.documented")
    program = tmp_path / "recognizer" / "src" / "train.py"
    program.parent.mkdir(parents=True)
    (tmp_path / "README.md").write_text("`python3 src/train.py config/train.ini`\n")
    monkeypatch.chdir(program.parent)
    monkeypatch.setattr("sys.argv", [str(program)])
    assert documented.places(1) == [], "what lies above need not be of the same program"
    (tmp_path / ".git").mkdir()
    assert documented.places(1) == [("config/train.ini", "documented")]


class Watched:
    """Counts how often it is asked what it is."""

    asked = 0

    def __bool__(self):
        Watched.asked += 1
        return True


def ends():
    data = Watched()
    if data:
        raise ValueError(data)


def test_what_a_condition_says_of_other_things_is_not_asked():
    """Data that is not here takes a question for one of the program's: a notebook lost its figure by that."""
    endings = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.outside.endings")
    answers = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.outside.answers")
    with pytest.raises(ValueError) as problem:
        ends()
    assert (endings.lacks(problem.value, answers.Parsers()), Watched.asked) == ([], 1)
