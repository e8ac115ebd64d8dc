"""The built wheel in clean environments: the oldest JupyterLab that the README promises, the newest, those between.

In each of them: both extension lists say OK and nothing else about us, and the walk in a browser passes, in which a
warning of the browser about a shared package's version is a failure. Besides, the package index has what `make lab`
wants for the oldest and the newest Python that `pyproject.toml` promises. `make test-compat` runs this; it needs
Chromium and a package index, and takes three minutes. Names (`compatibility.py oldest`, `compatibility.py 3.10`) choose
among the environments.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
#: What each environment is asked to have: the README's lower ends, the minor versions since, and whatever is newest.
ENVIRONMENTS = {
    "oldest": ["jupyterlab==4.4.0", "jupyter_server==2.16.*"],
    "between": ["jupyterlab>=4.5,<4.6"],
    "newest": ["jupyterlab>=4.4,<5"],
}
#: The ends of what `requires-python` and the classifiers promise.
PYTHONS = ("3.10", "3.13")
#: What the Makefile installs beside the package itself.
EXTRAS = ("lab", "cpu", "zh", "examples", "dev")
#: Colours of a terminal, which `jupyter labextension list` writes into files too.
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def make_environment(folder: Path, wheel: Path, requirements: list[str]) -> Path:
    """Create a virtual environment with the wheel and JupyterLab in it.

    Returns: its folder of programs.
    Raises: subprocess.CalledProcessError where the package index has no such versions.
    """
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", str(wheel), *requirements], check=True)
    return programs


def listed(programs: Path, *command: str) -> str:
    """What one of Jupyter's lists prints on both its streams, without colours.

    The folders of this user and of the machine do not count: only what lies in the environment.
    """
    environment = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_NO_CONFIG": "1"}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    answer = subprocess.run(
        [programs / "jupyter", *command, "list"],
        check=True,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return COLOURS.sub("", answer.stdout)


def look_at_lists(programs: Path) -> list[str]:
    """What is wrong with how JupyterLab and the server list us: one sentence each."""
    faults = []
    front = listed(programs, "labextension")
    if not re.search(r"jupyter-paddle-gpu v\S+ enabled +OK", front) or "not compatible" in front:
        faults.append(f"jupyter labextension list:\n{front}")
    server = listed(programs, "server", "extension")
    if not re.search(r"jupyter_paddle_gpu enabled", server) or not re.search(r"jupyter_paddle_gpu \S+ OK", server):
        faults.append(f"jupyter server extension list:\n{server}")
    return faults


def walk(programs: Path) -> bool:
    """Whether the walk in a browser passes on this environment's JupyterLab with the installed wheel."""
    environment = {**os.environ, "VENV": str(programs.parent), "PADDLE_GPU_UI_INSTALLED": "1"}
    command = ["jlpm", "test:ui", "keyboard.spec.ts", "without.spec.ts"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def version_of(programs: Path) -> str:
    """The version of JupyterLab in an environment."""
    answer = subprocess.run([programs / "jupyter", "lab", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    return answer.stdout.strip()


def wanted_by(python: str) -> list[str]:
    """What a Python of that version installs for `make lab`, without what that needs in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    there = {"python_version": python, "python_full_version": f"{python}.0"}
    wanted = [one for one in map(Requirement, listed) if one.marker is None or one.marker.evaluate(there)]
    return [f"{one.name}{one.specifier}" for one in wanted]


def is_to_be_had(python: str) -> bool:
    """Whether the index has a version of each for that Python (pip itself reads markers as of the one it runs in)."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
    with tempfile.TemporaryDirectory(prefix="paddle-gpu-compat-") as target:
        away = ["--target", target, "--python-version", python]
        return subprocess.run([*command, *away, *wanted_by(python)], check=False).returncode == 0


def main(chosen: list[str]) -> int:
    """Build the wheel, make the environments, look; the exit status is the number of environments with a fault."""
    failed = 0
    for python in PYTHONS:
        if not chosen or python in chosen:
            had = is_to_be_had(python)
            print(f"Python {python}: {'all packages are to be had' if had else 'FAILED'}", flush=True)
            failed += not had
    with tempfile.TemporaryDirectory(prefix="paddle-gpu-compat-") as place:
        folder = Path(place)
        if chosen and not set(chosen) & set(ENVIRONMENTS):
            return failed
        subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True)
        (wheel,) = folder.glob("*.whl")
        for name, requirements in ENVIRONMENTS.items():
            if chosen and name not in chosen:
                continue
            programs = make_environment(folder / name, wheel, requirements)
            faults = look_at_lists(programs)
            walked = walk(programs)
            print(*faults, sep="\n")
            fine = walked and not faults
            print(f"{name}: JupyterLab {version_of(programs)}: {'listed OK, walked' if fine else 'FAILED'}", flush=True)
            failed += not fine
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
