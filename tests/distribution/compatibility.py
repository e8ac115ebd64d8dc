"""The built wheel in clean environments: the oldest JupyterLab that the README promises, the newest, those between.

In each of them: both extension lists say OK and nothing else about us, and the walk in a browser passes, in which a
warning of the browser about a shared package's version is a failure. `make test-compat` runs this; it needs Chromium
and a package index, and takes three minutes. Names (`compatibility.py oldest`) choose among the environments.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What each environment is asked to have: the README's lower ends, the minor versions since, and whatever is newest.
ENVIRONMENTS = {
    "oldest": ["jupyterlab==4.4.0", "jupyter_server==2.16.*"],
    "between": ["jupyterlab>=4.5,<4.6"],
    "newest": ["jupyterlab>=4.4,<5"],
}
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


def main(chosen: list[str]) -> int:
    """Build the wheel, make the environments, look; the exit status is the number of environments with a fault."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="paddle-gpu-compat-") as place:
        folder = Path(place)
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
