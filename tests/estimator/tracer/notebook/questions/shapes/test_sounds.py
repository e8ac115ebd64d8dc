"""Batches of sound that is not here: spectrograms as the program's constants have them, no picture's shape."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

MELS = """
import numpy as np, paddle, soundfile
from paddle import nn
class Clips(paddle.io.Dataset):
    def __init__(self, path, max_duration=3, sample_rate=16000):
        with open(path) as file:
            self.lines = file.readlines()
        self.max_duration, self.sample_rate = max_duration, sample_rate
        self.mel = paddle.audio.features.MelSpectrogram(sr=sample_rate, n_fft=1024, hop_length=320, n_mels=64)
    def __getitem__(self, i):
        path, label = self.lines[i].strip().split('\\t')
        samples, rate = soundfile.read(path, dtype='float32')
        longest = int(self.max_duration * self.sample_rate)
        if len(samples) > longest:
            samples = samples[:longest]
        feature = self.mel(paddle.to_tensor(samples).unsqueeze(0)).squeeze(0)
        return feature.transpose([1, 0]).numpy(), np.array(int(label), dtype=np.int64)
    def __len__(self):
        return len(self.lines)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv1D(64, 32, 5), nn.Linear(32, 10)
    def forward(self, x):
        return self.out(self.conv(paddle.transpose(x, [0, 2, 1])).mean(-1))
def train():
    loader = paddle.io.DataLoader(Clips('train_list.txt'), batch_size=32)
    net = Net()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for number, (spec, label) in enumerate(loader()):
        nn.functional.cross_entropy(net(spec), label).backward()
        optimizer.step()
        optimizer.clear_grad()
train()
"""
CEPSTRUM = """
import glob, numpy as np, librosa, paddle
from paddle import nn
SR, DURATION, N_MFCC, N_FFT, HOP = 22050, 4, 40, 2048, 512
class Clips(paddle.io.Dataset):
    def __init__(self, root):
        self.files = glob.glob(root + '/*.wav')
    def __len__(self):
        return len(self.files)
    def __getitem__(self, i):
        wave, _ = librosa.load(self.files[i], sr=SR, duration=DURATION)
        mfcc = librosa.feature.mfcc(y=wave, sr=SR, n_mfcc=N_MFCC, n_fft=N_FFT, hop_length=HOP)
        return mfcc[np.newaxis].astype('float32'), int(self.files[i].split('-')[1])
loader = paddle.io.DataLoader(Clips('audio/fold1'), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FITTING = (
    CEPSTRUM.replace(
        "nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10)", "nn.Flatten(), nn.Linear(8 * 62 * 149, 10)"
    )
    .replace("mfcc[np.newaxis].astype", "mfcc.T[np.newaxis].astype")
    .replace("mfcc(y=wave, sr=SR, n_mfcc=N_MFCC", "melspectrogram(y=wave, sr=SR, n_mels=64")
    .replace("DURATION, N_MFCC, N_FFT, HOP = 22050, 4, 40, 2048, 512", "DURATION, N_FFT, HOP = 16000, 3, 1024, 320")
)
UNSAID = CEPSTRUM.replace(", duration=DURATION", "").replace("SR, DURATION, N", "SR, LAST, N")
CASES = {
    "mels": (MELS, "loader", "float32[32,151,64] int64[32]", "cells"),
    "cepstrum": (CEPSTRUM, "loader", "float32[16,1,40,173] int64[16]", "cells"),
    "fitting": (FITTING, "loader", "float32[16,1,64,151] int64[16]", "cells"),
    "unsaid": (UNSAID, "loader", "float32[16,1,40,128] int64[16]", "assumed"),
}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("trace", {name: case[0] for name, case in CASES.items()})


@pytest.mark.parametrize("name", CASES)
def test_sound_is_suggested_as_the_program_makes_it(found, name):
    _, asked, suggestion, source = CASES[name]
    (question,) = found[name]["questions"]
    assert (question["name"], question["suggestion"]) == (asked, suggestion)
    assert question["params"]["source"] == source
