"""A Docker daemon of our own: real, private, in a folder; it hands out GPUs that are not there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import docker
import psutil

HERE = Path(__file__).parent
START_SECONDS = 180
"""For dockerd to come up, on a busy machine."""


def missing() -> str:
    """What keeps a private daemon from starting here; empty where nothing does."""
    if os.geteuid() != 0:
        return "not root"
    absent = [name for name in ("dockerd", "runc", "busybox", "nsenter", "ldd") if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def remove(api: docker.APIClient, container: str) -> None:
    """Remove a container that somebody else may be removing as well."""
    try:
        api.remove_container(container, force=True)
    except docker.errors.APIError as error:
        if error.status_code not in (404, 409):  # gone, or going
            raise


class PrivateDaemon:
    """dockerd with everything below one folder, no bridge, no firewall rules."""

    def __init__(self, folder: Path, *, gpus: int = 2, hook: bool = True) -> None:
        self.folder = folder
        self.gpus = gpus
        self.hook = hook
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def host(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        # The hook must be on the daemon's PATH, and only the hook: a machine with the real one would mix them up.
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        link = tools / "nvidia-container-runtime-hook"
        if self.hook and not link.exists():
            link.symlink_to(HERE / link.name)
        environment = {
            **os.environ,
            "PATH": f"{tools}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "STAND_IN_GPUS": str(self.gpus),
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, env=environment, start_new_session=True
            )
        self._wait()

    def command(self) -> list[str]:
        """What starts it."""
        return [
            "dockerd", "--data-root", f"{self.folder}/root", "--exec-root", f"{self.folder}/exec",
            # Two attempts instead of five: a download that stays broken is given up after 5 s instead of 50.
            "--pidfile", f"{self.folder}/docker.pid", "--max-download-attempts=2",
            "-H", self.host, "--bridge=none", "--iptables=false",
            "--add-runtime", f"within-limits={HERE / 'runc-within-limits'}", "--default-runtime", "within-limits",
        ]  # fmt: skip

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                break
            try:
                client = docker.APIClient(base_url=self.host, version="auto", timeout=10)
                client.ping()
                client.close()
            except docker.errors.DockerException:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("dockerd did not come up: " + (self.folder / "log").read_text()[-2000:])

    def api(self) -> docker.APIClient:
        return docker.APIClient(base_url=self.host, version="auto", timeout=60)

    def kill(self) -> None:
        """As a crash: no chance to put anything in order. The containers live on until the next start."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        # Where nobody reaps orphans their numbers look alive, and the next start would wait for them.
        for name in ("docker.pid", "exec/containerd/containerd.pid"):
            (self.folder / name).unlink(missing_ok=True)

    def restore(self) -> None:
        """As a new one, with its images: it runs and has no container."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        else:
            self.start()
        client = self.api()
        for row in client.containers(all=True):
            remove(client, row["Id"])
        client.close()

    def dispose(self) -> None:
        """Remove every container, end the daemon, and leave neither mounts nor files."""
        if self.process is not None and self.process.poll() is None:
            client = self.api()
            for row in client.containers(all=True):
                remove(client, row["Id"])
            client.close()
            # Without containers there is nothing to put in order, and an orderly end takes ten seconds.
            self.kill()
        # A container that was just starting when the daemon was killed has nobody who would end its shim.
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if any(f"{self.folder}/" in part for part in process.cmdline()):
                    process.kill()
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for mount in reversed([mount for mount in mounts if mount.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
