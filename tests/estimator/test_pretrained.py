"""Models of PaddleNLP that begin with published weights.

PaddleNLP is no dependency of ours: a package with its two entries stands for it, which would download as it does.
"""

from __future__ import annotations

import sys

import pytest

from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's"),
]
LIBRARY = """
import os, socket
import paddle
from .. import transformers  # modules that import each other, as PaddleNLP's do: no helper of the notebook's
def load_state_dict(path):
    return paddle.load(path)
class PretrainedModel(paddle.nn.Layer):
    @classmethod
    def _resolve_model_file_path(cls, name, cache_dir=None, **more):
        os.makedirs(os.path.expanduser("~/.paddlenlp/models"), exist_ok=True)
        socket.create_connection(("weights.invalid", 443))
    @classmethod
    def from_pretrained(cls, name, width):
        path, shards, metadata, in_shards = cls._resolve_model_file_path(name, cache_dir="cache")
        state = {} if in_shards else load_state_dict(path)
        model = cls(width)
        model.set_state_dict(state)
        return model
class Model(PretrainedModel):
    def __init__(self, width):
        super().__init__()
        self.linear = paddle.nn.Linear(width, 2)
    def forward(self, x):
        return self.linear(x)
"""
TRAIN = """
import paddle
from paddlenlp.transformers.model_utils import Model
model = {model}
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([16, 10])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


EARLIER = LIBRARY.replace("path, shards, metadata", "path, metadata").replace(
    "        os.makedirs", "        sharded_metadata = None\n        os.makedirs"
)
"""Of 2.6, which has no list of the shards' files."""


@pytest.fixture
def library():
    return LIBRARY


@pytest.fixture
def estimated(tmp_path, library):
    folder, installed = tmp_path / "notebook", tmp_path / "site-packages"
    folder.mkdir()
    (installed / "paddlenlp" / "transformers").mkdir(parents=True)
    (installed / "paddlenlp" / "__init__.py").write_text("")
    (installed / "paddlenlp" / "transformers" / "__init__.py").write_text("")
    (installed / "paddlenlp" / "transformers" / "model_utils.py").write_text(library)
    service = EstimateService(EstimateSettings(calibration=tmp_path / "data" / "calibration.json"))

    def ask(model: str):
        cell = CodeCell(
            index=0, id="a", source=f"import sys\nsys.path.append({str(installed)!r})" + TRAIN.format(model=model)
        )
        known = NotebookFacts(
            kernel_name="python3", cells=(cell,), language="python", imports_paddle=True, loop="custom"
        )
        return service.estimate(known, folder, EstimateRequest(target="cpu"))

    yield ask
    service.close()


@pytest.mark.parametrize("library", [LIBRARY, EARLIER])
def test_weights_are_neither_downloaded_nor_needed(estimated):
    pretrained, made = estimated("Model.from_pretrained('some-model', 10)"), estimated("Model(10)")
    assert pretrained.status == "ok" and pretrained.notes == made.notes
    assert pretrained.allocated_peak_bytes == made.allocated_peak_bytes
    assert pretrained.parameters == made.parameters == 22


@pytest.mark.parametrize("library", [LIBRARY.replace("load_state_dict", "read_state")])
def test_a_version_with_other_places_is_said(estimated):
    made = estimated("Model(10)")
    assert made.status == "ok"
    told = {note.code: note.params for note in made.notes}
    assert told["unpatched_library"] == {"names": "paddlenlp.transformers.model_utils.load_state_dict"}


def test_what_else_wants_the_network_is_told(estimated):
    asked = estimated("Model(__import__('socket').create_connection(('vocabulary.invalid', 443)))")
    assert (asked.status, asked.questions) == ("unsupported", ())
    assert "wants to download" in asked.notes[0].render()
