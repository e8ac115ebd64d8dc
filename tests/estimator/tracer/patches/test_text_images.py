"""Data sets of PaddleOCR without files: what their own code reads are made-up lines, records and tables."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

MODULES = {
    "__init__": "",
    "data/__init__": "",
    "utils/__init__": "",
    "utils/save_load": """
def load_pretrained_params(model, path):
    raise AssertionError(f"The {path}.pdparams does not exists!")
""",
    "data/simple_dataset": """
import json
import numpy as np
import paddle
from PIL import Image
class SimpleDataSet(paddle.io.Dataset):
    def __init__(self, config, mode, logger, seed=None):
        self.delimiter, self.transforms = "|", config[mode]["dataset"]["transforms"]
        files, share = config[mode]["dataset"].pop("label_file_list"), config[mode]["dataset"].get("ratio_list", 1.0)
        if share == 1.0:
            self.data_lines = self.get_image_info_list(files, [share])
        else:
            self.data_lines, self.ends = self._load_all_lines(files)
            assert self.ends == [0, len(self.data_lines) // 2, len(self.data_lines)]
    def get_image_info_list(self, file_list, ratio_list):
        return [line for file in file_list for line in open(file, "rb")]
    def _load_all_lines(self, file_list):
        return self.get_image_info_list(file_list, [1.0]), []
    def __getitem__(self, index):
        path, label, width, height = self.data_lines[index].decode().strip("\\n").split(self.delimiter)
        image = np.asarray(Image.open(path))
        if any("DetLabelEncode" in step for step in self.transforms):
            boxes = np.array([line["points"] for line in json.loads(label)])
            assert boxes.shape[1:] == (4, 2)
            return image[::4, ::4].transpose(2, 0, 1), boxes
        if any("ClsLabelEncode" in step for step in self.transforms):
            return image.transpose(2, 0, 1), ["0", "180"].index(label)
        assert image.shape == (int(height), int(width), 3)
        if any("CANLabelEncode" in step for step in self.transforms):
            return image.transpose(2, 0, 1), np.array([ord(one) for one in label.split(" ")])
        return image.transpose(2, 0, 1), np.array([ord(one) for one in label])
    def __len__(self):
        return len(self.data_lines)
""",
    "data/pubtab_dataset": """
import json
import numpy as np
import paddle
from PIL import Image
class PubTabDataSet(paddle.io.Dataset):
    def __init__(self, config, mode, logger, seed=None):
        self.data_lines = self.get_image_info_list(config[mode]["dataset"]["label_file_list"], [1.0])
    def get_image_info_list(self, file_list, ratio_list):
        return [line for file in file_list for line in open(file, "rb")]
    def __getitem__(self, index):
        told = json.loads(self.data_lines[index].decode())
        image = np.asarray(Image.open(told["filename"]))[::4, ::4].transpose(2, 0, 1)
        assert told["html"]["structure"]["tokens"].count("<td>") == len(told["html"]["cells"])
        return image, np.array([cell["bbox"] for cell in told["html"]["cells"]])
    def __len__(self):
        return len(self.data_lines)
""",
    "data/lmdb_dataset": """
import io, pickle
import numpy as np
import paddle
from PIL import Image
class LMDBDataSet(paddle.io.Dataset):
    def __init__(self, config, mode, logger, seed=None):
        self.sets = self.load_hierarchical_lmdb_dataset(config[mode]["dataset"]["data_dir"])
    def load_hierarchical_lmdb_dataset(self, data_dir):
        return {}
    def __getitem__(self, index):
        label = self.sets[0]["txn"].get(b"label-%09d" % index).decode()
        image = np.asarray(Image.open(io.BytesIO(self.sets[0]["txn"].get(b"image-%09d" % index))))
        return image.transpose(2, 0, 1), np.array([ord(one) for one in label])
    def __len__(self):
        return sum(one["num_samples"] for one in self.sets.values())
class LMDBDataSetTableMaster(LMDBDataSet):
    def load_hierarchical_lmdb_dataset(self, data_dir):
        raise OSError(data_dir)
    def __getitem__(self, index):
        name, image, lines = pickle.loads(self.sets[0]["txn"].get(str(index).encode()))
        name, text, *boxes = lines.strip().split("\\n")
        assert text.split(",").count("<td>") == len(boxes)
        image = np.asarray(Image.open(io.BytesIO(image)))[::4, ::4]
        return image.transpose(2, 0, 1), np.array([[int(edge) for edge in box.split(",")] for box in boxes])
""",
}
TRAIN = """
import sys
import paddle
sys.path.insert(0, {folder!r})
from ppocr.data.{module} import {kind}
from ppocr.utils.save_load import load_pretrained_params
steps = [{{"DecodeImage": {{}}}}, {{{encodes!r}: {options}}}]
own = {{"data_dir": "data/absent", "label_file_list": ["data/absent/train.txt"] * {files}, "transforms": steps}}
if {files} > 1:
    own["ratio_list"] = [0.5] * {files}
common = {{"character_dict_path": {characters!r}, **{common}}}
data = {kind}({{"Global": common, "Train": {{"dataset": own}}}}, "Train", None)
model = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten())
load_pretrained_params(model, "data/absent")
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(4):
    for image, label in paddle.io.DataLoader(data, batch_size=4):
        model(image.astype("float32")).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
KINDS = {
    "a line": ("simple_dataset", "SimpleDataSet", "CTCLabelEncode", None, ["uint8[4, 3, 48, 320]", "int64[4, 10]"]),
    "the longest line": (
        "simple_dataset", "SimpleDataSet", "MultiLabelEncode", None, ["uint8[4, 3, 48, 320]", "int64[4, 38]"],
    ),
    "a share of two files": (
        "simple_dataset", "SimpleDataSet", "CTCLabelEncode", None, ["uint8[4, 3, 48, 320]", "int64[4, 10]"],
    ),
    "symbols": ("simple_dataset", "SimpleDataSet", "CANLabelEncode", None, ["uint8[4, 3, 48, 320]", "int64[4, 3]"]),
    "a page": (
        "simple_dataset", "SimpleDataSet", "DetLabelEncode", None, ["uint8[4, 3, 120, 160]", "int64[4, 7, 4, 2]"],
    ),
    "a class": (
        "simple_dataset", "SimpleDataSet", "ClsLabelEncode", {"label_list": ["180", "0"]},
        ["uint8[4, 3, 48, 320]", "int64[4]"],
    ),
    "a store": ("lmdb_dataset", "LMDBDataSet", "CTCLabelEncode", None, ["uint8[4, 3, 48, 320]", "int64[4, 10]"]),
    "tables": (
        "pubtab_dataset", "PubTabDataSet", "TableLabelEncode", {"loc_reg_num": 8},
        ["uint8[4, 3, 120, 160]", "int64[4, 7, 8]"],
    ),
    "tables in a store": (
        "lmdb_dataset", "LMDBDataSetTableMaster", "TableMasterLabelEncode", {},
        ["uint8[4, 3, 120, 160]", "int64[4, 7, 4]"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def traced(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    for name, text in MODULES.items():
        path = folder / "ppocr" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "symbols.txt").write_text("a\n\nb\nc\n")
    sources = {
        name: TRAIN.format(
            folder=str(folder),
            module=module,
            kind=kind,
            encodes=encodes,
            options=options,
            common={"max_text_length": 40} if name == "the longest line" else {},
            files=2 if "two files" in name else 1,
            characters=str(folder / "symbols.txt") if name == "symbols" else None,
        )
        for name, (module, kind, encodes, options, _) in KINDS.items()
    }
    return run_child("trace", sources)


@pytest.mark.parametrize("name", KINDS)
def test_labels_are_what_the_configurations_transform_reads(traced, name):
    row = traced[name]
    assert (row["status"], row["inputs"], row["notes"]) == ("ok", KINDS[name][-1], ["texts_made_up", "weights_absent"])
