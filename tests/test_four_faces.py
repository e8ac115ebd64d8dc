"""Panel (REST), terminal, cell and Python give the same numbers, byte for byte; only what is measured may differ: the
time they took, and what the cells' data takes of the machine's own memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.i18n import to_json
from jupyter_paddle_gpu.services import Services, Settings

EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = [
    ("digits_fit.ipynb", {}),
    ("digits_loop.ipynb", {"target": "cpu"}),
    ("wine_broken.ipynb", {"device": "A100 80GB", "batch_size": 48}),
]
"""Each case starts Paddle four times, so the requests are spread over the notebooks."""

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


def by_terminal(folder, notebook, request):
    command = [sys.executable, "-m", "jupyter_paddle_gpu", "estimate", notebook, *options(request), "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return json.loads(done.stdout)


def by_cell(folder, notebook, request):
    words = " ".join(f'"{word}"' if " " in word else word for word in options(request))
    code = f"%load_ext jupyter_paddle_gpu\n%paddle_gpu estimate {words} --json"
    manager, client = start_new_kernel(cwd=str(folder), env={**os.environ, "JPY_SESSION_NAME": str(folder / notebook)})
    printed = []
    try:
        client.execute_interactive(
            code, output_hook=lambda m: printed.append(m["content"].get("text", "")), timeout=300
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return json.loads("".join(printed))


def by_python(folder, notebook, request):
    services = Services(Settings())
    try:
        estimate = services.estimate(services.open(folder / notebook), EstimateRequest(**request))
    finally:
        services.close()
    return json.loads(json.dumps(to_json(estimate)))


@pytest.mark.parametrize(("notebook", "request_"), CASES, ids=str)
async def test_four_faces_one_answer(jp_fetch, folder, notebook, request_):
    body = json.dumps({"path": notebook, "request": request_})
    response = await jp_fetch("paddle-gpu", "api", "estimates", method="POST", body=body, request_timeout=300)
    answers = {
        "rest": json.loads(response.body),
        "terminal": by_terminal(folder, notebook, request_),
        "cell": by_cell(folder, notebook, request_),
        "python": by_python(folder, notebook, request_),
    }
    for answer in answers.values():
        assert answer.pop("seconds") > 0
    measured = [answer["host"].pop(name) for answer in answers.values() for name in ("data", "bytes")]
    assert all(measured)
    assert max(measured[::2]) - min(measured[::2]) <= 64 << 20
    texts = {face: json.dumps(answer, sort_keys=True) for face, answer in answers.items()}
    assert answers["rest"]["status"] == "ok"
    assert texts["terminal"] == texts["rest"]
    assert texts["cell"] == texts["rest"]
    assert texts["python"] == texts["rest"]
