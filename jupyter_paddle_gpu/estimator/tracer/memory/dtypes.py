"""Names and sizes of Paddle's element types."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import paddle
from paddle.base import core

SIZE = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
"""Bytes of one element."""
FLOATING = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
COMPLEX = frozenset({"complex64", "complex128"})
LOW_PRECISION = frozenset({"float16", "bfloat16"})

_VAR_TYPE = {
    "bool": "BOOL", "uint8": "UINT8", "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64",
    "float16": "FP16", "bfloat16": "BF16", "float32": "FP32", "float64": "FP64",
    "complex64": "COMPLEX64", "complex128": "COMPLEX128",
}  # fmt: skip
VAR_TYPE = {name: getattr(core.VarDesc.VarType, member) for name, member in _VAR_TYPE.items()}
DATA_TYPE = {name: getattr(paddle, name) for name in _VAR_TYPE}


def name_of(dtype: Any) -> str:
    """`paddle.float32`, a VarType, a numpy dtype or its class (`np.float32`), or a string -> "float32"."""
    try:
        return _hashed(dtype)
    except TypeError:  # not hashable
        return _name(dtype)


def _name(dtype: Any) -> str:
    text = (dtype.__name__ if isinstance(dtype, type) else str(dtype)).rsplit(".", 1)[-1]
    for name, member in _VAR_TYPE.items():
        if dtype == VAR_TYPE[name] or text in (member, name):
            return name
    return "bfloat16" if text == "uint16" else text  # numpy's stand-in for bfloat16


_hashed = lru_cache(maxsize=256)(_name)
