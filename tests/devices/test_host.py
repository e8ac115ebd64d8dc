from __future__ import annotations

from pathlib import Path

import psutil

from jupyter_paddle_gpu.devices.cgroups import Share, read_share
from jupyter_paddle_gpu.devices.host import HostReader

MB = 10**6


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_this_machine_as_it_is(tmp_path: Path) -> None:
    sample = HostReader(tmp_path / "not" / "there" / "yet").read()
    assert 0 < sample.memory_available <= sample.memory_total <= psutil.virtual_memory().total
    assert sample.cpu_count >= 1
    assert 0 <= sample.cpu_percent <= 100
    assert sample.disk_free is not None
    assert HostReader().read().disk_free is None


def test_version_2_limits_of_a_container(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": f"{1500 * MB}\n",
            "sys/fs/cgroup/memory.current": f"{700 * MB}\n",
            "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {200 * MB}\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/cpu.stat": "usage_usec 7500000\nuser_usec 1\n",
        },
    )
    assert read_share(tmp_path) == Share(memory_limit=1500 * MB, memory_used=500 * MB, cpus=1.5, cpu_seconds=7.5)
    sample = HostReader(root=tmp_path).read()
    assert (sample.memory_total, sample.memory_available) == (1500 * MB, 1000 * MB)
    assert sample.cpu_count <= 2


def test_the_tightest_group_on_the_way_up_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "proc/self/cgroup": "0::/user.slice/job.scope\n",
            "sys/fs/cgroup/user.slice/memory.max": f"{1000 * MB}\n",
            "sys/fs/cgroup/user.slice/memory.current": f"{900 * MB}\n",
            "sys/fs/cgroup/user.slice/job.scope/memory.max": "max\n",
            "sys/fs/cgroup/user.slice/job.scope/cpu.max": "max 100000\n",
        },
    )
    assert read_share(tmp_path) == Share(memory_limit=1000 * MB, memory_used=900 * MB, cpus=None)


def test_version_1_limits_with_a_path_of_the_host(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2000 * MB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{800 * MB}\n",
            "sys/fs/cgroup/memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {300 * MB}\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": "2500000000\n",
        },
    )
    assert read_share(tmp_path) == Share(memory_limit=2000 * MB, memory_used=500 * MB, cpus=0.5, cpu_seconds=2.5)
    assert HostReader(root=tmp_path).read().cpu_count == 1


def test_load_is_that_of_the_granted_share(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"}
    write(tmp_path, **files, **{"sys/fs/cgroup/cpu.stat": "usage_usec 0\n"})
    reader = HostReader(root=tmp_path)
    reader.read()
    assert reader.read().cpu_percent == 0.0  # whatever the rest of the machine does
    write(tmp_path, **{"sys/fs/cgroup/cpu.stat": "usage_usec 900000000000\n"})
    assert reader.read().cpu_percent == 100.0


def test_no_limit_is_no_limit(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "proc/self/cgroup": "4:memory:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2**63 - 4096}\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    )
    assert read_share(tmp_path) == Share()
    assert read_share(tmp_path / "nothing") == Share()
