"""Programs that cells start by a call of Python's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts
from jupyter_paddle_gpu.notebook.cells import parse_cell
from jupyter_paddle_gpu.notebook.started import started_programs
from tests.notebook.test_programs import TRAIN

LAUNCHER = "[sys.executable, '-m', 'paddle.distributed.launch', '--gpus', '0,1', 'train.py']"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("subprocess.run([sys.executable, 'train.py', '--lr', str(0.1)])", "!python train.py --lr 0.1"),
        ("import os\nos.system('python train.py')", "!python train.py"),
        ("get_ipython().system(f'python train.py --batch_size {8}')", "!python train.py --batch_size 8"),
        ("subprocess.Popen('python train.py', shell=True, cwd='src')", "!cd src && python train.py"),
        ("words = ['python', 'train.py'] + ['-e', '2']\nsubprocess.check_call(words)", "!python train.py -e 2"),
        ("asyncio.create_subprocess_exec('python', *rest, 'train.py')", "!python '…' train.py"),
        ("subprocess.run('python train.py'.split())", "!python train.py"),
        ("subprocess.run(shlex.split('python train.py -e 2'))", "!python train.py -e 2"),
        ("line = 'python train.py --epochs 3'\n!{line}", "!python train.py --epochs 3"),
        (
            "line = 'python train.py'\nfor e in (1, 2):\n    !$line --epochs {e} -n 'a b'",
            "!python train.py --epochs … -n 'a b'",
        ),
        (
            "script = 'train.py'\nwords = ['python', script]\nline = ' '.join(words)\nos.system(line)",
            "!python train.py",
        ),
        ("end = 'train.py'\nos.system(f'python {end}')", "!python train.py"),
        ("at = pathlib.Path('x') / 'train.py'\nsubprocess.run([sys.executable, str(at)])", "!python x/train.py"),
        ("at = Path.cwd() / 'x'\nsubprocess.run(['python', (at / 'train.py').as_posix()])", "!python x/train.py"),
        ("at = os.path.join(root, 'x', 'train.py')\nos.system(f'python {at}')", "!python x/train.py"),
        ("words: list[str] = ['python', 'train.py']\nsubprocess.run(words)", "!python train.py"),
        ("os.system('python {} -e {}'.format('train.py', 2))", "!python train.py -e 2"),
        ("os.system('python %s -e %s' % (\"train.py\", 2))", "!python train.py -e 2"),
    ],
)
def test_each_is_the_line_that_it_comes_to(source: str, line: str) -> None:
    assert [found.text for _, found in started_programs([parse_cell(source, 0, "one")])] == [line]


@pytest.mark.parametrize(
    "source", ["subprocess.run(['ls'])", "model.run('train.py'[0])", "runs = ['train.py']", "x = 'ls'\n!$x", "!$HOME/a"]
)
def test_what_starts_no_script_is_none(source: str) -> None:
    assert not started_programs([parse_cell(source, 0, "one")])


@pytest.mark.parametrize("start", ["subprocess.run([sys.executable, 'train.py'])", "os.system('python train.py')"])
def test_the_training_of_a_script_is_found(inspect: Callable[..., NotebookFacts], start: str) -> None:
    assert inspect("%%writefile train.py\n" + TRAIN, start).loop == "custom"
    assert inspect("%%writefile train.py\n" + TRAIN, "print('train.py')").loop == "none"


def test_who_launches_processes_by_a_call_launches_them(inspect: Callable[..., NotebookFacts]) -> None:
    facts = inspect("%%writefile train.py\n" + TRAIN, f"import subprocess, sys\nsubprocess.run({LAUNCHER})")
    assert facts.distribution is not None
    assert facts.processes is not None
    assert (facts.distribution.value, facts.processes.value) == ("launch", 2)
