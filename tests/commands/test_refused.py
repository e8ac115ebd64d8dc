"""What `submit` says of a training that fits nothing, where the time to look for what would fit was up."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from jupyter_paddle_gpu.commands.jobs import submit
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.domain.decisions import Decision, RefusedError, Way
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.estimator.messages import DETAILS_LATE

WITH_AMP = Message(code="amp", text="with mixed precision O1")
WAY = Way(change="amp", request={"amp": "O1"}, message=WITH_AMP, label=WITH_AMP)
REASON = Message(code="fits_nowhere", text="Needs 3 GiB.", hint="An estimate with details says what would fit.")
LATE = DETAILS_LATE.filled(seconds=30, more=300)


class Face(SimpleNamespace):
    """Of a terminal whose services refuse the job."""

    def __init__(self, found: Decision, notes: tuple[Message, ...]) -> None:
        matched = SimpleNamespace(estimate=SimpleNamespace(notes=notes), placement=SimpleNamespace(decision=found))
        super().__init__(
            say=Speech("en"),
            working=nullcontext,
            hold=None,
            source=lambda path, arguments: None,
            services=SimpleNamespace(submit=self._refused, match=lambda *_, **__: matched),
        )

    @staticmethod
    def _refused(*_: object, **__: object) -> None:
        raise RefusedError(Decision(outcome="refuse", reason=REASON))


def refused(monkeypatch: pytest.MonkeyPatch, *notes: Message, ways: tuple[Way, ...] = ()) -> str:
    monkeypatch.setattr("jupyter_paddle_gpu.commands.jobs.one", lambda face, what: (Path("wide.ipynb"), []))
    monkeypatch.setattr("jupyter_paddle_gpu.commands.jobs.runs_already", lambda face, path: False)
    face = Face(Decision(outcome="refuse", reason=REASON, ways=ways), notes)
    error = CliRunner().invoke(submit, ["wide.ipynb"], obj=face).exception
    assert isinstance(error, PaddleGpuError), error
    return error.message.render_hint()


def test_the_time_that_was_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(monkeypatch, LATE)
    assert "After 30 s not every remedy" in said and "`estimate --details-seconds 300` seeks for longer." in said
    assert said.endswith("`--anyway` submits it as it is.") and "`estimate --details`" not in said


def test_what_was_found_until_then_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(monkeypatch, LATE, ways=(WAY,))
    assert "After 30 s" in said and said.endswith("Submit it with `--amp O1`, or as it is with `--anyway`.")


def test_nothing_is_said_of_time_where_it_was_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(monkeypatch).endswith("`estimate --details` computes it; `--anyway` submits it as it is.")
