"""Data sets of PaddleGAN whose files are not on this machine: folders, pairs and sequences of black pictures.

Preprocessing, crops and batches are the trainer's own. Sources: `ppgan/datasets`, 2.1.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..patch import Patch
from .pictures import COUNT, picture

PART = 480
"""The side of a part that DIV2K and Flickr2K are cut to before they are trained on (BasicSR's preparation)."""
REDS_FRAMES, REDS = 100, (1280, 720)
"""Frames of a video, their width and height (Nah et al., NTIRE 2019)."""
VIMEO_FRAMES, VIMEO = 7, (448, 256)
"""Those of Vimeo-90K's septuplets (Xue et al., 2019)."""
SCALE = 4
"""By how much the pictures of both are reduced; REDS has blurred ones in full size besides (`train_blur`)."""


def _scanned(session: Session, original: Callable[..., Any], path: Any) -> Any:
    """`BaseDataset.scan_folder`: the pictures of a folder."""
    if os.path.exists(path):  # noqa: PTH110 - as PaddleGAN looks for it
        return original(path)
    session.note("pictures_made_up")
    return [picture()] * COUNT


def _pairs(session: Session, original: Callable[..., Any], self: Any) -> Any:
    """`SRDataset.prepare_data_infos`: parts of pictures and what they are reduced to."""
    if os.path.exists(self.gt_folder):  # noqa: PTH110 - as PaddleGAN looks for it
        return original(self)
    session.note("pictures_made_up")
    small = PART // int(self.scale)
    self.data_infos = [{"lq_path": picture(3, small, small), "gt_path": picture(3, PART, PART)}] * COUNT
    return self.data_infos


def _videos(session: Session, original: Callable[..., Any], self: Any) -> Any:
    """Of REDS: the folder of a video, in which frames go by their number."""
    if os.path.exists(self.ann_file):  # noqa: PTH110 - as PaddleGAN looks for it
        return original(self)
    session.note("pictures_made_up")
    width, height = REDS
    # Of several truths frames are asked for by their video alone (`GetNeighboringFramesIdx`).
    key = "stand-in" if type(self).__name__ == "VSRREDSMultipleGTDataset" else "stand-in/00000000"
    scale = 1 if "blur" in self.lq_folder and "bicubic" not in self.lq_folder else SCALE
    paths = {
        "lq_path": _video(picture(3, width // scale, height // scale), "lq"),
        "gt_path": _video(picture(3, width, height), "gt"),
    }
    frames = getattr(self, "num_frames", REDS_FRAMES)
    counts = {"max_frame_num": REDS_FRAMES, "sequence_length": REDS_FRAMES, "num_frames": frames}
    return [{**paths, "key": key, **counts}] * COUNT


def _video(frame: str, name: str) -> str:
    root = os.path.join(os.path.dirname(frame), name)  # noqa: PTH118, PTH120 - the programs take strings
    folder = os.path.join(root, "stand-in")  # noqa: PTH118
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    for number in range(REDS_FRAMES):
        shutil.copyfile(frame, os.path.join(folder, f"{number:08d}.png"))  # noqa: PTH118
    return root


def _septuplets(session: Session, original: Callable[..., Any], self: Any) -> Any:
    """Of Vimeo-90K: the frames of a clip."""
    if os.path.exists(self.ann_file):  # noqa: PTH110 - as PaddleGAN looks for it
        return original(self)
    session.note("pictures_made_up")
    width, height = VIMEO
    small, large = picture(3, width // SCALE, height // SCALE), picture(3, width, height)
    return [{"lq_path": [small] * VIMEO_FRAMES, "gt_path": [large] * VIMEO_FRAMES, "key": "stand-in"}] * COUNT


_READS = (
    ("base_dataset", "BaseDataset", "scan_folder", _scanned),
    ("base_sr_dataset", "SRDataset", "prepare_data_infos", _pairs),
    ("vsr_reds_dataset", "VSRREDSDataset", "prepare_data_infos", _videos),
    ("vsr_reds_multiple_gt_dataset", "VSRREDSMultipleGTDataset", "prepare_data_infos", _videos),
    ("vsr_vimeo90k_dataset", "VSRVimeo90KDataset", "prepare_data_infos", _septuplets),
)


def patches() -> Iterator[Patch]:
    """What looks for their files."""
    for module, kind, method, reads in _READS:
        yield Patch(Awaited(f"ppgan.datasets.{module}", kind), method, reads)
