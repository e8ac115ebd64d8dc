"""The container of a process, by its control group."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.processes import Owners

ID = "4f1c" * 16


@pytest.mark.parametrize(
    ("group", "container"),
    [
        (f"0::/system.slice/docker-{ID}.scope\n", ID[:12]),
        (f"12:devices:/docker/{ID}\n0::/x\n", ID[:12]),
        (f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope\n", ID[:12]),
        (f"4:memory:/kubepods/besteffort/pod12/{ID}\n", ID[:12]),
        (f"0::/machine.slice/libpod-{ID}.scope/container\n", ID[:12]),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", None),
        ("", None),
    ],
)
def test_the_container_of_a_process(tmp_path: Path, group: str, container: str | None) -> None:
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    folder = tmp_path / f"proc/{os.getpid()}"
    folder.mkdir()
    (folder / "cgroup").write_text(group)
    found = Owners(tmp_path).describe(os.getpid(), None)
    assert found.container == container
    assert found.user
