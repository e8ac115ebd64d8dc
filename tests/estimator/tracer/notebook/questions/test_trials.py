"""What is suggested goes on in a trace; where what goes on would leave the model out, no answer helps."""

from __future__ import annotations

import pytest

CANDIDATES = [("float32[8,2]", "assumed"), ("float32[8]", "assumed")]


def suggested(*codes):
    trials = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.trials")
    question = {"name": "losses", "kind": "batch", "why": "tensor_unseen", "params": {}, "cell": 0, "line": 9,
                "suggestion": None, "candidates": CANDIDATES}  # fmt: skip
    ends = dict(zip([answer for answer, _ in CANDIDATES], codes, strict=True))

    def trace(request):
        notes = [{"code": code, "params": {}} for code in [ends[request["answers"]["losses"]]] if code]
        return {"status": "ok", "questions": [], "notes": notes, "reached": 9}

    result = {"status": "needs_input", "questions": [question], "notes": []}
    return trials.suggested({}, result, trace, lambda: True)["questions"]


@pytest.mark.parametrize("code", ["no_backward", "no_gradients"])
def test_a_tensor_that_leaves_the_model_out_is_no_question(code):
    (told,) = suggested(code, code)
    assert (told["name"], told["why"], told["params"]) == ("", "tensor_between", {"tensor": "losses"})
    assert (told["cell"], told["line"], told["suggestion"]) == (0, 9, None)


def test_one_with_which_the_model_learns_is_suggested():
    (asked,) = suggested("no_backward", "")
    assert (asked["name"], asked["suggestion"]) == ("losses", "float32[8]")
