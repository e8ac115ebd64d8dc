"""Suggestions that hold: each is tried in a trace, and the first with which the training goes on is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SECONDS = 8.0
"""After this time no further suggestion is tried."""
MOST_AT_ONCE = 3
"""Questions that are tried together."""
Result = dict[str, Any]


def suggested(request: dict[str, Any], result: Result, trace: Callable[[dict[str, Any]], Result]) -> Result:
    """The result with suggestions in its questions, where one was found for each that the step waits for."""
    questions = [one for one in result["questions"] if one.get("candidates")]
    started = time.monotonic()
    known = dict(request.get("answers") or {})
    chosen: dict[str, tuple[Any, str]] = {}
    for question in [one for one in questions if one["kind"] == "value"]:
        chosen[question["name"]] = question["candidates"][0]
    for question in [one for one in questions if one["kind"] == "batch"][:MOST_AT_ONCE]:
        for candidate in question["candidates"]:
            if time.monotonic() - started > SECONDS:
                break
            tried = {**chosen, question["name"]: candidate}
            answers = {**known, **{name: answer for name, (answer, _) in tried.items()}}
            if _goes_on(trace({**request, "answers": answers, "accumulation": None}), answers):
                chosen = tried
                break
    for question in questions:
        if question["name"] in chosen:
            question["suggestion"], source = chosen[question["name"]]
            question["params"]["source"] = source
    return result


def _goes_on(result: Result, answers: dict[str, Any]) -> bool:
    """Whether the step was reached, or only something else is open."""
    if result["status"] == "ok":
        return True
    names = [one["name"] for one in result["questions"]]
    return bool(names) and all(one.get("candidates") and one["name"] not in answers for one in result["questions"])
