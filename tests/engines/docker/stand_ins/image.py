"""An image without a registry: the machine's own Python, busybox, and what their libraries need."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import docker

PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
_LEFT_OUT = ("site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "pydoc_data", "turtledemo",
             "config-*", "*.a", "*.opt-?.pyc", "_tkinter.*", "_test*.so")  # fmt: skip
_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6", "libgomp1")


def make_image(client: docker.APIClient, tag: str, *, path_to_packages: str = "", archive: Path | None = None) -> str:
    """Import the image and return its id.

    `path_to_packages`: a folder that is put on `sys.path` if it is mounted at run time (Paddle is too large to copy).
    `archive`: what `make_archive` made, where there are several daemons to import it.
    """
    with tempfile.TemporaryDirectory() as folder:
        repository, _, name = tag.partition(":")
        client.import_image_from_file(
            str(archive or make_archive(Path(folder), path_to_packages)),
            repository=repository,
            tag=name,
            changes=["ENV PATH=/usr/local/bin:/bin", "ENV LANG=C.UTF-8", 'CMD ["python3"]'],
        )
    return client.inspect_image(tag)["Id"]


def make_archive(folder: Path, path_to_packages: str = "") -> Path:
    """The image's files in `folder`, made by the first of several processes that ask for them."""
    archive, part = folder / "image.tar", folder / "image.part"
    with (folder / "image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            with tempfile.TemporaryDirectory() as text:
                _fill(Path(text) / "root", path_to_packages)
                with tarfile.open(part, "w") as tar:
                    tar.add(Path(text) / "root", arcname=".")
            part.rename(archive)
    return archive


def _fill(root: Path, path_to_packages: str) -> None:
    base = Path(sys.base_prefix)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    libraries = root / "lib/x86_64-linux-gnu"
    for folder in ("bin", "usr/local/bin", "usr/local/lib", "lib64", "tmp", "etc/ssl/certs", "proc", "sys", "dev",
                   "root", "home", "var/tmp", "run", "opt"):  # fmt: skip
        (root / folder).mkdir(parents=True, exist_ok=True)
    libraries.mkdir(parents=True)
    (root / "usr/bin").symlink_to("../bin")
    for folder in ("tmp", "var/tmp"):
        (root / folder).chmod(0o1777)
    shutil.copy2(base / "bin" / version, root / "usr/local/bin" / version)
    for name in ("python", "python3"):
        (root / "usr/local/bin" / name).symlink_to(version)
    standard = root / "usr/local/lib" / version
    shutil.copytree(
        base / "lib" / version,
        standard,
        symlinks=True,
        ignore=shutil.ignore_patterns(*_LEFT_OUT),
    )
    packages = standard / "site-packages"
    packages.mkdir()
    # Builds of derived images need pip.
    own = Path(sysconfig.get_path("purelib"))
    shutil.copytree(own / "pip", packages / "pip", ignore=shutil.ignore_patterns("__pycache__"))
    if path_to_packages:
        (packages / "host.pth").write_text(path_to_packages + "\n")
    busybox = shutil.which("busybox")
    assert busybox
    shutil.copy2(busybox, root / "bin/busybox")
    for name in subprocess.check_output([busybox, "--list"], text=True).split():
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    (root / "etc/passwd").write_text(PASSWD)
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    for library in _libraries(root, base, version, path_to_packages):
        shutil.copy2(library, libraries / Path(library).name)
    shutil.copy2("/lib64/ld-linux-x86-64.so.2", root / "lib64/")
    subprocess.run(["ldconfig", "-r", str(root)], check=True)


def _libraries(root: Path, base: Path, version: str, path_to_packages: str) -> set[str]:
    """Shared libraries of the system that Python, its modules and Paddle load."""
    objects = [str(p) for p in (root / "usr/local").rglob("*.so")] + [str(root / "usr/local/bin" / version)]
    if path_to_packages:
        objects += [str(p) for p in Path(path_to_packages, "paddle").rglob("*.so*") if p.is_file()]
    listed = subprocess.run(
        ["ldd", *objects],
        env={"LD_LIBRARY_PATH": f"{base}/lib", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = {path for path in re.findall(r"=> (/\S+)", listed) if path.startswith(("/lib", "/usr/lib", str(base)))}
    for package in _PACKAGES:
        files = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout.split()
        found |= {f for f in files if re.search(r"/lib.*\.so(\.\d+)*$", f) and "gconv" not in f and Path(f).is_file()}
    return {path for path in found if Path(path).is_file()}
