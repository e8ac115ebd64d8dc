import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.services.locations import contents_file, contents_path


def refusal(*arguments, **options):
    with pytest.raises(PaddleGpuError) as caught:
        contents_file(*arguments, **options)
    return caught.value.code, caught.value.status


def test_a_contents_path_is_below_the_root(tmp_path):
    root = tmp_path.resolve()
    for path in ("a/b.ipynb", "/a/b.ipynb", "RTC:a/b.ipynb", "a//b.ipynb"):
        assert contents_file(path, tmp_path) == root / "a" / "b.ipynb"
    assert contents_path(root / "a" / "b.ipynb", tmp_path) == "a/b.ipynb"
    assert contents_path(root.parent / "b.ipynb", tmp_path) is None


@pytest.mark.parametrize("path", ["../x.ipynb", "a/../../x.ipynb", "a/../x.ipynb", "/../x.ipynb"])
def test_dots_never_lead_out(tmp_path, path):
    assert refusal(path, tmp_path) == ("outside_root", 403)


def test_links_are_kept_inside_and_refused_outside(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    (outside / "x.ipynb").write_text("{}")
    (root / "inner").symlink_to(root / "real")
    (root / "outer").symlink_to(outside)
    (root / "x.ipynb").symlink_to(outside / "x.ipynb")
    (root / "loop").symlink_to(root / "loop")
    assert contents_file("inner/a.ipynb", root) == root.resolve() / "inner" / "a.ipynb"
    assert refusal("outer/x.ipynb", root) == ("outside_root", 403)
    assert refusal("x.ipynb", root) == ("outside_root", 403)
    assert refusal("loop/x.ipynb", root)[0] == "outside_root"


def test_a_root_that_is_a_link_works(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert contents_file("a.ipynb", tmp_path / "root") == tmp_path.resolve() / "real" / "a.ipynb"


def test_hidden_files_need_the_servers_leave(tmp_path):
    assert refusal(".secret/a.ipynb", tmp_path) == ("hidden_path", 404)
    assert contents_file(".secret/a.ipynb", tmp_path, allow_hidden=True).name == "a.ipynb"


@pytest.mark.parametrize("path", ["", "/", "RTC:", "a\0b.ipynb"])
def test_what_names_no_file_is_refused(tmp_path, path):
    assert refusal(path, tmp_path) == ("bad_path", 400)
