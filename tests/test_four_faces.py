"""Panel (REST), terminal, cell and Python give the same numbers, byte for byte; only what is measured may differ: the
time they took, and what the cells' data takes of the machine's own memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.i18n import to_json
from jupyter_paddle_gpu.server.panel_words import IN_PANEL
from jupyter_paddle_gpu.services import Services, Settings

EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = [
    ("digits_fit.ipynb", {}),
    ("digits_loop.ipynb", {"target": "cpu"}),
    ("wine_broken.ipynb", {"device": "A100 80GB", "batch_size": 48}),
]
"""The requests are spread over the notebooks: each costs a start of Paddle at the terminal."""

pytestmark = pytest.mark.paddle


@pytest.fixture
def folder(jp_root_dir, tmp_path, monkeypatch):
    """The examples below a server's root, and a data folder without calibration."""
    monkeypatch.setenv("PADDLE_GPU_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for notebook in EXAMPLES.glob("*.ipynb"):
        shutil.copy(notebook, jp_root_dir)
    return jp_root_dir


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"jupyter_paddle_gpu": True}}}


def options(request):
    return [word for name, value in request.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def by_terminal(folder):
    for notebook, request in CASES:
        command = [sys.executable, "-m", "jupyter_paddle_gpu", "estimate", notebook, *options(request), "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        yield json.loads(done.stdout)


def by_cell(folder):
    manager, client = start_new_kernel(cwd=str(folder))
    try:
        client.execute_interactive("%load_ext jupyter_paddle_gpu", timeout=300)
        for notebook, request in CASES:
            words = " ".join(f'"{word}"' if " " in word else word for word in options(request))
            printed: list[str] = []
            named = f"import os; os.environ['JPY_SESSION_NAME'] = {str(folder / notebook)!r}"
            client.execute_interactive(
                f"{named}\n%paddle_gpu estimate {words} --json",
                output_hook=lambda m, printed=printed: printed.append(m["content"].get("text", "")),
                timeout=300,
            )
            yield json.loads("".join(printed))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def by_python(folder):
    services = Services(Settings())
    try:
        for notebook, request in CASES:
            estimate = services.estimate(services.open(folder / notebook), EstimateRequest(**request))
            yield json.loads(json.dumps(to_json(estimate)))
    finally:
        services.close()


def for_pages(text: str) -> str:
    """An answer with the next steps that a page's reader has instead of an option."""
    for said, instead in IN_PANEL.items():
        text = text.replace(json.dumps(said), json.dumps(instead))
    return text


async def test_four_faces_one_answer(jp_fetch, folder):
    faces = {"rest": [], "terminal": by_terminal(folder), "cell": by_cell(folder), "python": by_python(folder)}
    for notebook, request in CASES:
        body = json.dumps({"path": notebook, "request": request})
        response = await jp_fetch("paddle-gpu", "api", "estimates", method="POST", body=body, request_timeout=300)
        faces["rest"].append(json.loads(response.body))
    asked = 0
    for (notebook, _), *answers in zip(CASES, *faces.values(), strict=True):
        for answer in answers:
            assert answer.pop("seconds") > 0
        measured = [answer["host"].pop(name) for answer in answers for name in ("data", "bytes")]
        assert all(measured)
        assert max(measured[::2]) - min(measured[::2]) <= 64 << 20
        rest, *others = (json.dumps(answer, sort_keys=True) for answer in answers)
        assert answers[0]["status"] == "ok"
        for face, text in zip(list(faces)[1:], others, strict=True):
            assert for_pages(text) == rest, f"{face} and REST of {notebook}"
        asked += 1
    assert asked == len(CASES)
