"""The room's door without a tracer of ours behind it: caching, messages, what is missing."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.domain.devices import Accelerator
from jupyter_paddle_gpu.domain.notebooks import CodeCell, Fact, NotebookFacts, Printed
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings

BARE = Path(__file__).parent / "bare_tracer"
CARD = Accelerator(name="A100", vendor="nvidia", memory_bytes=80 << 30, compute_capability=(8, 0))


def facts(source="", kernel="python3", **more):
    return NotebookFacts(
        kernel_name=kernel,
        cells=(CodeCell(index=0, id="a", source=source),),
        **{"language": "python", "imports_paddle": True, "loop": "custom", **more},
    )


@pytest.fixture
def service(tmp_path):
    settings = EstimateSettings(worker=WorkerSettings(tracer=BARE), calibration=tmp_path / "data" / "calibration.json")
    service = EstimateService(settings)
    yield service
    service.close()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    return folder


@pytest.mark.paddle
def test_the_tracer_is_told_which_builds_keep_both_operands_of_a_product(service, folder):
    """`multiply_fwd_func.cc`: Kunlun's and those with plugins but `npu` do; each is traced for itself."""
    cards = ("Ascend 910B 64GB", "MLU370-X8 24GB", "Kunlun R300 32GB", "Enflame S60 48GB")
    npu, mlu, kunlun, enflame = map(catalogue.find, cards)
    service.estimate(facts("x = 1"), folder, EstimateRequest(target="gpu"))
    worker, asked = service.traces.workers[0], []
    original = worker.request

    def request(kind, told, *arguments, **named):
        asked.append(told.get("keeps_factors"))
        return original(kind, told, *arguments, **named)

    worker.request = request
    for card in (CARD, npu, mlu, kunlun, enflame):
        service.estimate(facts("x = 1"), folder, EstimateRequest(target="gpu"), card)
    assert asked == [True], "all others of either kind are answered from memory"
    asked.clear()
    service.fits(facts("x = 1"), folder, EstimateRequest(target="gpu"), (CARD, npu, mlu, kunlun))
    assert set(asked) == {None, True}


@pytest.mark.paddle
def test_what_did_not_change_is_answered_from_memory(service, folder):
    on_cpu = service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu"))
    worker = service.traces.workers[0]
    asked = []
    original = worker.request
    worker.request = lambda *arguments, **named: asked.append(arguments[0]) or original(*arguments, **named)

    again = service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu"))
    assert asked == [] and again.peak_bytes == on_cpu.peak_bytes
    service.estimate(facts("# which\nx = 1\nprint(x)"), folder, EstimateRequest(target="cpu"))
    assert asked == []
    service.estimate(facts("x = 2"), folder, EstimateRequest(target="cpu"))
    service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu", batch_size=4))
    (folder / "model.py").write_text("")
    service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu"))
    (folder / "saved.ipynb").write_text("")
    service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu"))
    assert asked == ["trace"] * 3


@pytest.mark.paddle
@pytest.mark.parametrize(("status", "traced"), [("ok", 0), ("needs_input", 1)])
def test_what_was_printed_counts_where_the_trace_did_not_come_to_a_step(folder, tmp_path, status, traced):
    """Suggestions hang on it; a figure does not, and is answered from memory while a training prints."""
    tracer = tmp_path / "asking_tracer"
    tracer.mkdir()
    (tracer / "__init__.py").write_text(f"""def trace_notebook(request):
    question = {{"kind": "value", "why": "number_unseen", "name": "n", "params": {{"source": "assumed"}}}}
    return {{
        "status": "{status}", "evidence": "trace", "batch_size": 1, "operations": [["relu", "forward"]],
        "storages": [[1024, -1, 1, "parameters"]], "questions": [question] * ("{status}" != "ok"),
    }}""")
    asking = EstimateService(EstimateSettings(worker=WorkerSettings(tracer=tracer)))
    shown = facts(printed=Printed(shapes=((10, 3, 96, 96),)))
    assert asking.estimate(facts(), folder, EstimateRequest(target="cpu")).status == status
    worker = asking.traces.workers[0]
    asked = []
    original = worker.request
    worker.request = lambda *arguments, **named: asked.append(arguments[0]) or original(*arguments, **named)
    for again in (facts(), shown, shown):
        asking.estimate(again, folder, EstimateRequest(target="cpu"))
    asking.close()
    assert asked == ["trace"] * traced


@pytest.mark.paddle
def test_the_card_is_named_and_its_figures_are_a_range(service, folder):
    estimate = service.estimate(facts(), folder, EstimateRequest(), CARD)

    assert estimate.device == "A100" and estimate.target == "gpu"
    assert estimate.low <= estimate.peak_bytes <= estimate.high
    assert estimate.breakdown.total == estimate.peak_bytes
    assert estimate.terms.observations == 0 and estimate.terms.source
    assert estimate.seconds > 0


@pytest.mark.paddle
def test_refusals_are_notes(service, folder):
    """Of what stopped nothing there is no word: the notebook went on as if it had written."""
    source = "open('log.txt', 'w')"
    estimate = service.estimate(facts(source), folder, EstimateRequest(target="cpu"))
    assert estimate.status == "ok" and not any(note.code == "refused_write" for note in estimate.notes)

    estimate = service.estimate(facts(f"{source}; open('absent.csv')"), folder, EstimateRequest(target="cpu"))
    assert estimate.status == "unsupported"
    note = next(note for note in estimate.notes if note.code == "refused_write")
    assert "log.txt" in note.render() and note.render_hint()


@pytest.mark.paddle
def test_an_answer_that_is_no_trace_is_a_note(service, folder, tmp_path):
    tracer = tmp_path / "odd_tracer"
    tracer.mkdir()
    (tracer / "__init__.py").write_text("def trace_notebook(request): return {'status': 'perhaps'}")
    odd = EstimateService(EstimateSettings(worker=WorkerSettings(tracer=tracer)))
    estimate = odd.estimate(facts(), folder, EstimateRequest())
    odd.close()

    assert estimate.evidence == "scan" and "trace_unreadable" in {note.code for note in estimate.notes}


def test_a_notebook_that_trains_nothing_needs_no_process(service, folder):
    estimate = service.estimate(facts(imports_paddle=False, loop="none"), folder, EstimateRequest())

    assert (estimate.status, estimate.evidence) == ("no_model", "scan")
    assert [note.code for note in estimate.notes] == ["no_training"]
    assert service.traces.workers == ()


def test_what_was_read_is_there_without_a_kernel(service, folder):
    read = facts(
        kernel="absent",
        language="R",
        model=Fact(value="LeNet", source="LeNet()", place=None, how="literal"),
        batch_size=Fact(value=32, source="32", place=None, how="literal"),
        amp=Fact(value="O1", source="O1", place=None, how="literal"),
    )
    estimate = service.estimate(read, folder, EstimateRequest())

    assert (estimate.status, estimate.model, estimate.batch_size, estimate.amp) == ("unsupported", "LeNet", 32, "O1")
    assert estimate.notes[0].code == "no_such_kernel" and estimate.peak_bytes is None


def test_a_kernel_of_the_authors_machine_is_replaced_and_said(service, folder):
    own, others = facts("x = 1"), facts("x = 1", kernel="py35-paddle1.2.0")
    estimate = service.estimate(others, folder, EstimateRequest())

    assert estimate.notes[0].code == "other_kernel"
    assert estimate.notes[1:] == service.estimate(own, folder, EstimateRequest()).notes


def test_an_interpreter_without_paddle_gets_the_next_step(service, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    specification = tmp_path / "kernels" / "empty"
    specification.mkdir(parents=True)
    argv = [sys.executable, "-I", "-S", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (specification / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "E", "language": "python"}))

    estimate = service.estimate(facts(kernel="empty"), folder, EstimateRequest())

    assert (estimate.status, estimate.notes[0].code) == ("no_paddle", "no_paddle")
    assert estimate.notes[0].render_hint().endswith("-m pip install paddlepaddle`")


@pytest.mark.paddle
def test_the_least_used_worker_makes_room(service, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for name in "abc":
        specification = tmp_path / "kernels" / name
        specification.mkdir(parents=True)
        argv = ["env", f"NAME={name}", sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (specification / "kernel.json").write_text(
            json.dumps({"argv": argv, "display_name": name, "language": "python"})
        )
    for name in "abc":
        service.warm(name)

    assert [worker.interpreter.kernel_name for worker in service.traces.workers] == ["b", "c"]


def test_every_code_of_the_tracer_has_its_sentence():
    import re

    from jupyter_paddle_gpu.estimator.precision import BFLOAT16
    from jupyter_paddle_gpu.estimator.translate import NOTES, QUESTIONS
    from jupyter_paddle_gpu.estimator.workers.settings import TRACER

    text = "\n".join(path.read_text() for path in TRACER.rglob("*.py"))
    notes = set(re.findall(r'\.note\("(\w+)"', text)) | set(re.findall(r'notes\.append\(\{"code": "(\w+)"', text))
    questions = set(re.findall(r'_(?:ask|fail)\(cell, \w+, "(\w+)"', text))

    assert notes and notes <= NOTES.keys() | {BFLOAT16}
    assert questions and questions <= QUESTIONS.keys()


@pytest.mark.paddle
def test_a_worker_that_was_begun_is_the_one_that_answers_and_ends(service, folder):
    service.begin("python3")
    service.begin("absent")  # says nothing: the estimate will
    estimate = service.estimate(facts("x = 1"), folder, EstimateRequest(target="cpu"))
    begun = service.traces.workers[0].process_id

    assert estimate.evidence == "trace" and len(service.traces.workers) == 1
    assert begun is not None
    service.close()
    assert not psutil.pid_exists(begun)
