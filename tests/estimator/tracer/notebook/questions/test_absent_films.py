"""Samples of several pictures that stand side by side in folders which are not here: frames of films, views, bands."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import glob, os, random, re
import numpy as np, paddle
from PIL import Image
ROOT, T, SIDE = 'absent', 5, 96
def read(name):
    picture = Image.open(name)
    return None if picture is None else np.asarray(picture.resize((SIDE, SIDE)))
"""
# As https://github.com/Rudrabha/Wav2Lip reads its films.
FILMS = """
class Films(paddle.io.Dataset):
    def __init__(self):
        with open('filelists/train.txt') as file:
            self.films = [os.path.join(ROOT, line.strip()) for line in file]
    def __len__(self):
        return len(self.films)
    def window(self, first):
        number, film, names = int(os.path.basename(first).split('.')[0]), os.path.dirname(first), []
        for one in range(number, number + T):
            name = os.path.join(film, f'{one}.jpg')
            if not os.path.isfile(name):
                return None
            names.append(name)
        frames = [read(name) for name in names]
        return None if any(one is None for one in frames) else np.transpose(np.asarray(frames) / 255.0, (3, 0, 1, 2))
    def __getitem__(self, i):
        while True:
            film = self.films[random.randint(0, len(self.films) - 1)]
            names = list(glob.glob(os.path.join(film, '*.jpg')))
            if len(names) <= 3 * T:
                continue
            name, other = random.choice(names), random.choice(names)
            while other == name:
                other = random.choice(names)
            x, y = self.window(name), self.window(other)
            if x is None or y is None:
                continue
            wanted = x.copy()
            x[:, :, SIDE // 2:] = 0.0
            x = np.concatenate([x, y], axis=0)
            return paddle.to_tensor(x.astype('float32')), paddle.to_tensor(wanted.astype('float32'))
data = Films()
def loss_of(net, x, y):
    return (net(paddle.concat([x[:, :, i] for i in range(x.shape[2])])) - paddle.concat(paddle.unbind(y, 2))).mean()
net = paddle.nn.Conv2D(6, 3, 3, padding=1)
"""
FRAMES = """
class Clips(paddle.io.Dataset):
    def __init__(self, folder):
        self.clips = [line.split() for line in open(folder + '/clips.txt')]
    def __len__(self):
        return len(self.clips)
    def __getitem__(self, i):
        folder, label = self.clips[i]
        names = sorted(os.listdir(os.path.join(ROOT, folder)), key=lambda name: int(re.findall(r'\\d+', name)[0]))
        frames = [read(os.path.join(ROOT, folder, name)) for name in names[:T]]
        return np.stack(frames).astype('float32').transpose(3, 0, 1, 2), int(label)
data = Clips(ROOT)
def loss_of(net, x, y):
    return paddle.nn.functional.cross_entropy(net(x).mean([2, 3, 4]), y)
net = paddle.nn.Conv3D(3, 7, 3)
"""
VIEWS = """
class Views(paddle.io.Dataset):
    def __init__(self):
        self.scenes = open('scenes.txt').read().split()
    def __len__(self):
        return len(self.scenes)
    def __getitem__(self, i):
        scene = self.scenes[i]
        views = [read(os.path.join(ROOT, scene, side + '.png')) for side in ('left', 'right')]
        mask = os.path.join(ROOT, scene, 'mask.png')
        if not os.path.exists(mask):
            raise RuntimeError(mask)
        return np.concatenate(views, -1).transpose(2, 0, 1).astype('float32'), np.zeros([SIDE, SIDE], 'float32')
data = Views()
def loss_of(net, x, y):
    return (net(x)[:, 0] - y).mean()
net = paddle.nn.Conv2D(6, 1, 3, padding=1)
"""
STEP = """
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
loader = paddle.io.DataLoader(data, batch_size=4, shuffle=True)
for x, y in loader:
    loss_of(net, x, y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NOTEBOOKS = {
    "films": (FILMS, "np.zeros([6, 5, 96, 96], 'float32'), np.zeros([3, 5, 96, 96], 'float32')"),
    "frames": (FRAMES, "np.zeros([3, 5, 96, 96], 'float32'), 3"),
    "views": (VIEWS, "np.zeros([6, 96, 96], 'float32'), np.zeros([96, 96], 'float32')"),
}
"""Each with a sample as it is with the data."""


@pytest.fixture(scope="module")
def traced(run_child):
    absent = {name: f"{HEAD}#---\n{code}#---\n{STEP}" for name, (code, _) in NOTEBOOKS.items()}
    here = {
        f"{name} here": f"{HEAD}#---\n{code}#---\ndata = [({sample})] * 400\n{STEP}"
        for name, (code, sample) in NOTEBOOKS.items()
    }
    return run_child("trace", {**absent, **here})


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_how_many_pictures_a_sample_has_follows_from_its_code(traced, name):
    found, here = traced[name], traced[f"{name} here"]
    assert (found["status"], found["questions"]) == ("ok", [])
    assert "data_followed" in found["notes"]
    assert (here["status"], found["inputs"], found["batch_size"]) == ("ok", here["inputs"], here["batch_size"])
    assert abs(found["peak"] - here["peak"]) < 100
