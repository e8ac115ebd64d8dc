from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook, read_notebook

PLAIN = {
    "nbformat": 4,
    "nbformat_minor": 4,
    "metadata": {},
    "cells": [{"cell_type": "code", "source": ["a = 1\n", "a"]}],
}


def write(path: Path, content: object = PLAIN) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def refusal(path: Path, **options: object) -> PaddleGpuError:
    with pytest.raises(PaddleGpuError) as caught:
        read_notebook(path, **options)  # type: ignore[arg-type]
    assert caught.value.message.render()
    assert caught.value.message.hint
    assert "{" not in caught.value.message.render() + caught.value.message.render_hint()
    return caught.value


def test_a_notebook_is_read_with_sources_as_strings(tmp_path: Path) -> None:
    source = read_notebook(write(tmp_path / "a.ipynb"), root=tmp_path)
    assert source.content["cells"][0]["source"] == "a = 1\na"
    assert source.kernel_name == "python3"
    assert source.path == tmp_path / "a.ipynb"


def test_a_path_is_relative_to_the_root(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    assert read_notebook(Path("a.ipynb"), root=tmp_path).path == tmp_path / "a.ipynb"


def test_the_kernel_is_the_one_that_the_notebook_names() -> None:
    content = {**PLAIN, "metadata": {"kernelspec": {"name": "paddle-gpu"}}}
    assert parse_notebook(json.dumps(content), Path("/a.ipynb")).kernel_name == "paddle-gpu"
    assert parse_notebook({**PLAIN, "metadata": {"kernelspec": "broken"}}, Path("/a.ipynb")).kernel_name == "python3"


def test_what_comes_in_is_not_changed() -> None:
    content = json.loads(json.dumps(PLAIN))
    parse_notebook(content, Path("/a.ipynb"))
    assert content == PLAIN


def test_an_old_notebook_is_upgraded() -> None:
    cell = {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "outputs": [], "language": "python", "collapsed": False}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    source = parse_notebook(json.dumps(old), Path("/a.ipynb"))
    assert source.content["nbformat"] == 4
    assert source.content["cells"][0]["source"] == "x = 1\ny = 2"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "notebook_empty"),
        (b" \n", "notebook_empty"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "notebook_binary"),
        (b"not json", "notebook_not_json"),
        (b"[" * 100_000, "notebook_not_json"),
        (b"[]", "notebook_not_a_notebook"),
        (b"{}", "notebook_not_a_notebook"),
        (b'{"nbformat": 4}', "notebook_not_a_notebook"),
        (b'{"nbformat": 4, "cells": [1]}', "notebook_not_a_notebook"),
        (b'{"nbformat": true, "cells": []}', "notebook_not_a_notebook"),
        (b'{"nbformat": 3}', "notebook_not_a_notebook"),
        (b'{"nbformat": 5, "cells": []}', "notebook_newer"),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "a.ipynb").write_bytes(content)
    error = refusal(tmp_path / "a.ipynb")
    assert (error.code, error.status) == (code, 422)


@pytest.mark.parametrize("name", ["data.csv", "notes.md", "train.sh", "picture.PNG"])
@pytest.mark.parametrize("content", [b"a,b\n", b"\x89PNG\xff"])
def test_of_another_kind_of_file_it_is_said_which_kinds_are_read(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    error = refusal(tmp_path / name)
    assert (error.code, error.status) == ("notebook_other_file", 422)
    assert ".ipynb or .py" in error.message.hint


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "broken.ipynb").symlink_to(tmp_path / "gone")
    assert refusal(tmp_path / "none.ipynb").code == "notebook_missing"
    assert refusal(tmp_path / "broken.ipynb").code == "notebook_missing"
    assert refusal(tmp_path / "a\0b.ipynb").code == "notebook_missing"
    assert refusal(tmp_path).code == "notebook_is_folder"
    assert refusal(tmp_path / "pipe.ipynb").code == "notebook_not_a_file"


def test_too_large_a_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(50_000_000)
    error = refusal(tmp_path / "a.ipynb")
    assert (error.code, error.status) == ("notebook_too_large", 413)
    assert "50.0 MB" in error.message.render()
    assert read_notebook(write(tmp_path / "b.ipynb"), max_bytes=10_000)


def test_the_root_is_not_left(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    outside = write(tmp_path / "outside.ipynb")
    (root / "link.ipynb").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    assert refusal(outside, root=root).code == "notebook_outside"
    assert refusal(Path("../outside.ipynb"), root=root).code == "notebook_outside"
    assert refusal(Path("../absent.ipynb"), root=root).code == "notebook_outside"
    assert refusal(root / "link.ipynb", root=root).code == "notebook_link_outside"
    assert refusal(root / "folder" / "outside.ipynb", root=root).code == "notebook_link_outside"


def test_a_link_inside_the_root_and_a_root_that_is_a_link_are_fine(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "alias").symlink_to(root)
    (root / "b.ipynb").symlink_to(write(root / "a.ipynb"))
    assert read_notebook(root / "b.ipynb", root=root)
    assert read_notebook(tmp_path / "alias" / "a.ipynb", root=tmp_path / "alias")
    assert read_notebook(root / "a.ipynb", root=tmp_path / "alias")


def test_a_file_without_permission_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.ipynb")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything: let the system call itself answer
        opened = os.open

        def denied(name: object, *rest: object, **more: object) -> int:
            if name == path:
                raise PermissionError(13, "Permission denied")
            return opened(name, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", denied)
    error = refusal(path)
    assert (error.code, error.status) == ("notebook_no_permission", 403)


def test_half_a_surrogate_pair_does_not_spoil_what_follows() -> None:
    content = '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": "x = \'\\ud83d\'"}]}'
    parse_notebook(content, Path("/a.ipynb")).content["cells"][0]["source"].encode()
