"""How long a measured step waits for what reads its data: by the rule of the product's own real steps."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_FILE = Path(__file__).resolve().parents[3] / "jupyter_paddle_gpu" / "estimator" / "zygote" / "settling.py"
_spec = importlib.util.spec_from_file_location("settling", _FILE)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
settle = _module.settle
