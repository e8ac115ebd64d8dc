"""The extension as the server sees it: clean handlers, permissions, a quick stop, nothing heavy in its process."""

import asyncio
import subprocess
import sys
import threading

import pytest
from jupyter_server.auth.authorizer import Authorizer

SERVER = """
import sys, warnings
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import JupyterServerAuthWarning

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", JupyterServerAuthWarning)
    server = ServerApp(allow_unauthenticated_access=False, allow_root=True, root_dir=sys.argv[1])
    server.jpserver_extensions = {"jupyter_paddle_gpu": True}
    server.initialize(argv=[], new_httpserver=False)
assert "paddle_gpu" in server.web_app.settings
print([str(w.message) for w in caught if w.category is JupyterServerAuthWarning and "paddle-gpu" in str(w.message)])
"""


def test_every_handler_asks_for_a_login(tmp_path):
    # In a process of its own: applications are singletons.
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_it_imports_nothing_heavy():
    code = (
        "import sys\nimport jupyter_paddle_gpu.app\n"
        "print([name for name in ('paddle', 'numpy', 'docker', 'pynvml', 'rich', 'click') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_the_server_process_never_imports_paddle_and_lets_its_loop_in(api, example, jp_serverapp):
    loaded = "paddle" in sys.modules
    status, _ = await api("POST", "placements", body={"path": example("wine_broken.ipynb")})
    assert status == 200
    assert ("paddle" in sys.modules) == loaded
    app = jp_serverapp.extension_manager.extension_apps["jupyter_paddle_gpu"].copy().pop()
    await app._starting
    assert sys.getswitchinterval() <= app.switch_seconds < 0.005


class ReadOnly(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return action == "read" or resource != "paddle_gpu"


class TestPermissions:
    @pytest.fixture
    def jp_server_config(self, jp_server_config):
        return {**jp_server_config, "ServerApp": {**jp_server_config["ServerApp"], "authorizer_class": ReadOnly}}

    async def test_who_may_only_read_reads_and_runs_nothing(self, api, subtests):
        for path in ("estimates", "placements", "jobs", "jobs/a/cancel", "jobs/a/rerun", "jobs/a/notebook"):
            with subtests.test(path=path):
                status, error = await api("POST", *path.split("/"), body={"path": "a.ipynb"})
                assert (status, error["code"]) == (403, "http_403")
        assert (await api("GET", "jobs"))[0] == 200
        assert (await api("DELETE", "jobs", "a"))[0] == 403


async def test_stopping_takes_no_longer_than_it_may(api, jp_serverapp, monkeypatch):
    await api("GET", "jobs")
    app = jp_serverapp.extension_manager.extension_apps["jupyter_paddle_gpu"].copy().pop()
    hold, close = threading.Event(), app.context.close
    monkeypatch.setattr(app.context, "close", lambda: (hold.wait(), close()))
    app.stop_seconds = 0.2
    try:
        await asyncio.wait_for(app.stop_extension(), 60)  # who waited for what hangs would never come back
    finally:
        hold.set()


async def test_a_start_that_hangs_can_be_waited_for_twice(api, jp_serverapp):
    """A server that stops its extensions anew must not meet the wait that was given up before."""
    await api("GET", "jobs")
    app = jp_serverapp.extension_manager.extension_apps["jupyter_paddle_gpu"].copy().pop()
    hold = asyncio.Event()
    app._starting = asyncio.ensure_future(hold.wait())
    app.stop_seconds = 0.2
    try:
        await asyncio.wait_for(app.stop_extension(), 60)
        await asyncio.wait_for(app.stop_extension(), 60)
        assert not app._starting.done()
    finally:
        hold.set()
