"""A notebook that names devices to Paddle's launcher: the job's are other ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Execute = Callable[..., Any]
CARDS = "GPU-8f1c,GPU-02ab"
TOLD = "import sys\nprint(*sys.argv[1:])\n"
"""In the place of Paddle's launcher."""


@pytest.fixture(params=["auto", "plain"])
def run(request: pytest.FixtureRequest, execute: Execute, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    place = tmp_path / "paddle" / "distributed" / "launch"
    place.mkdir(parents=True)
    (place / "__main__.py").write_text(TOLD)
    for folder in (place, place.parent, place.parent.parent):
        (folder / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PADDLE_GPU_DEVICES", CARDS)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", CARDS)
    return lambda *cells: execute(*cells, shell=request.param)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--devices 0,1", f"--devices {CARDS}"),
        ("--gpus='0,1' --log_dir=1,2", f"--gpus={CARDS} --log_dir=1,2"),
        ("--gpus 3", "--gpus GPU-8f1c"),
        ("--devices GPU-02ab", "--devices GPU-02ab"),
        ("--nproc_per_node 2", "--nproc_per_node 2"),
    ],
)
def test_the_launcher_is_told_the_jobs_devices(run: Any, typed: str, told: str) -> None:
    command = f"python -m paddle.distributed.launch {typed} train.py --devices_of_mine 0,1"
    done = run(
        f"!cd . && {command}",
        f"import subprocess, sys\n"
        f"subprocess.run([sys.executable, *{command.replace(chr(39), '')!r}.split()[1:]], check=True)",
        f"%%bash\n{command}",
    )
    assert [done.stream(cell) for cell in range(3)] == [f"{told} train.py --devices_of_mine 0,1\n"] * 3, done.log


def test_fewer_devices_than_are_named_are_told(run: Any) -> None:
    done = run("!python -m paddle.distributed.launch --devices 0,1,2,3 train.py")
    assert f"--devices {CARDS} train.py" in str(done.outputs(0))
    assert "told 0,1,2,3, and the job has 2" in str(done.outputs(0))


def test_who_chooses_what_its_processes_see_keeps_its_own_names(run: Any) -> None:
    command = "python -m paddle.distributed.launch --devices 0,1 train.py"
    done = run(
        f"!CUDA_VISIBLE_DEVICES=0,1 {command}",
        f"import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\nos.system({command!r})",
        "!echo --devices 0,1 x.py",
    )
    assert done.stream(0) == "--devices 0,1 train.py\n"
    assert done.stream(1).startswith("--devices 0,1 train.py\n")
    assert done.stream(2) == "--devices 0,1 x.py\n"
