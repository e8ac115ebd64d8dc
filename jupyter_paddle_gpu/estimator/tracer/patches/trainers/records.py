"""Data sets of PaddleDetection, PaddleSeg and PaddleClas whose files are not on this machine.

They are filled with records of pictures that stand in, in the form in which their own code reads the files; transforms,
samplers and batches are the trainer's own.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .pictures import COUNT, HEIGHT, WIDTH, mask, picture

BOXES = 7
"""Objects of a picture: COCO has 7.3 on average (Lin et al., Microsoft COCO, 2014, section 5)."""
IDENTITIES = 14_455
"""Those of the six sets that JDE and FairMOT learn from, by the largest number in each (`nID` of
https://github.com/Zhongdao/Towards-Realtime-MOT, `cfg/yolov3_1088x608.cfg`)."""
CLASSES_TRACKED = 10
"""Of VisDrone, where several classes are tracked (`ppdet/data/source/mot.py`); each has its part of the identities."""
APART = 256
"""People or cars of a data set that is searched: fewer than any has (CompCars 431), more than a batch draws from."""
STREET = 2048, 1024
"""Width and height of a picture of Cityscapes (Cordts et al., 2016, section 2); a smaller one would be padded more than
its own are, by pixels that some losses leave out."""
PEOPLE = 3
"""People of a picture with keypoints: COCO has 2.7 (https://cocodataset.org/#keypoints-2020)."""


@dataclass(frozen=True)
class Format:
    """How a trainer keeps what it has read.

    Attributes:
        kind: module and name of the class of data sets, as `module.Class`.
        fill: gives a data set its records.
    """

    kind: str
    fill: Callable[[Any], None]


def filled(data_set: Any) -> bool:
    """Whether the format of a data set is known; it has samples then."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(data_set).__mro__}
    row = None if _UNTOLD & names else next((one for one in FORMATS if one.kind in names), None)
    if row is not None:
        row.fill(data_set)
    return row is not None


def _detection(data_set: Any) -> None:
    """Records as `COCODataSet.parse_dataset` makes them (`ppdet/data/source/coco.py`)."""
    edges = np.arange(BOXES, dtype="float32")[:, None] * 16
    polygon = [[10.0, 10.0, 60.0, 10.0, 60.0, 70.0, 10.0, 70.0]]
    record = {
        "im_file": picture(),
        "im_id": np.array([1]),
        "h": float(HEIGHT),
        "w": float(WIDTH),
        "is_crowd": np.zeros((BOXES, 1), "int32"),
        "difficult": np.zeros((BOXES, 1), "int32"),
        "gt_class": np.zeros((BOXES, 1), "int32"),
        "gt_score": np.ones((BOXES, 1), "float32"),
        "gt_bbox": np.concatenate([edges, edges, edges + 128, edges + 160], 1),
        "gt_poly": [polygon] * BOXES,
    }
    always = {"im_file", "im_id", "h", "w"}
    wanted = {*getattr(data_set, "data_fields", ()), *always}
    data_set.roidbs = [{name: value for name, value in record.items() if name in wanted}] * COUNT


def _tracked(data_set: Any) -> None:
    """Records of `ppdet/data/source/mot.py`: boxes as parts of the picture, each with whose it is, and how many there
    are of each class."""
    share = IDENTITIES if type(data_set).__name__ == "MOTDataSet" else IDENTITIES // CLASSES_TRACKED
    classes = 1 if share == IDENTITIES else CLASSES_TRACKED
    places = np.linspace(0.2, 0.8, BOXES, dtype="float32")
    told = {
        "gt_class": np.zeros((BOXES, 1), "int32"),
        "gt_score": np.ones((BOXES, 1), "float32"),
        "gt_bbox": np.stack([places, places, np.full(BOXES, 0.1), np.full(BOXES, 0.2)], 1).astype("float32"),
        "gt_ide": np.arange(BOXES, dtype="int32")[:, None],
    }
    wanted = {name: value for name, value in told.items() if name in data_set.data_fields}
    data_set.num_identities_dict = dict.fromkeys(range(classes), share)
    data_set.total_imgs, data_set.num_imgs_each_data = COUNT, [COUNT]
    data_set.cname2cid = {str(number): number for number in range(classes)}
    data_set.roidbs = [{"im_file": picture(), "im_id": number, **wanted} for number in range(COUNT)]


def _person(data_set: Any) -> None:
    """`db` of `ppdet/data/source/keypoint_coco.py`: a person in the middle of a picture, all of whose joints are
    seen."""
    joints = int(data_set.ann_info["num_joints"])
    record = {
        "image_file": picture(),
        "im_id": 1,
        "center": np.array([WIDTH / 2, HEIGHT / 2], "float32"),
        "scale": np.array([WIDTH / 200, HEIGHT / 200], "float32"),
        "score": 1,
        _joints_of(data_set): np.full((joints, 3), HEIGHT / 2, "float32"),
        "joints_vis": np.ones((joints, 3), "float32"),
    }
    data_set.db = [record] * COUNT


def _joints_of(data_set: Any) -> str:
    """What records call the joints: their code says `joints` until 2023."""
    return "gt_joints" if "gt_joints" in inspect.getsource(sys.modules[type(data_set).__module__]) else "joints"


def _people(data_set: Any) -> None:
    """What `_get_imganno` of the same file tells of a picture with several people."""
    joints = int(data_set.ann_info["num_joints"])
    edges = np.arange(PEOPLE, dtype="float32")[:, None] * 16
    name = _joints_of(data_set)
    record = {
        "image_file": picture(),
        "im_id": 1,
        "im_shape": np.array([HEIGHT, WIDTH, 1] if name == "gt_joints" else [HEIGHT, WIDTH]),
        name: np.full((PEOPLE, joints, 3), HEIGHT / 2, "float32"),
        "gt_bbox": np.concatenate([edges, edges, edges + 128, edges + 160], 1),
        "gt_class": np.zeros((PEOPLE, 1), "float32"),
        "gt_areas": np.full((PEOPLE,), 128 * 160, "float32"),
        "mask": np.ones((HEIGHT, WIDTH), bool),
    }
    absent = {name for name, told in _TOLD.items() if not getattr(data_set, told, told == "return_mask")}
    data_set.img_ids = list(range(COUNT))
    data_set._get_imganno = lambda _: {name: value for name, value in record.items() if name not in absent}


_TOLD = {"gt_bbox": "return_bbox", "gt_class": "return_class", "gt_areas": "return_area", "mask": "return_mask"}
"""What such a data set tells only where it is asked to."""


def _segmentation(data_set: Any) -> None:
    """`file_list` of `paddleseg/datasets/dataset.py`: a picture and its labels."""
    size = STREET if type(data_set).__name__ == "Cityscapes" else (WIDTH, HEIGHT)
    labels = mask(getattr(data_set, "num_classes", None) or 1, *size)
    data_set.file_list = [[picture(getattr(data_set, "img_channels", 3), *size), labels]] * COUNT


def _classification(data_set: Any) -> None:
    """Pictures and labels of `ppcls/data/dataloader/common_dataset.py`."""
    data_set.images, data_set.labels = [picture()] * COUNT, [np.int64(0)] * COUNT


def _scales(data_set: Any) -> None:
    """The same of `multi_scale_dataset.py`, whose constructor ends with what it says once of its crops."""
    _classification(data_set)
    data_set.has_crop_flag = 1


def _retrieved(data_set: Any) -> None:
    """Pictures of people or cars to tell apart (`person_dataset.py`, `vehicle_dataset.py`): samplers draw some of each
    of several."""
    data_set.images, data_set.labels = [picture()] * COUNT, [np.int64(i % APART) for i in range(COUNT)]
    data_set.cameras, data_set.bboxes = [0] * COUNT, [[0, 0, WIDTH, HEIGHT]] * COUNT
    data_set.num_pids, data_set.num_imgs, data_set.num_cams, data_set.has_camera = APART, COUNT, 1, False


def _faces(data_set: Any) -> None:
    """Pictures with their person (`ppcls/data/dataloader/face_dataset.py`)."""
    data_set.samples = [[picture(), 0]] * COUNT


FORMATS = (
    Format("ppdet.data.source.keypoint_coco.KeypointTopDownBaseDataset", _person),
    Format("ppdet.data.source.keypoint_coco.KeypointBottomUpBaseDataset", _people),
    Format("ppdet.data.source.mot.MOTDataSet", _tracked),
    Format("ppdet.data.source.mot.MCMOTDataSet", _tracked),
    Format("ppdet.data.source.dataset.DetDataset", _detection),
    Format("paddleseg.datasets.dataset.Dataset", _segmentation),
    Format("ppcls.data.dataloader.common_dataset.CommonDataset", _classification),
    Format("ppcls.data.dataloader.multi_scale_dataset.MultiScaleDataset", _scales),
    Format("ppcls.data.dataloader.face_dataset.AdaFaceDataset", _faces),
    *(Format(f"ppcls.data.dataloader.{kind}", _retrieved)
      for kind in ("person_dataset.Market1501", "person_dataset.MSMT17", "vehicle_dataset.CompCars",
                   "vehicle_dataset.VeriWild")),
)  # fmt: skip
_UNTOLD = frozenset(("ppcls.data.dataloader.multilabel_dataset.MultiLabelDataset",))
"""Those of which the data set alone does not say what a sample is: the labels of a picture are as many as the classes
of the model. Their batch is asked for."""
