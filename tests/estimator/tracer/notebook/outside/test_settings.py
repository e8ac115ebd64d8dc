"""Settings that libraries look up for a program, and that nobody has given, are asked for by their own names."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAIN = """
import os, sys, numpy as np, paddle
def train(rows, width=8):
    net = paddle.nn.Linear(13, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for _ in range(4):
        net(paddle.rand([rows, 13])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
PROGRAMS = {
    "pydantic": """
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic import BaseModel, Field
from typing import Literal
class Model(BaseModel):
    width: int
    bias: bool = True
class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="TRAIN_", env_nested_delimiter="__")
    BATCH: int
    mode: Literal["eval", "train"]
    units: int = Field(validation_alias="NET_UNITS")
    model: Model
s = Settings()
if s.mode == "train":
    train(s.BATCH, s.model.width + s.units)
""",
    "pydantic_json": """
from pydantic_settings import BaseSettings
from pydantic import BaseModel
class Model(BaseModel):
    width: int
    rate: float
    bias: bool = True
class Settings(BaseSettings):
    model: Model
train(16, Settings().model.width)
""",
    "pydantic_bound": """
from pydantic_settings import BaseSettings
class Settings(BaseSettings):
    batch: int
settings = Settings()
BATCH = settings.batch
train(BATCH)
""",
    "pydantic_first": """
from pydantic.v1 import BaseSettings, Field
class Settings(BaseSettings):
    batch: int
    width: int = Field(..., env="NET_WIDTH")
s = Settings()
train(s.batch, s.width)
""",
    "pydantic_whole": """
from pydantic import BaseModel
class Config(BaseModel):
    BATCH: int
train(Config(**os.environ).BATCH)
""",
    "dotenv": """
from dotenv import load_dotenv
load_dotenv()
batch = os.getenv("BATCH")
def main(rows):
    train(int(rows))
main(batch)
""",
    "dotenv_values": """
from dotenv import dotenv_values
config = dotenv_values(".env")
train(int(config["BATCH"]))
""",
    "dotenv_joined": """
from dotenv import dotenv_values
config = {**dotenv_values(".env"), **os.environ}
train(int(config["BATCH"]), int(config.get("WIDTH")))
""",
    "dotenv_handed_on": """
from dotenv import dotenv_values
from pydantic import BaseModel
class Config(BaseModel):
    BATCH: int
values = dotenv_values(".env")
train(Config(**values).BATCH)
""",
    "dotenv_in_place": """
from dataclasses import dataclass
from dotenv import dotenv_values
@dataclass
class Sizes:
    BATCH: int
    WIDTH: int
sizes = Sizes(**dotenv_values(".env"))
train(int(sizes.BATCH), int(sizes.WIDTH))
""",
    "own": """
def need(name):
    if os.environ.get(name) is None:
        raise RuntimeError(f"{name} is not set")
    return int(os.environ[name])
train(need("BATCH"))
""",
    "own_exit": """
for name in ("BATCH", "WIDTH"):
    if not os.environ.get(name):
        print(f"please export {name}", file=sys.stderr)
        sys.exit(2)
train(int(os.environ["BATCH"]), int(os.environ["WIDTH"]))
""",
    "by_library": """
from settings_of_nobody import Env
env = Env("TRAIN_")
BATCH = env.int("BATCH")
train(BATCH)
""",
    "omegaconf": """
from omegaconf import OmegaConf
config = OmegaConf.create({"batch": "???", "model": {"width": "${units}"}, "units": "???"})
train(config.batch, config.model.width)
""",
    "omegaconf_whole": """
from dataclasses import dataclass
from omegaconf import MISSING, OmegaConf
@dataclass
class Config:
    rows: int = MISSING
config = OmegaConf.to_object(OmegaConf.structured(Config))
train(config.rows)
""",
    "omegaconf_keys": """
from omegaconf import OmegaConf
config = OmegaConf.create({"batch": "???"})
if missing := OmegaConf.missing_keys(config):
    sys.exit(f"give {missing}")
train(config.batch)
""",
    "omegaconf_variable": """
from omegaconf import OmegaConf
config = OmegaConf.create({"batch": "${oc.env:BATCH}"})
train(int(config.batch))
""",
    "hydra": """
from hydra import compose, initialize_config_dir
with initialize_config_dir(os.path.abspath("conf"), version_base=None):
    config = compose("config")
train(config.batch, config.model.width)
""",
}
ASKED = {
    "pydantic": {"TRAIN_BATCH": "32", "TRAIN_MODE": "train", "NET_UNITS": "256", "TRAIN_MODEL__WIDTH": "256"},
    "pydantic_json": {"MODEL": '{"width": 256, "rate": 0.1}'},
    "pydantic_bound": {"BATCH": "32"},
    "pydantic_first": {"BATCH": "32", "NET_WIDTH": "256"},
    "pydantic_whole": {"BATCH": "32"},
    "dotenv": {"BATCH": "32"},
    "dotenv_values": {"BATCH": "32"},
    "dotenv_joined": {"BATCH": "32", "WIDTH": "256"},
    "dotenv_handed_on": {"BATCH": "32"},
    "dotenv_in_place": {"BATCH": "32", "WIDTH": "256"},
    "own": {"BATCH": "32"},
    "own_exit": {"BATCH": "32", "WIDTH": "256"},
    "by_library": {"TRAIN_BATCH": "32"},
    "omegaconf": {"batch": 32, "units": 256},
    "omegaconf_whole": {"rows": 1},
    "omegaconf_keys": {"batch": 32},
    "omegaconf_variable": {"BATCH": "32"},
    "hydra": {"model": "train_large", "batch": 32, "model_width": 256},
}
GIVEN = {
    "a file of variables": (
        "from dotenv import find_dotenv, load_dotenv\nload_dotenv(find_dotenv('there.env'))\n"
        "train(int(os.environ['ROWS_OF_FILE']))"
    ),
    "a file that is found": (
        "from dotenv import dotenv_values, find_dotenv\n"
        "train(int(dotenv_values(find_dotenv('there.env'))['ROWS_OF_FILE']))"
    ),
}
"""What is here, beside the script."""
STOPS = {
    "a key": ('import json\nconfig = json.loads(\'{"a": 1}\')\ntrain(config["BATCH"])', "KeyError: 'BATCH'"),
    "a key beside a variable": (
        "os.environ.get('BATCH')\nconfig = {'a': 1}\ntrain(config['BATCH'])",
        "KeyError: 'BATCH'",
    ),
    "a field": (
        "from pydantic import BaseModel\nclass Config(BaseModel):\n    batch: int\ntrain(Config(**{'rows': 1}).batch)",
        "ValidationError: 1 validation error for Config batch Field required",
    ),
    "a file": (
        "from dotenv import dotenv_values\ntrain(int(dotenv_values('there.env')['BATCH']))",
        "KeyError: 'BATCH'",
    ),
}
"""What is here and lacks something: the programs' own faults."""
LIBRARY = """
import os
class NotSetError(ValueError):
    pass
class Env:
    def __init__(self, prefix):
        self._prefix = prefix
    def int(self, name):
        if self._prefix + name not in os.environ:
            raise NotSetError(f'Environment variable "{self._prefix + name}" not set')
        return int(os.environ[self._prefix + name])
"""
"""What environs, decouple and others do."""


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "settings_of_nobody.py").write_text(LIBRARY)
    (folder / "conf" / "model").mkdir(parents=True)
    (folder / "conf" / "config.yaml").write_text("defaults:\n  - model: ???\n  - _self_\nbatch: ???\n")
    (folder / "conf" / "model" / "small.yaml").write_text("width: 8\n")
    (folder / "conf" / "model" / "train_large.yaml").write_text("width: ???\n")
    whole = {name: TRAIN + part for name, part in PROGRAMS.items()}
    whole |= {f"{name}_answered": source for name, source in whole.items()}
    whole |= {name: TRAIN + part for name, (part, _) in STOPS.items()}
    whole |= {name: f"__file__ = {str(folder / 'train.py')!r}\n{TRAIN}{part}" for name, part in GIVEN.items()}
    (folder / "train.py").touch()
    (folder / "there.env").write_text("ROWS_OF_FILE=16\n")
    options = {
        name: {"folder": str(folder), "answers": ASKED.get(name.removesuffix("_answered"), {})}
        if name.endswith("_answered")
        else {"folder": str(folder)}
        for name in whole
    }
    return run_child("trace", whole, options)


@pytest.mark.parametrize("name", ASKED)
def test_settings_are_asked_for_by_their_own_names(found, name):
    assert {one["name"]: one["suggestion"] for one in found[name]["questions"]} == ASKED[name]


@pytest.mark.parametrize("name", ASKED)
def test_the_answers_have_it_train(found, name):
    one = found[f"{name}_answered"]
    assert (one["status"], one["questions"], one["notes"]) == ("ok", [], [])


@pytest.mark.parametrize("name", STOPS)
def test_what_is_here_and_lacks_something_is_a_stop(found, name):
    assert found[name]["status"] == "would_stop"
    assert found[name]["stop"]["error"].startswith(STOPS[name][1])


@pytest.mark.parametrize("name", GIVEN)
def test_a_file_of_variables_beside_a_script_is_read(found, name):
    assert (found[name]["status"], found[name]["questions"]) == ("ok", [])
