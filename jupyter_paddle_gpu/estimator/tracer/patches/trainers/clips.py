"""Data sets of PaddleVideo whose files are not on this machine: clips of black frames.

The lists of frames and of videos are made up, and so is what decodes a video; sampling and transforms are the trainer's
own. Sources: `paddlevideo/loader/dataset/{frame,video}.py`, `paddlevideo/loader/pipelines/decode.py`, 2.2 to 2.3.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...session import Session
from ..awaited import Awaited
from ..patch import Patch
from .pictures import COUNT, picture

FRAMES = 300
"""Of a clip: ten seconds at 30 frames a second, as Kinetics has them (Kay et al., 2017)."""
WIDTH, HEIGHT = 340, 256
"""Kinetics is kept with a shorter side of 256."""
VIDEO = "stand-in.mp4"


def _frames(session: Session, original: Callable[..., Any], self: Any) -> Any:
    """`FrameDataset.load_file`: a folder of frames, which are all one picture."""
    if os.path.exists(self.file_path):  # noqa: PTH110 - as PaddleVideo looks for it
        return original(self)
    session.note("clips_made_up", name=type(self).__name__)
    folder, name = os.path.split(picture(3, WIDTH, HEIGHT))
    return [{"frame_dir": folder, "suffix": name, "frames_len": FRAMES, "labels": 0}] * COUNT


def _videos(session: Session, original: Callable[..., Any], self: Any) -> Any:
    """`VideoDataset.load_file`."""
    if os.path.exists(self.file_path):  # noqa: PTH110 - as PaddleVideo looks for it
        return original(self)
    session.note("clips_made_up", name=type(self).__name__)
    return [{"filename": VIDEO, "labels": 0}] * COUNT


def _decoded(session: Session, original: Callable[..., Any], self: Any, results: Any) -> Any:
    """`VideoDecoder`: frames as OpenCV gives them, or the part that is wanted of them as PyAV does."""
    if results.get("filename") != VIDEO:
        return original(self, results)
    backend = "pyav" if getattr(self, "backend", "cv2") == "pyav" else "cv2"
    frames = np.broadcast_to(np.zeros((HEIGHT, WIDTH, 3), "uint8"), (FRAMES, HEIGHT, WIDTH, 3))
    results.update(format="video", backend=backend, frames=frames, frames_len=FRAMES, start_idx=0, end_idx=FRAMES - 1)
    return results


def patches() -> Iterator[Patch]:
    """What reads lists of clips, and clips."""
    yield Patch(Awaited("paddlevideo.loader.dataset.frame", "FrameDataset"), "load_file", _frames)
    yield Patch(Awaited("paddlevideo.loader.dataset.video", "VideoDataset"), "load_file", _videos)
    yield Patch(Awaited("paddlevideo.loader.pipelines.decode", "VideoDecoder"), "__call__", _decoded)
