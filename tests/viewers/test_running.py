"""Viewers as processes: a real TensorBoard on a Unix socket, ended when nobody asks, replaced when it is gone."""

import socket
import sys

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.viewers.running import AT_ONCE, Viewers
from jupyter_paddle_gpu.viewers.viewer import VIEWERS, Viewer


@pytest.fixture
def viewers():
    found = Viewers(idle_seconds=0.1)
    yield found
    found.close()


def test_one_that_nobody_asks_ends_and_the_next_question_starts_it_anew(viewers, tmp_path):
    wanted = {"folder": tmp_path, "prefix": "/p", "pythons": ["/no/such/python", sys.executable]}
    path = viewers.open(VIEWERS["tensorboard"], "job", **wanted)
    first = viewers._running["tensorboard", "job"].process
    assert first.wait(180) == 0
    assert viewers.open(VIEWERS["tensorboard"], "job", **wanted) == path
    second = viewers._running["tensorboard", "job"].process
    assert second.pid != first.pid
    assert path.parent.stat().st_mode & 0o077 == 0, "no other user reaches the socket"
    viewers.close()
    assert second.poll() is not None
    assert not path.parent.exists()


def test_what_is_not_installed_says_how_to_get_it(viewers, tmp_path):
    viewer = Viewer("no_such_viewer", "NoSuch", "no-such-viewer", "x.")
    for number in range(AT_ONCE + 2):
        with pytest.raises(PaddleGpuError, match="NoSuch is not installed") as caught:
            viewers.open(viewer, str(number), folder=tmp_path, prefix="/p", pythons=[sys.executable])
    assert f"{sys.executable} -m pip install no-such-viewer" in caught.value.message.render_hint(lambda text: text)
    assert len(viewers._running) == AT_ONCE


def test_a_viewer_ends_with_the_process_that_started_it(tmp_path):
    """Its stdin is all that holds it: a kill -9 of the server closes it."""
    viewers = Viewers(idle_seconds=600)
    path = viewers.open(VIEWERS["tensorboard"], "a", folder=tmp_path, prefix="/p", pythons=[sys.executable])
    process = viewers._running["tensorboard", "a"].process
    with socket.socket(socket.AF_UNIX) as question:
        question.connect(str(path))
    process.stdin.close()
    assert process.wait(180) == 0
    viewers.close()
