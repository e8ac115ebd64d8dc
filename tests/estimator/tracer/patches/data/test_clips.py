"""Clips of sound that are not here are of numbers that are no whole ones, whatever reads them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SOURCE = """
import csv, numpy as np, paddle, {library}
rows = list(csv.DictReader(open("clips.csv")))
class Clips(paddle.io.Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        clip, rate = {read}
        clip = clip[:{long}]
        return np.pad(clip, (0, {long} - len(clip))), int(rows[i]["kind"])
mel = paddle.audio.features.MelSpectrogram(sr=16000, n_fft=512, hop_length=256, n_mels=32)
net = paddle.nn.Sequential(paddle.nn.AdaptiveAvgPool2D(4), paddle.nn.Flatten(), paddle.nn.Linear(16, 5))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for clip, kind in paddle.io.DataLoader(Clips(), batch_size=4):
    paddle.nn.functional.cross_entropy(net(mel(clip).unsqueeze(1)), kind).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def _source(library: str, read: str, long: int = 16_000) -> str:
    return SOURCE.format(library=library, read=read, long=long)


CASES = {
    "soundfile": _source("soundfile", "soundfile.read(rows[i]['name'], dtype='float32')"),
    "librosa": _source("librosa", "librosa.load(rows[i]['name'], sr=16000)"),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", CASES, {name: {"target": "cpu"} for name in CASES})


@pytest.mark.parametrize("name", ["soundfile", "librosa"])
def test_a_spectrogram_is_made_of_them(traced, name: str) -> None:
    """They were whole numbers, of which Paddle refuses one: a job that runs was told to stop there."""
    assert (traced[name]["status"], traced[name]["inputs"]) == ("ok", ["float32[4, 16000]", "int64[4]"])
    assert "types_assumed" in traced[name]["notes"]


@pytest.mark.parametrize(
    ("shape", "code", "is_clip"),
    [
        ((4, 16_000), "import librosa", True),
        ((4, 200), "import librosa", False),  # what is said in a clip, as ids
        ((16_000,), "import librosa", False),  # labels
        ((4, 16_000), "import csv", False),
    ],
)
def test_a_row_is_a_clip_where_it_is_long_and_the_program_reads_sound(shape, code: str, is_clip: bool) -> None:
    made_up = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.undecided.made_up")
    assert made_up.is_clip(shape, code) is is_clip
