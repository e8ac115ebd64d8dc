"""Files of settings of which a job has a copy of its own, read by all that its cells run; the person's stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import lines_of
from .test_ranks import TWO

PRINTS = "import json\nprint(json.load(open('config.json'))['batch'])\n"
READERS = {
    "a cell": PRINTS,
    "a path": "import json\nfrom pathlib import Path\nprint(json.loads(Path('config.json').read_text())['batch'])",
    "bytes": "import json, os\nprint(json.loads(open(os.path.abspath('config.json'), 'rb').read())['batch'])",
    "io": "import io, json\nprint(json.load(io.open('../' + __import__('os').path.basename(__import__('os').getcwd())"
    " + '/config.json'))['batch'])",
    "a script": "!{python} own.py",
    "a script by subprocess": "import subprocess\nprint(subprocess.run(['{python}', 'own.py'], capture_output=True, "
    "text=True, env={{}}).stdout.strip())",
    "a process that is spawned": "import multiprocessing, runpy\n"
    "one = multiprocessing.get_context('spawn').Process(target=runpy.run_path, args=('own.py',))\n"
    "one.start()\none.join()",
    "a process of a server that forks": "import multiprocessing, runpy\n"
    "one = multiprocessing.get_context('forkserver').Process(target=runpy.run_path, args=('own.py',))\n"
    "one.start()\none.join()",
    "a script in this process": "%run own.py",
    "what it wrote itself": "import json\njson.dump({{'batch': 8}}, open('other.json', 'w'))\n"
    "print(json.load(open('other.json'))['batch'])",
}


def prepared(
    prepare: Callable[..., Any], source: str, *, at: str = "", options: tuple[str, ...] = (), **spec: Any
) -> Any:
    """A job that has copies of two files, told by where they lie, or by where they lay for who submitted it (`at`)."""
    import sys

    run = prepare(source.format(python=sys.executable) if "{" in source else source, **spec)
    run.options = options
    work = Path(json.loads((run.folder / "spec.json").read_text())["folder"])
    for name in ("config.json", "other.json"):
        (work / name).write_text('{"batch": 32}')
    (work / "own.py").write_text(PRINTS)
    path = run.folder / "source.ipynb"
    notebook = json.loads(path.read_text())
    told = Path(at or work)
    files = {str(told / "config.json"): '{"batch": 8}', str(told / "other.json"): '{"batch": 4}'}
    notebook["metadata"]["paddle_gpu"] = {"files": files}
    path.write_text(json.dumps(notebook))
    return run.start(), work


@pytest.mark.parametrize("shell", ["plain", "auto"])
@pytest.mark.parametrize("how", READERS)
def test_who_reads_gets_the_copy(prepare: Callable[..., Any], how: str, shell: str) -> None:
    run, work = prepared(prepare, READERS[how], shell=shell)
    run.wait()
    assert run.texts() == ["8"], run.log
    assert (work / "config.json").read_text() == '{"batch": 32}'
    assert run.result["reason"] == "succeeded"
    assert "config.json is read from the job's own copy." in run.texts("system")
    assert "files" not in run.notebook["metadata"]["paddle_gpu"]


@pytest.mark.parametrize("how", [one for one in READERS if one != "what it wrote itself"])
def test_who_reads_a_file_that_is_not_there_gets_what_was_answered(prepare: Callable[..., Any], how: str) -> None:
    import sys

    source = READERS[how].format(python=sys.executable) if "{" in READERS[how] else READERS[how]
    looks = "import json, os\nprint(os.path.exists('config.json'))\nprint(json.load(open('here.json')))"
    run = prepare(f"{source}\n{looks}")
    work = Path(json.loads((run.folder / "spec.json").read_text())["folder"])
    (work / "own.py").write_text(PRINTS)
    (work / "here.json").write_text("1")
    path = run.folder / "source.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["paddle_gpu"] = {"answered": {"config.json": '{"batch": 8}', "here.json": "2"}}
    path.write_text(json.dumps(notebook))
    run.start().wait()
    assert run.texts() == ["8", "False", "1"], run.log
    assert "config.json is not there: the job reads what was answered of it." in run.texts("system")
    assert not any("here.json" in line for line in run.texts("system"))
    assert run.notebook["metadata"]["paddle_gpu"]["settings"]["config.json"] == '{"batch": 8}'


def test_what_the_program_makes_itself_is_read_from_then_on(prepare: Callable[..., Any]) -> None:
    run = prepare(
        "import json\nfirst = json.load(open('config.json'))\njson.dump({'batch': 2}, open('config.json', 'w'))\n"
        "print(first['batch'], json.load(open('config.json'))['batch'])"
    )
    path = run.folder / "source.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["paddle_gpu"] = {"answered": {"config.json": '{"batch": 8}'}}
    path.write_text(json.dumps(notebook))
    run.start().wait()
    assert run.texts() == ["8 2"], run.log


def test_a_folder_that_has_another_name_for_the_job_has_the_copy_as_well(prepare: Callable[..., Any]) -> None:
    run, _ = prepared(prepare, READERS["a cell"], at="/absent/of/the/server/lesson", shell="plain")
    run.wait()
    assert run.texts() == ["8"], run.log


def test_each_of_several_processes_reads_it(prepare: Callable[..., Any]) -> None:
    run, work = prepared(prepare, READERS["a script by subprocess"], shell="plain", options=TWO)
    assert run.wait() == 0, run.log
    assert run.texts() == ["8"]
    assert "8" in [line["x"] for line in lines_of(run.folder / "rank-1" / "log.jsonl")]
    assert (work / "config.json").read_text() == '{"batch": 32}'


def test_without_such_files_nothing_is_replaced(execute: Callable[..., Any]) -> None:
    run = execute("import builtins, io\nprint(builtins.open is io.open, open.__module__)", shell="plain")
    assert run.texts() in (["True io"], ["True _io"])
