"""What data looks like, as an answer says it: `float32[10,3,224,224] int64[10,1]`."""

from __future__ import annotations

import re

_ITEM = r"(?:\w+(?:\.\w+)*\s*[:=]\s*)?(?:u?int(?:8|16|32|64)|b?float(?:16|32|64)|bool)\s*\[[\d,\s]*\]"
_DESCRIPTION = re.compile(rf"\s*(?:{_ITEM}[\s,;]*)+")


def is_description(answer: object) -> bool:
    """Whether an answer says what data looks like: it stands for data in an estimate, and never for a value.

    The tracer, which cannot import this, reads descriptions in `undecided/absent_data.py` by the same form.
    """
    return isinstance(answer, str) and _DESCRIPTION.fullmatch(answer) is not None
