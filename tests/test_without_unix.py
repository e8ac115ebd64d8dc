"""What Windows lacks is not needed to import, to estimate and to show.

No Windows is at hand: a Python whose Unix modules and functions are gone, once everybody else's packages are imported
(they have a Windows of their own), stands in for it. The zygote it starts is an ordinary process, asked to work
without `fork` as there.
"""

import subprocess
import sys
import textwrap

import pytest

WINDOWS = """
import asyncio, concurrent.futures, getpass, importlib, importlib.abc, multiprocessing, os, pkgutil, signal, sqlite3
import subprocess, sys, tempfile, types
from pathlib import Path
import click, docker, IPython, ipykernel.zmqshell, jupyter_client, jupyter_core.paths, jupyter_server.base.handlers
import jupyter_server.extension.application, msgspec, nbformat, psutil, pynvml, rich, tornado.websocket, traitlets, yaml

MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
FUNCTIONS = '''chown fchmod fchown fork forkpty getegid geteuid getgid getgroups getpgid getuid killpg mkfifo
mknod nice pidfd_open register_at_fork sched_getaffinity set_blocking setpgid setsid wait3
wait4 O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK'''
SIGNALS = "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH setitimer"

class Gone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Gone())
for holder, names in ((os, FUNCTIONS), (signal, SIGNALS)):
    for name in names.split():
        if hasattr(holder, name):
            delattr(holder, name)
sys.platform = "win32"
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda descriptor, mode, count: None)
"""

NOTEBOOK = """
import paddle
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    net(paddle.randn([16, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def on_windows(code, *arguments):
    program = WINDOWS + textwrap.dedent(code)
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_every_module_can_be_imported():
    done = on_windows("""
        import jupyter_paddle_gpu
        for module in pkgutil.walk_packages(jupyter_paddle_gpu.__path__, "jupyter_paddle_gpu."):
            if ".tracer." not in module.name and not module.name.endswith((".__main__", ".compile")):
                importlib.import_module(module.name)
        print("all")
    """)
    assert done.stdout.strip() == "all", done.stderr


@pytest.mark.paddle
def test_it_estimates_and_shows(tmp_path):
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbformat.write(notebook, tmp_path / "small.ipynb")
    done = on_windows(
        """
        from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
        from jupyter_paddle_gpu.services import Settings, Services
        services = Services(Settings(data_folder=Path(sys.argv[1]) / "data"))
        source = services.open(Path(sys.argv[1]) / "small.ipynb")
        matched = services.match(source, EstimateRequest())
        print(matched.estimate.evidence, matched.estimate.parameters, len(matched.placement.catalogue) > 10)
        print(services.inventory().host.cpu_count > 0, len(services.doctor()) > 3, len(services.jobs.list()))
        services.close()
        """,
        tmp_path,
    )
    assert done.stdout.split() == ["trace", "18", "True", "True", "True", "0"], done.stderr
