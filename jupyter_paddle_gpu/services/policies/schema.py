"""The JSON schema of a policy file, from the types that read it; `python -m ...schema` writes it anew.

An editor that knows schemas (jupyterlab-lsp with yaml-language-server) takes it from the first line that
`policy init` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from ...engines.engine_type import EngineType
from ...images.choice import ImagePolicy
from ...jobs.settings import JobPolicy, SchedulerPolicy
from ...matching.policy import Policy
from ...notices.settings import NoticePolicy
from .files import OF_THE_MARKET, Task

FILE = Path(__file__).with_name("paddle-gpu.schema.json")
"""Where it is shipped."""
_NOT_OF_FILES = ("Experience", "LearnedRun", "Need")
"""Types of fields that a file cannot give."""
_OF_THE_SYSTEM = frozenset({"policy_file"})


def schema(types: Mapping[str, EngineType[Any]]) -> dict[str, Any]:
    """The schema with a section for each of these engines. Unknown fields are refused, as they are when a file is
    read."""
    sections: dict[str, tuple[type, frozenset[str]]] = {
        "task": (Task, frozenset()),
        "resource_policy": (Policy, OF_THE_MARKET),
        "matching": (Policy, OF_THE_MARKET),
        "scheduler": (SchedulerPolicy, frozenset()),
        "images": (ImagePolicy, _OF_THE_SYSTEM),
        "jobs": (JobPolicy, frozenset()),
        "notices": (NoticePolicy, frozenset()),
        **{name: (kind.settings, kind.given) for name, kind in types.items()},
    }
    kinds = tuple({kind for kind, _ in sections.values()})
    _, found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    properties: dict[str, Any] = {"engine": {"enum": ["", *types]}}
    for name, (kind, given) in sections.items():
        properties[name] = {"$ref": f"#/$defs/{kind.__name__}"}
        for field in given:
            found[kind.__name__]["properties"].pop(field, None)
    found["SchedulerPolicy"]["properties"]["algorithm"]["enum"] = ["rules", "learned", "rl_based"]
    for name in _NOT_OF_FILES:
        found.pop(name, None)
    for definition in found.values():
        definition["additionalProperties"] = definition.get("additionalProperties", False)
        definition["description"] = cleandoc(definition.get("description", ""))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "paddle-gpu.yaml",
        "description": "What a place, a person or a folder settles for jupyter_paddle_gpu.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": dict(sorted(found.items())),
    }


def text(types: Mapping[str, EngineType[Any]]) -> str:
    """The schema as it stands in the file."""
    return msgspec.json.format(msgspec.json.encode(schema(types), order="deterministic"), indent=2).decode() + "\n"


if __name__ == "__main__":
    from ...engines.registry import load

    FILE.write_text(text(load(others=()).types), encoding="utf-8")
