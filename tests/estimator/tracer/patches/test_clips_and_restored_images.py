"""Data sets of PaddleVideo and PaddleGAN without files: their own code reads made-up clips, folders and sequences."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SET = """
import os
import numpy as np
import paddle
from PIL import Image
"""
MODULES = {
    "paddlevideo/loader/dataset/frame": SET
    + """
class FrameDataset(paddle.io.Dataset):
    def __init__(self, file_path, decode=None):
        self.file_path, self.decode = file_path, decode
        self.info = self.load_file()
    def load_file(self):
        return [line for line in open(self.file_path)]
    def __getitem__(self, index):
        row = self.info[index]
        paths = [os.path.join(row["frame_dir"], row["suffix"].format(number)) for number in (1, int(row["frames_len"]))]
        images = [np.asarray(Image.open(path).convert("RGB"))[::8, ::8] for path in paths]
        return np.stack(images).transpose(0, 3, 1, 2), index
    def __len__(self):
        return len(self.info)
""",
    "paddlevideo/loader/dataset/video": SET
    + """
class VideoDataset(paddle.io.Dataset):
    def __init__(self, file_path, decode):
        self.file_path, self.decode = file_path, decode
        self.info = self.load_file()
    def load_file(self):
        return [line for line in open(self.file_path)]
    def __getitem__(self, index):
        found = self.decode(dict(self.info[index]))
        assert (found["format"], found["backend"]) == ("video", self.decode.backend.replace("decord", "cv2"))
        return np.array(found["frames"][: found["frames_len"] : 150])[:, ::8, ::8].transpose(0, 3, 1, 2), index
    def __len__(self):
        return len(self.info)
""",
    "paddlevideo/loader/pipelines/decode": """
class VideoDecoder:
    def __init__(self, backend):
        self.backend = backend
    def __call__(self, results):
        raise AssertionError(results["filename"])
""",
    "ppgan/datasets/base_dataset": SET
    + """
class BaseDataset(paddle.io.Dataset):
    @staticmethod
    def scan_folder(path):
        return [os.path.join(path, name) for name in os.listdir(path)]
    def __getitem__(self, index):
        row = self.data_infos[index]
        paths = row["pair_path"] if "pair_path" in row else (row["lq_path"], row["gt_path"])
        if "max_frame_num" in row:
            video, _ = row["key"].split("/")
            paths = [os.path.join(path, video, f"{row['max_frame_num'] - 1:08d}.png") for path in paths]
        if isinstance(paths, str):
            paths = (paths, paths)
        found = [np.asarray(Image.open(path[-1] if isinstance(path, list) else path)) for path in paths]
        return tuple(image[::8, ::8].transpose(2, 0, 1) for image in found)
    def __len__(self):
        return len(self.data_infos)
class PairedDataset(BaseDataset):
    def __init__(self, root):
        self.data_infos = [{"pair_path": path} for path in self.scan_folder(root)]
""",
    "ppgan/datasets/base_sr_dataset": """
from .base_dataset import BaseDataset
class SRDataset(BaseDataset):
    def __init__(self, gt_folder, scale):
        self.gt_folder, self.scale = gt_folder, scale
        self.prepare_data_infos()
    def prepare_data_infos(self):
        self.data_infos = self.scan_folder(self.gt_folder)
""",
    **{
        f"ppgan/datasets/{module}": f"""
from .base_dataset import BaseDataset
class {kind}(BaseDataset):
    def __init__(self, ann_file, lq_folder="X4"):
        self.ann_file, self.lq_folder = ann_file, lq_folder
        self.data_infos = self.prepare_data_infos()
    def prepare_data_infos(self):
        return open(self.ann_file).readlines()
"""
        for module, kind in (
            ("vsr_reds_dataset", "VSRREDSDataset"),
            ("vsr_vimeo90k_dataset", "VSRVimeo90KDataset"),
        )
    },
}
TRAIN = """
import sys
import paddle
sys.path.insert(0, {folder!r})
{made}
model = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten())
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(4):
    for batch in paddle.io.DataLoader(data, batch_size=4):
        x = batch[0].astype("float32")
        model(x.reshape([-1, *x.shape[-3:]])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
CLIP = "from paddlevideo.loader.dataset.{module} import {kind}\n"
VIDEO = (
    CLIP.format(module="video", kind="VideoDataset") + "from paddlevideo.loader.pipelines.decode import VideoDecoder\n"
)
IMAGES = "from ppgan.datasets.{module} import {kind}\ndata = {kind}({given})"
KINDS = {
    "frames": (
        CLIP.format(module="frame", kind="FrameDataset") + "data = FrameDataset('data/absent')",
        ["uint8[4, 2, 3, 32, 43]", "int64[4]"], "clips_made_up",
    ),
    "videos": (
        VIDEO + "data = VideoDataset('data/absent', VideoDecoder('decord'))",
        ["uint8[4, 2, 3, 32, 43]", "int64[4]"], "clips_made_up",
    ),
    "streams": (
        VIDEO + "data = VideoDataset('data/absent', VideoDecoder('pyav'))",
        ["uint8[4, 2, 3, 32, 43]", "int64[4]"], "clips_made_up",
    ),
    "folder": (
        IMAGES.format(module="base_dataset", kind="PairedDataset", given="'data/absent'"),
        ["uint8[4, 3, 60, 80]", "uint8[4, 3, 60, 80]"], "pictures_made_up",
    ),
    "pairs": (
        IMAGES.format(module="base_sr_dataset", kind="SRDataset", given="'data/absent', 4"),
        ["uint8[4, 3, 15, 15]", "uint8[4, 3, 60, 60]"], "pictures_made_up",
    ),
    "sequences": (
        IMAGES.format(module="vsr_reds_dataset", kind="VSRREDSDataset", given="'data/absent.txt'"),
        ["uint8[4, 3, 23, 40]", "uint8[4, 3, 90, 160]"], "pictures_made_up",
    ),
    "blurred": (
        IMAGES.format(module="vsr_reds_dataset", kind="VSRREDSDataset", given="'data/absent.txt', 'train_blur/X4'"),
        ["uint8[4, 3, 90, 160]", "uint8[4, 3, 90, 160]"], "pictures_made_up",
    ),
    "septuplets": (
        IMAGES.format(module="vsr_vimeo90k_dataset", kind="VSRVimeo90KDataset", given="'data/absent.txt'"),
        ["uint8[4, 3, 8, 14]", "uint8[4, 3, 32, 56]"], "pictures_made_up",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def traced(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    for name, text in MODULES.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return run_child("trace", {name: TRAIN.format(folder=str(folder), made=row[0]) for name, row in KINDS.items()})


@pytest.mark.parametrize("name", KINDS)
def test_batches_are_those_of_the_programs_own_reading(traced, name):
    row, (_, inputs, note) = traced[name], KINDS[name]
    assert (row["status"], row["inputs"], row["notes"]) == ("ok", inputs, [note])
