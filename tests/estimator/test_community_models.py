"""Models of PaddleNLP's community, whose configuration is a download.

PaddleNLP is no dependency of ours: a package with its entries stands for it, which would download as it does.
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
CONFIGURATIONS = """
import json, os, socket
def resolve_file_path(name, filenames):
    if os.path.isfile(name):
        return name
    if os.path.isdir(name):
        return os.path.join(name, "config.json")
    socket.create_connection(("configurations.invalid", 443))
class PretrainedConfig:
    pretrained_init_configuration = {}
    @classmethod
    def _get_config_dict(cls, name, **kwargs):
        if name in cls.pretrained_init_configuration:
            return cls.pretrained_init_configuration[name], kwargs
        return json.load(open(resolve_file_path(name, ["config.json"]))), kwargs
    @classmethod
    def from_pretrained(cls, name):
        return cls(**cls._get_config_dict(name)[0])
class BertConfig(PretrainedConfig):
    pretrained_init_configuration = {"__internal_testing__/bert": {"hidden_size": 1}, "bert-base-uncased": {},
        "bert-large-uncased": {"hidden_size": 1024}, "bert-base-chinese": {"hidden_size": 700}}
    def __init__(self, hidden_size=768, **more):
        self.hidden_size = hidden_size
class LlamaConfig(PretrainedConfig):
    def __init__(self, hidden_size=4096, **more):
        self.hidden_size = hidden_size
"""
AUTO = """
import json
from ..configuration_utils import BertConfig, LlamaConfig, resolve_file_path
MAPPING_NAMES = {"Llama": "llama", "Bert": "bert"}
class AutoModel:
    @classmethod
    def from_pretrained(cls, name):
        config = json.load(open(resolve_file_path(name, ["config.json"])))
        assert not config
        kind, = [flag for flag, one in MAPPING_NAMES.items() if one in name.lower()]
        return {"Bert": BertConfig, "Llama": LlamaConfig}[kind].from_pretrained(name)
"""
CONFIGURATION = """
import importlib, json
from ..configuration_utils import PretrainedConfig, resolve_file_path
class AutoConfig(PretrainedConfig):
    @classmethod
    def from_pretrained(cls, name):
        file = resolve_file_path(name, ["config.json"])
        kind, = json.load(open(file))["architectures"]
        module = importlib.import_module("paddlenlp.transformers." + kind[:-5].lower() + ".modeling")
        return getattr(module, kind).config_class.from_pretrained(file)
"""
BERT = """
from ..configuration_utils import BertConfig
class BertModel:
    config_class = BertConfig
"""
TRAIN = """
import paddle
from paddlenlp.transformers.auto.modeling import AutoModel, BertConfig, LlamaConfig
from paddlenlp.transformers.auto.configuration import AutoConfig
net = paddle.nn.Linear({model}.hidden_size, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([2, net.weight.shape[0]])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture
def estimated(tmp_path):
    folder, installed = tmp_path / "notebook", tmp_path / "site-packages"
    folder.mkdir()
    package = installed / "paddlenlp" / "transformers"
    (package / "auto").mkdir(parents=True)
    (package / "bert").mkdir()
    for place in (package.parent, package, package / "auto", package / "bert"):
        (place / "__init__.py").write_text("")
    (package / "configuration_utils.py").write_text(CONFIGURATIONS)
    (package / "auto" / "modeling.py").write_text(AUTO)
    (package / "auto" / "configuration.py").write_text(CONFIGURATION)
    (package / "bert" / "modeling.py").write_text(BERT)
    service = EstimateService(EstimateSettings(calibration=tmp_path / "data" / "calibration.json"))

    def ask(model: str):
        source = f"import sys\nsys.path.append({str(installed)!r})" + TRAIN.format(model=model)
        cell = CodeCell(index=0, id="a", source=source)
        known = NotebookFacts(
            kernel_name="python3", cells=(cell,), language="python", imports_paddle=True, loop="custom"
        )
        return service.estimate(known, folder, EstimateRequest(target="cpu"))

    yield ask
    service.close()


@pytest.mark.parametrize(
    ("model", "like", "width"),
    [
        ("BertConfig.from_pretrained('someone/bert-base-chinese-ner')", "bert-base-chinese", 700),
        ("AutoModel.from_pretrained('someone/macbert-base-zh')", "bert-base-chinese", 700),
        ("AutoModel.from_pretrained('someone/roBERTa-LARGE')", "bert-large-uncased", 1024),
        ("BertConfig.from_pretrained('someone/something')", "BertConfig", 768),
        ("LlamaConfig.from_pretrained('facebook/llama-13b')", "llama-13b", 5120),
        ("AutoModel.from_pretrained('meta-llama/Llama-2-70b-chat')", "llama-70b", 8192),
        ("LlamaConfig.from_pretrained('meta-llama/Llama-3.1-70B')", "llama-3-70b", 8192),
        ("AutoConfig.from_pretrained('someone/bert-large-x')", "bert-large-uncased", 1024),
    ],
)
def test_the_likest_configuration_stands_in_and_is_marked(estimated, model, like, width):
    found = estimated(model)
    (note,) = [one for one in found.notes if one.code == "configuration_assumed"]
    assert (found.status, found.parameters) == ("ok", width + 1)
    assert note.params["like"] == like


@pytest.mark.parametrize(
    "model",
    [
        "LlamaConfig.from_pretrained('someone/llama-405b')",
        "BertConfig.from_pretrained('bert-giant-300b')",
        "AutoModel.from_pretrained('someone/something')",
        "AutoConfig.from_pretrained('someone/something')",
        "AutoConfig.from_pretrained('someone/bert-300b')",
    ],
)
def test_a_model_that_no_name_tells_is_one_answer_and_no_question(estimated, model):
    """What it gives (`logits`) was asked for, which nobody could answer."""
    found = estimated(model)
    (told,) = [one for one in found.notes if one.code == "unsupported"]
    assert (found.status, found.questions) == ("unsupported", ())
    assert told.params["why"].code == "configuration_unseen"
    assert "config.json" in told.hint
    assert "configuration_assumed" not in {one.code for one in found.notes}
