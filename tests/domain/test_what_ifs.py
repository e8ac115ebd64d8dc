"""The table of what-ifs: every row is whole, is understood in two languages, and is what all faces have."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.commands.group import paddle_gpu
from jupyter_paddle_gpu.commands.options import flag_of, typed
from jupyter_paddle_gpu.domain.bounds import check_request
from jupyter_paddle_gpu.domain.declarations import Words
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.notebooks import NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import BY_NAME, WHAT_IFS, EstimateRequest, for_job, for_tracer
from jupyter_paddle_gpu.estimator.advice import remedies
from jupyter_paddle_gpu.estimator.workers.settings import TRACER
from jupyter_paddle_gpu.i18n import LOCALE_FOLDER, to_json, translator


def test_every_field_of_a_request_but_answers_and_what_surrounds_a_job_is_declared():
    assert ["answers", "held", "environment", "release", *BY_NAME] == list(EstimateRequest.__struct_fields__)


def test_what_is_misspelt_or_out_of_range_is_refused():
    for wrong in ({"batch": 3}, {"amp": "O3"}, {"recompute": 1}, {"target": "tpu"}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, EstimateRequest)
    for row in (row for row in WHAT_IFS if row.kind == "count"):
        with pytest.raises(PaddleGpuError) as caught:
            check_request(msgspec.convert({row.name: row.least - 1}, EstimateRequest))
        assert caught.value.message.params["field"] == row.name
        check_request(msgspec.convert({row.name: row.least, "amp": None}, EstimateRequest))


def test_every_sentence_has_its_chinese():
    catalogue = msgspec.json.decode((LOCALE_FOLDER / "zh_CN/LC_MESSAGES/jupyter_paddle_gpu.json").read_bytes())
    texts = [text for row in WHAT_IFS for text in (row.help, row.label)]
    texts += [text for words in all_words() for text in (words.label, words.asked, words.suggested)]
    assert [text for text in texts if text not in {"", "{value}", *catalogue}] == []


def all_words() -> list[Words]:
    return [words for row in WHAT_IFS for words in (row.words, *row.values.values())]


def test_what_the_panel_draws_can_be_seen_and_taken_back():
    for row in (row for row in WHAT_IFS if row.label):
        assert row.kind in ("count", "choice", "switch")
        assert all(row.words_of(value).asked for value in row.choices or (1,)), row.name
        assert row.follows in ("", *BY_NAME)
        assert not row.fact or row.fact in NotebookFacts.__struct_fields__
        assert not row.if_known or row.name in Estimate.__struct_fields__


def test_every_remedy_has_words_and_an_option():
    step = Estimate(
        status="ok", evidence="trace", peak_bytes=1000, batch_size=64, image_size=(224, 224), sequence_length=128
    )
    found = remedies.remedies(step, lambda change: 500, None)
    assert {remedy.change for remedy in found} == set(remedies.OFFERS)
    options = {option for parameter in paddle_gpu.commands["estimate"].params for option in parameter.opts}
    options |= {option for parameter in paddle_gpu.commands["estimate"].params for option in parameter.secondary_opts}
    for remedy in found:
        assert remedy.says.text, remedy.change
        said = to_json(remedy, translator("zh-CN"))["says"]["message"]
        assert said and "{" not in said, remedy.change
        assert {word for word in typed(remedy.request).split() if word.startswith("--")} <= options


def test_a_request_is_typed_as_the_options_read_it():
    asked = {"batch_size": 8, "amp": "O1", "set_to_zero": False, "recompute": True}
    words = typed(asked)
    assert words == "--batch-size 8 --amp O1 --no-set-to-zero --recompute"
    command = paddle_gpu.commands["estimate"]
    parsed = command.make_context("estimate", words.split()).params
    assert {name: parsed[name] for name in asked} == asked
    assert all(parsed[name] == row.default for name, row in BY_NAME.items() if name not in asked)


def test_a_job_offers_what_it_runs_with():
    offered = {option for parameter in paddle_gpu.commands["submit"].params for option in parameter.opts}
    assert {row.name for row in WHAT_IFS if flag_of(row) in offered} == {
        row.name for row in WHAT_IFS if row.in_jobs or row.picks
    }
    asked = EstimateRequest(answers={"epochs": 2}, batch_size=8, amp="O1", image_size=32, target="cpu")
    assert for_job(asked) == EstimateRequest(answers={"epochs": 2}, batch_size=8, amp="O1")


def test_the_tracer_is_told_what_changes_the_step():
    told = for_tracer(EstimateRequest(batch_size=8, device="A100 80GB", target="gpu", details=True))
    assert told["batch_size"] == 8 and told["target"] == "gpu" and told["recompute"] is None
    assert not {"device", "details", "answers"} & set(told)


def test_the_tracer_reads_every_what_if_and_says_every_note():
    """By its source: a declaration that nothing makes true would be a promise in all faces."""
    source = "".join(path.read_text(encoding="utf-8") for path in TRACER.rglob("*.py"))
    names = [row.name for row in WHAT_IFS if row.traced]
    codes = [message.code.removesuffix("_live") for row in WHAT_IFS for message in (*row.notes, *row.kept)]
    assert [word for word in (*names, *codes) if f'"{word}"' not in source] == []
