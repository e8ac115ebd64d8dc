"""What ships: the sources that git holds and the built front end, by name, in the source archive and in the wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Folders of the clone that are too large to ship and not needed to build.
LEFT_OUT = ("docs/images/", "benchmarks/results/")
#: The top level of the clone; what programs of tests write lies in folders of their own.
TOP = {
    *(".ci", ".gitignore", ".prettierignore", ".prettierrc", ".stylelintrc.json", ".yarnrc.yml", "CHANGELOG.md"),
    *("CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "README.zh-CN.md", "babel.config.cjs", "benchmarks"),
    *("binder", "constraints.txt", "docs", "eslint.config.mjs", "examples", "jest.config.cjs", "jupyter_paddle_gpu"),
    *("package.json", "pyproject.toml", "src", "tests", "tsconfig.json", "yarn.lock"),
}
#: What of the package serves only its build.
BUILD_ONLY = re.compile(r"jupyter_paddle_gpu/locale/(compile\.py|.*/parts/.*)")
#: The front end as `jlpm build:prod` leaves it: a description, the schemas of the settings, hashed scripts, the style.
FRONT_END = re.compile(
    r"(package\.json|schemas/jupyter-paddle-gpu/plugin\.json"
    r"|static/(style|\d+\.[0-9a-f]+|remoteEntry\.[0-9a-f]+)\.js|static/style\.[0-9a-f]+\.css"
    r"|static/third-party-licenses\.json)"
)
#: Where the wheel puts the package's configuration.
CONFIGURATION = {
    "share/jupyter/labextensions/jupyter-paddle-gpu/install.json",
    "etc/jupyter/jupyter_server_config.d/jupyter_paddle_gpu.json",
    "etc/ipython/ipython_config.json",
}


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """The files of this clone that git knows and that are there."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone: what belongs into the archives is asked of git")
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name for name in names.splitlines() if (ROOT / name).is_file()}


def test_nothing_else_stands_at_the_top(tracked: set[str]) -> None:
    assert {name.partition("/")[0] for name in tracked} == TOP


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel of this clone, with test tools' caches lying about in it."""
    folder = tmp_path_factory.mktemp("dist")
    cache = ROOT / ".hypothesis" / "examples"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "left").touch()
    try:
        command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", folder, ROOT]
        subprocess.run(command, check=True, capture_output=True)
    finally:
        (cache / "left").unlink()
    return folder


def test_the_source_archive_holds_what_git_holds(archives: Path, tracked: set[str]) -> None:
    (archive,) = archives.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {member.name.split("/", 1)[1] for member in opened.getmembers() if member.isfile()}
    built = {name for name in names if name.startswith("labextension/")}
    assert names - built - {"PKG-INFO"} == {name for name in tracked if not name.startswith(LEFT_OUT)}
    assert {name for name in built if not FRONT_END.fullmatch(name.removeprefix("labextension/"))} == set()


def test_the_wheel_holds_the_package_and_the_built_front_end(archives: Path, tracked: set[str]) -> None:
    (wheel,) = archives.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("jupyter_paddle_gpu/")}
    sources = {name for name in tracked if name.startswith("jupyter_paddle_gpu/")}
    assert package == {name for name in sources if not BUILD_ONLY.fullmatch(name)}
    data = {name.split(".data/data/", 1)[1] for name in names if ".data/data/" in name}
    front_end = "share/jupyter/labextensions/jupyter-paddle-gpu/"
    others = {name for name in data if not FRONT_END.fullmatch(name.removeprefix(front_end))}
    assert others == CONFIGURATION
    rest = {name for name in names - package if ".data/data/" not in name}
    assert {name.split(".dist-info/")[1] for name in rest} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }


def test_the_front_end_stays_small(archives: Path) -> None:
    """In bytes: all scripts, the largest, which is read before anybody opens the panel, and the style sheet."""
    (wheel,) = archives.glob("*.whl")
    infos = [info for info in zipfile.ZipFile(wheel).infolist() if "/static/" in info.filename]
    scripts = [info.file_size for info in infos if info.filename.endswith(".js")]
    (sheet,) = (info.file_size for info in infos if info.filename.endswith(".css"))
    assert 100_000 < sum(scripts) < 300_000
    assert max(scripts) < 90_000
    assert 10_000 < sheet < 38_000


def test_shared_packages_are_asked_for_as_they_are_declared() -> None:
    """Two places of package.json say it: what `labextension list` compares and what the built scripts ask for."""
    described = json.loads((ROOT / "package.json").read_text())
    declared = {name: range_ for name, range_ in described["dependencies"].items() if name.startswith("@jupyterlab/")}
    shared = described["jupyterlab"]["sharedPackages"]
    asked = {name: entry["requiredVersion"] for name, entry in shared.items() if entry is not False}
    assert asked == declared


def test_the_readme_promises_what_is_declared() -> None:
    described = json.loads((ROOT / "package.json").read_text())
    oldest = re.search(r"JupyterLab (4\.\d+) or later", (ROOT / "README.md").read_text())
    assert oldest is not None
    assert described["dependencies"]["@jupyterlab/application"] == f"^{oldest[1]}.0"
    assert f'"jupyterlab>={oldest[1]},<5"' in (ROOT / "pyproject.toml").read_text()
