"""What a job is, seen from inside a real container: user, capabilities, mounts, environment."""

from __future__ import annotations

import json
import os

import pytest
from conftest import IMAGE

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings

LOOK = """
import json, os, resource
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
mounts = [line.split() for line in open("/proc/self/mounts").read().splitlines()]
def writable(path):
    try:
        with open(os.path.join(path, ".probe"), "w"): pass
        os.unlink(os.path.join(path, ".probe"))
        return True
    except OSError:
        return False
print("LOOK" + json.dumps({
    "uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(),
    "capabilities": {k: status[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
    "no_new_privileges": status["NoNewPrivs"], "seccomp": status["Seccomp"],
    "mounts": {m[1]: [m[2], m[3].split(",")[0]] for m in mounts},
    "environment": dict(os.environ),
    "init": open("/proc/1/comm").read().strip(),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "writable": {p: writable(p) for p in (
        "/", "/etc", "/usr/local/bin", "/opt/paddle-gpu/runner", "/tmp", os.getcwd())},
    "sockets": [p for p in ("/var/run/docker.sock", "/run/docker.sock") if os.path.exists(p)],
    "cwd": os.getcwd(),
}))
"""


@pytest.fixture
def look(bench):
    def run(**spec):
        job, folder = bench.job(LOOK, "open('result.txt', 'w').write('mine')", **spec)
        seen = bench.run(job, folder)
        assert seen.exit_code == 0, bench.explain(job, folder)
        line = next(text for text in bench.text(folder).splitlines() if text.startswith("LOOK"))
        return json.loads(line.removeprefix("LOOK"))

    return run


def test_what_a_container_is_and_has(bench, look):
    os.chown(bench.work, 1234, 2345)
    inside = look()
    # The person, not root; and so is what they leave behind.
    assert (inside["uid"], inside["gid"]) == (1234, 2345)
    for name in ("result.txt",):
        assert (bench.work / name).stat().st_uid == 1234
    assert (bench.jobs / next(bench.jobs.iterdir()).name / "result.json").stat().st_uid == 1234
    assert set(inside["capabilities"].values()) == {"0000000000000000"}
    assert inside["no_new_privileges"] == "1"
    assert inside["seccomp"] == "2"
    assert inside["init"] in ("docker-init", "tini")
    assert inside["interfaces"] == ["lo"]
    assert inside["sockets"] == []
    assert inside["writable"] == {
        "/": False, "/etc": False, "/usr/local/bin": False, "/opt/paddle-gpu/runner": False, "/tmp": True,
        str(bench.work): True,
    }  # fmt: skip
    assert inside["cwd"] == str(bench.work)


def test_nothing_of_the_host_is_mounted_but_the_folders_of_the_job(bench, look):
    inside = look()
    from_host = {
        path: flag
        for path, (kind, flag) in inside["mounts"].items()
        if kind not in {"proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "overlay"}
    }
    job_folder = next(bench.jobs.iterdir())
    expected = {str(bench.work): "rw", str(job_folder): "rw", "/opt/paddle-gpu/runner": "ro"}
    dockers_own = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/sbin/docker-init"}
    library = {"/opt/paddle-gpu/lib/jupyter_paddle_gpu/checkpoint.py"}
    assert {path: flag for path, flag in from_host.items() if path not in dockers_own | library} == expected
    assert all(from_host[path] == "ro" for path in library & from_host.keys())


def test_the_environment_is_the_images_ours_and_what_was_asked_for(bench, look):
    os.environ["SECRET_OF_THE_SERVER"] = "x"
    try:
        inside = look(environment={"EPOCHS": "3", "HTTPS_PROXY": "http://proxy.example:3128"})["environment"]
    finally:
        del os.environ["SECRET_OF_THE_SERVER"]
    assert inside["EPOCHS"] == "3"
    assert inside["HOME"] == "/tmp"
    assert inside["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert "SECRET_OF_THE_SERVER" not in inside
    assert not [name for name in inside if "TOKEN" in name or name.startswith("DOCKER")]


def test_an_old_libcuda_of_the_image_is_kept_from_hiding_the_drivers(bench, look):
    api = bench.api
    container = api.create_container(IMAGE, ["true"])["Id"]
    paths = "/usr/local/nvidia/lib64:/usr/local/cuda/compat:/usr/local/cuda/lib64:/usr/local/cuda-12.6/compat/"
    api.commit(container, "stand-in/compat", "1", changes=[f"ENV LD_LIBRARY_PATH={paths}"])
    api.remove_container(container)
    inside = look(image="stand-in/compat:1")["environment"]
    assert inside["LD_LIBRARY_PATH"] == "/usr/local/nvidia/lib64:/usr/local/cuda/lib64"


def test_what_lies_in_memory_gives_no_rights(bench):
    job, folder = bench.job("print(open('/proc/self/mounts').read())")
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    rows = [line.split() for line in bench.text(folder).splitlines() if line.startswith("tmpfs ")]
    options = {row[1]: set(row[3].split(",")) for row in rows}
    for place in ("/tmp", "/var/tmp", "/run"):
        assert {"rw", "nosuid", "nodev"} <= options[place]


def test_limits_are_those_that_the_kernel_and_docker_keep(make_bench):
    bench = make_bench(pids=99, cpus=1.0, log_bytes=1 << 20)
    cell = "import os\nseen = os.statvfs('/dev/shm')\nprint('SHM', seen.f_blocks * seen.f_frsize)"
    job, folder = bench.job(cell, resources=Resources(memory_bytes=512 << 20, shm_bytes=32 << 20))
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert f"SHM {32 << 20}" in bench.text(folder)
    host = bench.engine.daemon.inspect_container(container_name(job.id))["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"], host["NanoCpus"]) == (
        512 << 20,
        512 << 20,
        99,
        10**9,
    )
    kept = host["LogConfig"]["Config"]
    assert int(kept["max-size"]) * int(kept["max-file"]) == 1 << 20
    assert DockerSettings().log_bytes == 16 << 20
    assert (host["Privileged"], host["ReadonlyRootfs"], host["CapDrop"]) == (False, True, ["ALL"])


def test_a_folder_that_is_exchanged_after_the_first_look_is_not_mounted(bench):
    job, folder = bench.job("print(1)")
    handle = bench.engine.prepare(job, folder, bench.said.append, lambda: False)
    bench.work.rename(bench.work.with_name("away"))
    bench.work.symlink_to("/etc")
    with pytest.raises(PaddleGpuError) as caught:
        bench.engine.start(job, folder, handle)
    assert caught.value.code == "path_of_system"
    assert bench.engine.observe(job, folder).state == "absent"


def test_no_folder_with_the_daemons_socket_in_it_is_given_to_a_job(bench, daemon):
    job, folder = bench.job("print(1)", folder=str(daemon.folder))
    assert [message.code for message in bench.engine.check(job, {})] == ["path_of_socket"]
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "path_of_socket"


def test_links_that_a_job_leaves_do_not_lead_the_server_out(bench, tmp_path):
    (tmp_path / "secret").write_text("s")
    cell = f"""
import os
home = os.path.dirname(os.environ["PADDLE_GPU_CHECKPOINTS"])
os.symlink("{tmp_path}/secret", home + "/checkpoints/stolen")
os.symlink("/etc", home + "/folder")
os.symlink("source.ipynb", home + "/inner")
"""
    job, folder = bench.job(cell)
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert (folder.checkpoints / "stolen").is_symlink()
    bench.engine.collect(job, folder)
    assert not (folder.checkpoints / "stolen").is_symlink()
    assert not (folder.path / "folder").is_symlink()
    assert (folder.path / "inner").is_symlink()
    assert (tmp_path / "secret").read_text() == "s"


def test_data_folders_are_read_only_unless_the_settings_say_so(make_bench, tmp_path):
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    read, write = str(tmp_path / "read"), str(tmp_path / "write")
    bench = make_bench(data_folders=(read, write), writable_data_folders=(write,))
    cell = (
        f"print(open('{read}/x').read())\nopen('{write}/y', 'w').write('1')\n"
        f"try: open('{read}/y', 'w')\nexcept OSError as e: print('refused', e.errno)"
    )
    job, folder = bench.job(cell)
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "refused 30" in bench.text(folder)  # EROFS
    assert (tmp_path / "write" / "y").exists()
