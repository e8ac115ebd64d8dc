"""The server extension: settings that an administrator can give, start and stop."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from prometheus_client import REGISTRY
from traitlets import Bool, Float, Int, Unicode

from .domain.errors import PaddleGpuError
from .server.context import SETTING, ServerContext
from .server.routes import PAGES, ROUTES
from .services import Services, Settings
from .services.settings import default_data_folder, named_policy_file

if TYPE_CHECKING:
    from .services.metrics import Metrics


class PaddleGpuApp(ExtensionApp):
    """Estimates what a Paddle notebook's training takes, and runs it where it fits."""

    name = "paddle_gpu"
    description = "What a Paddle notebook's training needs, where it fits, and the job that runs it"

    data_folder = Unicode(
        help="""Folder for the job store, the jobs' logs and results, and the calibration. It is shared with
        `jupyter paddle-gpu` and `%paddle_gpu` of the same user. Default: paddle_gpu in Jupyter's data folder.""",
    ).tag(config=True)
    policy_file = Unicode(
        help="""Policy file of engines, devices, images and limits. Empty: what $PADDLE_GPU_POLICY names, else
        paddle-gpu.yaml in the data folder, if there.""",
    ).tag(config=True)
    max_notebook_bytes = Int(0, help="Notebooks with more bytes are refused. 0: the reader's own limit.", min=0).tag(
        config=True
    )
    max_body_bytes = Int(
        40_000_000, help="REST requests with more bytes are refused; as many as a notebook may have.", min=1
    ).tag(config=True)
    threads = Int(8, help="Threads for short blocking work: reading logs, the job store, devices.", min=1).tag(
        config=True
    )
    estimates_at_once = Int(2, help="Estimates that are computed at the same time; further ones wait.", min=1).tag(
        config=True
    )
    log_poll_seconds = Float(
        0.05,
        help="""How often a log that a client follows is looked at; half of it is the mean delay of a line. A look takes
        0.2 ms.""",
        min=0.01,
    ).tag(config=True)
    device_seconds = Float(
        1.0, help="Time between samples of the devices; they are sampled only while a page shows them.", min=0.1
    ).tag(config=True)
    policy_seconds = Float(
        5.0, help="Time between looks at a policy file that was wrong when the server started.", min=0.1
    ).tag(config=True)
    metrics = Bool(
        True,
        help="""Give figures of devices, jobs and estimates to Prometheus on the server's own `/metrics`. Devices are
        sampled only while somebody scrapes.""",
    ).tag(config=True)
    freeze = Bool(
        True,
        help="""Leave what the server has loaded at its start out of Python's searches for garbage (`gc.freeze`). A
        whole search goes through some 240,000 objects and holds up every request, of all extensions, for a tenth of a
        second and more.""",
    ).tag(config=True)
    switch_seconds = Float(
        0.001,
        help="""Longest time that a thread which computes keeps Python's interpreter while another one waits for it
        (`sys.setswitchinterval`), where it would be longer. Python's 5 ms pass each time that the event loop has handed
        something to a socket: every request, of all extensions, waits for several of them. 0: as it is.""",
        min=0.0,
    ).tag(config=True)
    stop_seconds = Float(
        3.0, help="Longest time that shutting the server down waits for us; jobs go on in any case.", min=0.0
    ).tag(config=True)

    context: ServerContext
    _starting: asyncio.Future[None] | None = None
    _mending: asyncio.Future[None] | None = None
    _metrics: Metrics | None = None

    def initialize_settings(self) -> None:
        """Put the services where handlers find them; builds nothing yet."""
        self.context = ServerContext(
            Services(self._services_settings()),
            threads=self.threads,
            estimates_at_once=self.estimates_at_once,
            max_body_bytes=self.max_body_bytes,
            log_poll_seconds=self.log_poll_seconds,
        )
        self.settings[SETTING] = self.context

    def _services_settings(self) -> Settings:
        server = self.serverapp
        assert server is not None
        contents = server.contents_manager
        return Settings(
            data_folder=Path(self.data_folder).expanduser().absolute() if self.data_folder else default_data_folder(),
            root=Path(getattr(contents, "root_dir", "") or server.root_dir).expanduser().absolute(),
            allow_hidden=bool(getattr(contents, "allow_hidden", False)),
            policy_file=Path(self.policy_file).expanduser().absolute() if self.policy_file else named_policy_file(),
            max_notebook_bytes=self.max_notebook_bytes or None,
            device_seconds=self.device_seconds,
        )

    def initialize_handlers(self) -> None:
        """Register REST, WebSocket and the viewers' pages."""
        self.handlers.extend((*ROUTES, *PAGES))

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Once the server answers: bring the rows of jobs in line with what really runs, in a thread."""
        self._starting = asyncio.ensure_future(self._start_jobs())

    async def _start_jobs(self) -> None:
        wrong = await self._jobs_start()
        if self.metrics:
            self._metrics = await self.context.call(self.context.services.metrics)
            REGISTRY.register(self._metrics)
        if 0 < self.switch_seconds < sys.getswitchinterval():
            sys.setswitchinterval(self.switch_seconds)
        if self.freeze and not gc.get_freeze_count():  # once a process is enough
            gc.freeze()
        if wrong:
            self._mending = asyncio.ensure_future(self._mend())

    async def _mend(self) -> None:
        """Start jobs as soon as the policy files are whole."""
        wrong = True
        while wrong:
            await asyncio.sleep(self.policy_seconds)
            wrong = await self._jobs_start()

    async def _jobs_start(self) -> bool:
        """Whether a policy file is wrong: then nothing starts until it is mended."""
        try:
            await self.context.call(self.context.services.start_jobs)
        except PaddleGpuError as error:
            self.context.tell(self.log, "Jobs cannot be managed by this server", error)
            return error.code.startswith("policy_")
        except Exception:
            self.log.exception("Jobs cannot be managed by this server")
        return False

    async def stop_extension(self) -> None:
        """Stop threads and workers, for at most `stop_seconds`. Jobs go on."""
        try:
            await asyncio.wait_for(self._stop(), self.stop_seconds)
        except asyncio.TimeoutError:
            self.log.warning("Parts of jupyter_paddle_gpu took too long to stop and were left behind")

    async def _stop(self) -> None:
        if self._starting is not None:  # what is half started cannot be stopped, nor is it cancelled with this
            await asyncio.wait((self._starting,))
        if self._mending is not None:
            self._mending.cancel()
        watched, self._metrics = self._metrics, None
        if watched is not None:
            REGISTRY.unregister(watched)
            watched.close()
        await asyncio.to_thread(self.context.close)

    def current_activity(self) -> dict[str, Any] | None:
        """What keeps a hub from culling this server: nothing, for a job outlives it."""
        return None


main = launch_new_instance = PaddleGpuApp.launch_instance
