"""As whom jobs run, seen in real containers and in the files that they leave on the host."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import IMAGE, Bench, _daemon
from stand_ins.daemon import PrivateDaemon

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.engines.docker import access
from jupyter_paddle_gpu.engines.docker.connection.daemon import DaemonFacts
from jupyter_paddle_gpu.engines.docker.identity import JOB_ID, identity_of
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="not root: only root's server has others' folders")

WRITES = """
import os, pathlib
open("old.txt", "a").write("more")
open("new.txt", "w").write("new")
open("sub/below.txt", "w").write("below")
os.mkdir("made")
open("tool", "w").write("#!/bin/sh")
os.chmod("tool", 0o6755)
print("IS", os.getuid(), os.getgid(), os.getgroups())
"""


@pytest.fixture
def roots_folder(bench):
    """As root leaves a folder: some of it for no other eye."""
    (bench.work / "sub").mkdir(mode=0o700)
    (bench.work / "old.txt").write_text("old")
    (bench.work / "old.txt").chmod(0o600)
    bench.work.chmod(0o700)
    return bench.work


def test_a_root_server_on_a_folder_of_roots_runs_no_job_as_root(bench, roots_folder):
    job, folder = bench.job(WRITES)
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert f"IS {JOB_ID} {JOB_ID} " in bench.text(folder)
    # It wrote where a job may, what was root's is still root's, and nothing of root's got a bit that gives its rights.
    assert (roots_folder / "old.txt").read_text() == "oldmore"
    assert (roots_folder / "sub" / "below.txt").read_text() == "below"
    for name in (".", "sub", "old.txt"):
        assert (roots_folder / name).stat().st_uid == 0
    risky = [path for path in roots_folder.rglob("*") if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)]
    assert [path.name for path in risky] == ["tool"]
    assert (risky[0].stat().st_uid, risky[0].stat().st_gid) == (JOB_ID, JOB_ID)
    assert any(f"user {JOB_ID}" in said for said in bench.said)


def test_the_result_is_published_and_the_next_job_goes_on(bench, roots_folder):
    """By whoever: the first job's files are not in the way of the second's, nor of root's."""
    for count in (1, 2):
        output = roots_folder / "paddle-gpu-runs" / f"run-{count}.ipynb"
        job, folder = bench.job("open('count', 'a').write('1')\nprint(open('count').read())", output=str(output))
        assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
        assert "1" * count in bench.text(folder).splitlines()
        assert json.loads(output.read_text())["cells"][0]["outputs"]
        (roots_folder / "count").open("a").close()


def test_a_data_folder_that_only_root_may_read_is_told_before(make_bench, tmp_path):
    """It is not opened: nobody wrote in the settings that jobs may write there."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "x").write_text("read")
    bench = make_bench(data_folders=(str(data),))
    job, folder = bench.job(f"print(open('{data}/x').read())", options={"data": [str(data)]})
    (told,) = bench.engine.check(job)
    assert (told.code, f"setfacl -R -m u:{JOB_ID}:rX {data}" in told.render_hint()) == ("data_not_readable", True)
    assert reasons.is_note(told), "no refusal: the notebook may not need it"
    access.open_to(data, JOB_ID)  # as that command does
    assert bench.engine.check(job) == ()
    closed = data / "deep" / "down" / "y"
    closed.parent.mkdir(parents=True)
    closed.write_text("not for others")
    os.removexattr(closed, access.ACCESS)
    closed.chmod(0o600)
    (data / "link").symlink_to("/nowhere")
    (told,) = bench.engine.check(job)
    assert (told.code, dict(told.params)["inside"]) == ("data_not_readable", str(closed))
    closed.unlink()
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "read" in bench.text(folder).splitlines()


@pytest.mark.parametrize(
    ("mode", "uid", "gid", "expected"),
    [
        (0o755, 7, 7, True), (0o750, 7, 7, False), (0o750, 7, 5, True), (0o704, 7, 7, False),
        (0o077, 4, 7, False), (0o700, 4, 7, True), (0o705, 7, 5, False),
    ],
)  # fmt: skip
def test_who_may_read_a_folder(tmp_path, mode, uid, gid, expected):
    folder = tmp_path / "f"
    folder.mkdir()
    os.chown(folder, 4, 5)
    folder.chmod(mode)
    assert access.may_read(folder, uid, gid) is expected


def test_the_owners_group_is_not_roots(bench):
    os.chown(bench.work, 1234, 0)
    job, folder = bench.job("import os\nprint('IS', os.getuid(), os.getgid())")
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "IS 1234 1234" in bench.text(folder)


def test_a_job_sees_no_other_users_files(bench):
    os.chown(bench.work, 1234, 1234)
    (bench.work / "theirs").write_text("secret")
    (bench.work / "theirs").chmod(0o600)
    os.chown(bench.work / "theirs", 4321, 4321)
    job, folder = bench.job("try: open('theirs')\nexcept OSError as error: print('NO', error.errno)")
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "NO 13" in bench.text(folder)


def test_a_file_with_the_setuid_bit_and_a_device_node_in_the_folder_give_nothing(bench):
    """Docker's interface has no nosuid and nodev for folders of the host: other locks hold."""
    python = Path(os.path.realpath(sys.executable))
    shutil.copy(python, bench.work / "as-root")
    (bench.work / "as-root").chmod(0o4755)
    os.mknod(bench.work / "disk", stat.S_IFBLK | 0o666, os.makedev(7, 0))
    (bench.work / "disk").chmod(0o666)
    cell = """
import subprocess, sys
home = {"PYTHONHOME": sys.base_prefix}
done = subprocess.run(["./as-root", "-c", "import os; print(os.geteuid())"], env=home, capture_output=True, text=True)
print("EFFECTIVE", done.stdout, done.stderr)
try:
    open("disk", "rb")
except OSError as error:
    print("DISK", error.errno)
"""
    job, folder = bench.job(cell)
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert f"EFFECTIVE {JOB_ID}" in bench.text(folder), bench.explain(job, folder)
    assert "DISK 1" in bench.text(folder)  # EPERM


def test_a_notebook_below_roots_home_is_reached(daemon, bench):
    """Images keep /root to root, and the folder has the host's path inside."""
    api = daemon.api()
    container = api.create_container(IMAGE, ["/bin/sh", "-c", "mkdir -p /root && chmod 700 /root"])["Id"]
    api.start(container)
    api.wait(container)
    api.commit(container, "stand-in/roots-home", "1", changes=["CMD []"])
    api.remove_container(container)
    home = Path(tempfile.mkdtemp(dir="/root", prefix="paddle-gpu-test-"))
    try:
        below = Bench(home, daemon.host)
        job, folder = below.job("open('x', 'w').write('1')", image="stand-in/roots-home:1")
        assert below.run(job, folder).exit_code == 0, below.explain(job, folder)
        assert (below.work / "x").stat().st_uid == JOB_ID
        below.close()
    finally:
        shutil.rmtree(home)


@pytest.fixture
def closed(tmp_path):
    """A file system without access control lists."""
    folder = tmp_path / "closed"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "ramfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("no ramfs can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_folder_that_cannot_be_opened_is_refused_before_the_job_is_made(bench, closed):
    job, folder = bench.job("print(1)", folder=str(closed))
    refused = [message.code for message in bench.engine.check(job, {})]
    assert refused == ["folder_not_given"]
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "folder_not_given"
    os.chown(closed, 1234, 1234)
    assert bench.engine.check(job, {}) == ()
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)


def test_the_doctor_says_what_root_means_here(make_bench):
    codes = [message.code for message in make_bench().engine.examine()]
    assert "server_is_root" in codes
    codes = [message.code for message in make_bench(user="0:0").engine.examine()]
    assert "jobs_as_root" in codes and "server_is_root" not in codes
    assert not {"jobs_as_root", "server_is_root"} & {
        message.code for message in make_bench(user="1234").engine.examine()
    }


class Remapped(PrivateDaemon):
    """A daemon whose containers' users are others on the host."""

    FIRST = 300_000

    def command(self) -> list[str]:
        self.folder.chmod(0o711)  # the users of the namespace have to get to its folder
        ids = self.folder / "subid"
        ids.write_text(f"nobody:{self.FIRST}:65536\nnogroup:{self.FIRST}:65536\n")
        # The system's own files stay as they are: the daemon alone sees others in their place.
        files = "; ".join(f"touch {path}; mount --bind {ids} {path}" for path in ("/etc/subuid", "/etc/subgid"))
        command = [*super().command(), "--userns-remap=nobody:nogroup"]
        return ["unshare", "--mount", "--propagation=slave", "sh", "-c", f'{files}; exec "$@"', "sh", *command]


@pytest.fixture(scope="module")
def remapped(image_archive):
    yield from _daemon(image_archive, Remapped)


def test_in_a_daemon_with_a_user_namespace_root_inside_is_nobody_outside(remapped, tmp_path):
    bench = Bench(tmp_path, remapped.host)
    assert bench.engine.daemon.facts().user_namespace
    try:
        job, folder = bench.job(WRITES.replace("sub/", ""), id="unprivileged")
        (bench.work / "old.txt").write_text("old")
        assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
        assert f"IS {JOB_ID} {JOB_ID} " in bench.text(folder)
        assert (bench.work / "tool").stat().st_uid == Remapped.FIRST + JOB_ID
        # Who owns the folder is who writes in it: the namespace would make somebody else of them.
        os.chown(bench.work, 1234, 1234)
        job, folder = bench.job("open('mine', 'w').write('1')")
        assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
        assert (bench.work / "mine").stat().st_uid == 1234
    finally:
        bench.close()


@pytest.mark.parametrize(
    ("user", "facts", "expected"),
    [
        ("", DaemonFacts(id="d"), ("65532:65532", 65532, False)),
        ("7:8", DaemonFacts(id="d"), ("7:8", 7, False)),
        ("7", DaemonFacts(id="d"), ("7:7", 7, False)),
        ("", DaemonFacts(id="d", rootless=True), ("0:0", 0, False)),
        ("", DaemonFacts(id="d", user_namespace=True, root="/d/5000.6000"), ("65532:65532", 70532, True)),
        ("0", DaemonFacts(id="d", user_namespace=True, root="/d/5000.6000"), ("0:0", 5000, True)),
        ("7", DaemonFacts(id="d", user_namespace=True, root="/d/5000.6000"), ("7:7", 7, False)),
        ("", DaemonFacts(id="d", user_namespace=True, root="/d"), ("65532:65532", 65532, False)),
    ],
)
def test_who_it_is_by_settings_and_daemon(tmp_path, user, facts, expected):
    found = identity_of(DockerSettings(user=user), facts, tmp_path)
    assert (found.user, found.host_uid, found.in_namespace) == expected
