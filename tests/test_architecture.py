"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import jupyter_paddle_gpu

PACKAGE = Path(__file__).parents[1] / "jupyter_paddle_gpu"
READABLE_LINES = 400
GENERATED = {"openapi.ts"}
SOURCES = {".py", ".ts", ".tsx", ".css"}
FOLDER_FILES = 22
"""About twenty, with room for one that is on its way."""


def test_imports_run_one_way() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=PACKAGE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, jupyter_paddle_gpu; print(' '.join(m for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"paddle", "numpy", "docker", "pynvml", "tornado", "IPython", "msgspec"} & set(loaded)


@pytest.mark.parametrize("folder", ["runner", "estimator/tracer"])
def test_what_runs_elsewhere_keeps_to_its_imports(folder: str) -> None:
    allowed = set(sys.stdlib_module_names) | {"IPython", "paddle"} | ({"numpy"} if folder != "runner" else set())
    for path in (PACKAGE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            own = {child.stem for child in (PACKAGE / folder).iterdir()}
            foreign = {name.split(".")[0] for name in names} - allowed - own
            assert not foreign, f"{path.relative_to(PACKAGE)} imports {foreign}"


def test_no_function_writes_a_global_but_where_a_process_has_one_of_something() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        if "global " in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Global)
        for name in node.names
    }
    assert found == {("estimator/tracer/session.py", "_current"), ("estimator/zygote/preload.py", "_thread")}


def test_a_file_can_be_read_in_one_sitting() -> None:
    source = PACKAGE.parent / "src"
    files = [*PACKAGE.rglob("*.py"), *source.rglob("*.ts*"), *source.rglob("*.css")]
    long = {
        str(p.relative_to(PACKAGE.parent)): n
        for p in files
        if p.name not in GENERATED and (n := len(p.read_text().splitlines())) > READABLE_LINES
    }
    assert not long


@pytest.mark.parametrize("root", ["jupyter_paddle_gpu", "src", "tests", "benchmarks"])
def test_a_folder_can_be_taken_in_at_a_glance(root: str) -> None:
    files = Counter(path.parent for path in (PACKAGE.parent / root).rglob("*") if path.suffix in SOURCES)
    assert not {str(folder): count for folder, count in files.items() if count > FOLDER_FILES}


def test_both_halves_have_one_version() -> None:
    assert json.loads((PACKAGE.parent / "package.json").read_text())["version"] == jupyter_paddle_gpu.__version__
