"""Why a job ends, in words with a next step."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.jobs import reasons


@pytest.mark.parametrize(
    ("name", "value", "package"),
    [
        ("ModuleNotFoundError", "No module named 'einops'", "einops"),
        ("ModuleNotFoundError", "No module named 'cv2.dnn'", "opencv-python-headless"),
        ("ModuleNotFoundError", "No module named 'paddle'", "paddlepaddle"),
        ("ModuleNotFoundError", "I have lost it", None),
        ("ValueError", "No module named 'einops'", None),
    ],
)
def test_a_module_that_is_missing_is_named_with_its_package(name, value, package):
    hint = reasons.cell_error(1, 3, name, value).render_hint()
    assert (f"`%pip install {package}`" in hint) if package else "Correct the cell" in hint
