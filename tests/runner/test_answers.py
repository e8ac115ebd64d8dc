"""Answers reach the cells of a job, and the scripts that they start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Execute = Callable[..., Any]


@pytest.fixture(params=["auto", "plain"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_answers_are_bound_where_the_name_is_assigned(execute: Execute, shell: str) -> None:
    run = execute(
        "batch_size = missing_name * 2\nepochs: int = 9\na, batch_size = 1, 2\nlr = 1\nlr *= 5",
        "def f():\n    lr = 7\n    return lr\nfor epochs in range(2):\n    pass\nprint(batch_size, epochs, lr, f())",
        sets={"batch_size": 64, "epochs": 3, "lr": 0.5},
        shell=shell,
    )
    assert run.stream(1) == "64 3 0.5 7\n", run.log


def test_a_program_reads_its_answer_from_the_environment_itself(
    execute: Execute, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`BATCH` is a text there, of which the notebook makes a number; a variable of another name is bound as it is."""
    monkeypatch.setenv("BATCH", "64")
    monkeypatch.setenv("WIDTH", "8")
    run = execute(
        "import os\nBATCH = int(os.environ['BATCH'])\nWIDTH: int = int(os.getenv('WIDTH'))\nBATCH, EPOCHS = "
        "int(os.environ.get('BATCH', 2)), 1\nprint([BATCH, WIDTH, EPOCHS])",
        sets={"BATCH": "64", "WIDTH": "8", "EPOCHS": 3},
        shell=shell,
    )
    assert run.stream(0) == "[64, 8, 3]\n", run.log


def test_what_a_library_makes_of_a_variable_is_a_number(
    execute: Execute, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH", "64")
    monkeypatch.setenv("KIND", "deep")
    run = execute(
        "config = lambda name: None\nBATCH = config('BATCH')\nKIND = config('KIND')\nprint([BATCH, KIND])",
        sets={"BATCH": "64", "KIND": "deep"},
        shell=shell,
    )
    assert run.stream(0) == "[64, 'deep']\n", run.log


def test_answers_stand_for_what_would_be_typed(execute: Execute, shell: str) -> None:
    run = execute(
        "import argparse\ndef read():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--batch-size', type=int, required=True)\n    parser.add_argument('path')\n"
        "    parser.add_argument(*('-e', '--rounds'), dest='epochs', type=int, required=True)\n"
        "    return parser.parse_args([])\nprint(read().batch_size, read().path, read().epochs, int(input('rows')))",
        sets={"batch_size": 64, "path": "a.csv", "epochs": 5, "input": 3},
        shell=shell,
    )
    assert run.stream(0) == "64 a.csv 5 3\n", run.log


def test_answers_stand_behind_what_a_script_was_given(execute: Execute, shell: str) -> None:
    run = execute(
        "import sys\nsys.argv = ['train.py', 'rows.csv']",
        "print(sys.argv, len(sys.argv))",
        sets={"argv_1": "not.csv", "argv_2": 64, "argv_4": "beyond"},
        shell=shell,
    )
    assert run.stream(1) == "['train.py', 'rows.csv', '64'] 3\n", run.log


def test_what_a_name_is_made_of_is_made_of_what_would_be_typed(execute: Execute, shell: str) -> None:
    run = execute(
        "width = int(input('width? ')) * 2\nname: str = input('name? ').strip()\nprint([width, name])",
        sets={"width": 3, "name": 5},
        shell=shell,
    )
    assert run.stream(0) == "[6, '5']\n", run.log


def test_answers_reach_a_script_that_a_cell_starts(execute: Execute, shell: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("7\n")
    script = (
        "import argparse, sys\nparser = argparse.ArgumentParser()\nparser.add_argument('--wanted', required=True)\n"
        "WIDTH = 3\nif __name__ == '__main__':\n"
        "    print(open('data/rows.csv').read().strip(), WIDTH, parser.parse_args().wanted, sys.argv, __file__)\n"
    )
    run = execute(
        f"with open('train it.py', 'w') as file:\n    file.write({script!r})",
        "!echo 'first' && python -W ignore 'train it.py' > said.txt; cat said.txt",
        "!python -c 'print(1)' && python -m this.py",
        "%%bash\necho 'second'\npython -W ignore 'train it.py'",
        sets={"rows_csv": str(tmp_path / "rows.csv"), "WIDTH": 8, "wanted": "all"},
        shell=shell,
    )
    shown = [out["text"] for out in run.outputs(1)]
    assert ["".join(text) for text in shown] == ["first\n7 8 all ['train it.py'] train it.py\n"], run.log
    assert "1\n" in "".join(run.outputs(2)[0]["text"])
    assert run.stream(3) == "second\n7 8 all ['train it.py'] train it.py\n"


def test_answers_reach_a_parser_that_stands_in_a_module(execute: Execute, shell: str, tmp_path: Path) -> None:
    options = (
        "import argparse\ndef given():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('data')\n    parser.add_argument('--batch-size', type=int, default=4)\n"
        "    return parser.parse_args()\n"
    )
    script = "import options\nprint(options.given())\n"
    run = execute(
        f"open('options.py', 'w').write({options!r}); open('train.py', 'w').write({script!r}); import sys",
        "sys.argv[1:] = []; import options; print(options.given())",
        "!python -W ignore train.py; python -W ignore train.py --batch-size 8",
        sets={"data": "rows.csv", "batch_size": 64},
        shell=shell,
    )
    assert run.stream(1) == "Namespace(data='rows.csv', batch_size=64)\n"
    own = "".join("".join(one["text"]) for one in run.outputs(2))
    assert own == "Namespace(data='rows.csv', batch_size=64)\nNamespace(data='rows.csv', batch_size=8)\n"


def test_answers_reach_the_options_of_click_and_absl(execute: Execute, shell: str) -> None:
    by_click = (
        "import click\n@click.command()\n@click.option('--width', type=int, required=True)\n"
        "@click.option('--name', prompt=True)\n@click.option('--part', multiple=True)\n"
        "@click.option('--depth', default=2)\n@click.argument('out')\n"
        "def main(**given):\n    print(sorted(given.items()))\n"
    )
    by_absl = (
        "from absl import app, flags\nflags.DEFINE_integer('width', None, 'rows', required=True)\n"
        "flags.DEFINE_string('out', None, 'where')\nflags.mark_flag_as_required('out')\nrows = 3\n"
        "def main(_):\n    print(flags.FLAGS.width, flags.FLAGS.out, rows)\n"
    )
    scripts = {"one.py": by_click + "main()", "two.py": by_absl + "app.run(main)"}
    run = execute(
        f"import sys\nsys.argv[1:] = []\n{by_click}main(standalone_mode=False)",
        f"for file, text in {scripts!r}.items():\n    open(file, 'w').write(text)",
        "import subprocess\nfor words in (['one.py'], ['two.py', '--width', '8']):\n"
        "    print(subprocess.run([sys.executable, *words], capture_output=True, text=True).stdout, end='')",
        sets={"width": 64, "out": "kept", "name": "Ada", "part": "all", "rows": 5},
        shell=shell,
    )
    told = "[('depth', 2), ('name', 'Ada'), ('out', 'kept'), ('part', ('all',)), ('width', 64)]\n"
    assert run.stream(0) == told, run.log
    assert run.stream(2) == f"{told}8 kept 5\n", run.log


def test_subcommands_and_all_words_stand_behind_what_a_script_was_given(execute: Execute, shell: str) -> None:
    by_argparse = (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int)\n"
        "subs = parser.add_subparsers()\nfits = subs.add_parser('fit').add_subparsers(dest='what')\n"
        "fits.add_parser('all').add_argument('--my-width', dest='conf.width')\nsubs.add_parser('show')\n"
        "print(sorted(vars(parser.parse_args()).items(), key=str))\n"
    )
    by_click = (
        "import click\n@click.group()\n@click.option('--seed', type=int)\ndef cli(seed):\n    print(seed)\n"
        "@cli.command()\ndef fit():\n    print('fits')\n@cli.command()\ndef show():\n    print('shows')\ncli()\n"
    )
    by_typer = (
        "import typer\napp = typer.Typer()\n@app.command()\ndef fit(width: int):\n    print('fits', width)\n"
        "@app.command()\ndef show():\n    print('shows')\napp()\n"
    )
    scripts = {"one.py": by_argparse, "two.py": by_click, "three.py": by_typer}
    run = execute(
        f"for file, text in {scripts!r}.items():\n    open(file, 'w').write(text)",
        "import subprocess, sys\nfor words in (['one.py', '--seed', '4'], ['two.py', '--seed', '4'], ['two.py'], "
        "['two.py', 'show'], ['three.py']):\n"
        "    print(subprocess.run([sys.executable, *words], capture_output=True, text=True).stdout, end='')",
        "import sys\nsys.argv = ['train.py', '-v']",
        "print(sys.argv)",
        sets={"subcommand": "fit", "what": "all", "my_width": "8", "width": 64, "arguments": "fit 'a b'"},
        shell=shell,
    )
    told = "[('conf.width', '8'), ('seed', 4), ('what', 'all')]\n4\nfits\nNone\nfits\nNone\nshows\n"
    assert run.stream(1) == told + ("fits 64\n" if sys.version_info >= (3, 11) else ""), run.log
    assert run.stream(3) == "['train.py', '-v', 'fit', 'a b']\n"


def test_answers_stand_for_settings_that_are_left_open(execute: Execute, shell: str) -> None:
    program = (
        "from omegaconf import OmegaConf\n"
        "whole = lambda: OmegaConf.create({'batch': '???', 'model': {'width': '???'}, 'w': '${model.width}',"
        " 'e': '???', 'rows': ['???', 2]})\n"
        "print(whole().batch, whole()['model']['width'], whole().w, OmegaConf.select(whole(), 'model.width'))\n"
        "print(OmegaConf.missing_keys(whole()), OmegaConf.to_container(whole())['model'])\n"
        "from hydra import compose, initialize_config_dir\nimport os\n"
        "with initialize_config_dir(os.path.abspath('conf'), version_base=None):\n"
        "    print(compose('config').kind)\n"
    )
    run = execute(
        "import os\ngroup = 'kind'\nos.makedirs('conf/' + group)\n"
        "open('conf/config.yaml', 'w').write('defaults:\\n  - kind: ???\\n  - _self_\\n')\n"
        "open('conf/kind/small.yaml', 'w').write('width: 3\\n')\n"
        f"open('train.py', 'w').write({program!r})",
        program,
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, 'train.py'], capture_output=True, text=True).stdout, end='')",
        sets={"batch": 8, "model_width": 64, "kind": "small", "rows_0_": 5},
        shell=shell,
    )
    told = "8 64 64 64\n{'e'} {'width': 64}\n{'width': 3}\n"
    assert (run.stream(1), run.stream(2)) == (told, told), run.log


def test_answers_reach_options_of_getopt_and_optparse(execute: Execute, shell: str) -> None:
    program = (
        "import getopt, optparse\n"
        "found, rest = getopt.getopt(['-q', 'rest'], 'qb:w:h', ['batch-size=', 'width=', 'help'])\n"
        "for option, value in found:\n"
        "    if option in ('-b', '--batch-size'):\n        batch = int(value)\n"
        "    elif option == '-w':\n        units = int(value)\n"
        "print(found, rest)\n"
        "found, rest = getopt.gnu_getopt(['--batch-size=3'], 'b:', ['batch-size=', 'deep'])\n"
        "for option, value in found:\n    if option in ('-b', '--batch-size'):\n        pass\n"
        "print(found)\n"
        "parser = optparse.OptionParser()\nparser.add_option('-b', '--batch-size', type='int')\n"
        "parser.add_option('--seed', type='int', default=3)\nprint(parser.parse_args(['a'])[0].batch_size)\n"
    )
    run = execute(
        f"open('train.py', 'w').write({program!r})",
        program,
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, 'train.py'], capture_output=True, text=True).stdout, end='')",
        sets={"batch_size": 8, "units": 64, "deep": True},
        shell=shell,
    )
    told = "[('-q', ''), ('--batch-size', '8'), ('-w', '64')] ['rest']\n[('--batch-size', '3'), ('--deep', '')]\n8\n"
    assert (run.stream(1), run.stream(2)) == (told, told), run.log


def test_a_file_of_variables_that_is_not_there_holds_the_answers(
    execute: Execute, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH", "64")  # as the engine sets what no cell binds
    run = execute(
        "from dotenv import dotenv_values\nopen('there.env', 'w').write('A=1')\n"
        "print(dict(dotenv_values('.env')), dict(dotenv_values('there.env')))",
        sets={"BATCH": "64", "rows": 3},
        shell=shell,
    )
    assert run.stream(0) == "{'BATCH': '64'} {'A': '1'}\n", run.log


def test_answers_reach_scripts_that_code_starts_and_those_of_another_folder(execute: Execute, shell: str) -> None:
    run = execute(
        "import os\nos.mkdir('src')\nopen('src/train.py', 'w').write('WIDTH = 3\\nprint(WIDTH, flush=True)\\n')",
        "!cd src && python -W ignore train.py",
        "import os, subprocess, sys\n"
        "def of(command, **options):\n"
        "    print(subprocess.run(command, capture_output=True, text=True, **options).stdout.strip())\n"
        "of([sys.executable, 'src/train.py'])\n"
        "of([sys.executable, '-u', 'train.py'], cwd='src', env={'PATH': os.environ['PATH']})\n"
        "of('cd src; python train.py', shell=True)\n"
        "of(['echo', 'train.py'])\n"
        "of([sys.executable, '-c', 'print(3)'])",
        "print(os.system('python src/train.py'))",
        sets={"WIDTH": 8},
        shell=shell,
    )
    assert "".join(run.outputs(1)[0]["text"]) == "8\n", run.log
    assert run.stream(2) == "8\n8\n8\ntrain.py\n3\n"
    assert run.stream(3).split() == ["8", "0"]


def test_answers_reach_modules_and_what_a_script_of_the_shell_starts(execute: Execute, shell: str) -> None:
    run = execute(
        "import os\nos.makedirs('pack/inner')\n"
        "open('pack/inner/train.py', 'w').write('from ..sizes import SIZE\\nWIDTH = 3\\nprint(WIDTH, SIZE)\\n')\n"
        "open('pack/sizes.py', 'w').write('SIZE = 5\\n')\n"
        "open('run.sh', 'w').write('cd pack\\necho $1 \\'$x\\'\\ncd ..\\npython -m pack.inner.train\\n')",
        "!python -W ignore -m pack.inner.train",
        "!bash run.sh one | cat",
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, '-m', 'pack.inner.train'], capture_output=True, text=True).stdout)\n"
        "print(subprocess.run([sys.executable, '-m', 'json.tool', '-h'], stdout=subprocess.DEVNULL).returncode)",
        sets={"WIDTH": 8},
        shell=shell,
    )
    assert "".join(run.outputs(1)[0]["text"]) == "8 5\n", run.log
    assert "".join(run.outputs(2)[0]["text"]) == "one $x\n8 5\n", run.log
    assert run.stream(3) == "8 5\n\n0\n"
