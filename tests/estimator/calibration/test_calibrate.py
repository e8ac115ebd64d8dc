"""The calibration suite as far as a machine without a GPU can go: real programs, real runs, clear refusals."""

import json
import sys

import msgspec
import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.machine import CalibrationView
from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.domain.devices import Device, DeviceProcess, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.calibration import calibrate as module
from jupyter_paddle_gpu.estimator.calibration.calibrate import calibrate, taken
from jupyter_paddle_gpu.estimator.calibration.suite import PROGRAMS
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.services.estimates.estimating import Estimating
from jupyter_paddle_gpu.services.estimates.targets import to_measure

HOST = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)


@pytest.fixture
def service(tmp_path):
    service = EstimateService(EstimateSettings(calibration=tmp_path / "calibration.json"))
    yield service
    service.close()


@pytest.mark.paddle
def test_on_a_cpu_estimate_and_measurement_stand_side_by_side(service, monkeypatch):
    monkeypatch.setattr(module, "PROGRAMS", {"recurrent": PROGRAMS["recurrent"]})
    said = []
    report = calibrate(service, device="cpu", progress=lambda message: said.append(message.render()))

    row = report.rows[0]
    assert "Ctrl+C" in said[0] and said[1:] == ["1 of 1: recurrent"] and row.program == "recurrent"
    assert "Nothing was kept" in CalibrationView(report).lead(Speech("en")) and report.device == "cpu"
    assert abs(row.estimated_allocated - row.measured_allocated) < 0.05 * row.measured_allocated
    assert report.learned == 0 and not service.calibration.path.exists()


@pytest.mark.paddle
def test_without_a_gpu_it_says_so(service):
    with pytest.raises(PaddleGpuError) as raised:
        calibrate(service, device="gpu:0")

    assert raised.value.code == "calibrate_failed" and raised.value.status == 409
    assert "gpu:0" in raised.value.message.render() and "--device cpu" in raised.value.message.render_hint()


@pytest.mark.parametrize("named", ["", "gpu:0", "npu:0", "tpu"])
def test_where_no_gpu_is_it_begins_nothing(named):
    """Whatever is named: Paddle's own words for such a device are no help (“The device should not be <re.Match …”)."""
    nowhere = Estimating(lambda: None, lambda: Inventory(time=0.0, host=HOST), None, None, None)
    with pytest.raises(PaddleGpuError) as raised:
        nowhere.calibrate(named, "python3", lambda message: None)

    assert raised.value.code == "calibrate_no_gpu" and "--device cpu" in raised.value.message.render_hint()


def test_the_card_that_is_measured_is_one_that_is_here():
    cards = [
        Device(id="a", index=0, vendor="nvidia", name="Nobody's", simulated=True, kind="gpu"),
        Device(id="b", index=3, vendor="nvidia", name="RTX 4090", kind="gpu"),
        Device(id="c", index=4, vendor="nvidia", name="A100", kind="gpu"),
        Device(id="d", index=4, slice=1, parent="c", vendor="nvidia", name="A100", kind="gpu"),
        Device(id="e", index=0, vendor="ascend", name="910B", kind="npu"),
    ]
    assert [to_measure(named, cards).id for named in ("", "gpu:3", "3", "GPU 4", "c")] == ["b", "b", "b", "c", "c"]
    assert to_measure("CPU", cards) is None
    for named in ("gpu:0", "4:1", "npu:0", "tpu"):
        with pytest.raises(PaddleGpuError) as raised:
            to_measure(named, cards)
        assert raised.value.code == "device_unknown" and named in raised.value.message.render()


def test_without_paddle_it_says_what_to_install(service, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    folder = tmp_path / "kernels" / "empty"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-I", "-S", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "E", "language": "python"}))

    with pytest.raises(PaddleGpuError) as raised:
        calibrate(service, kernel_name="empty")

    assert raised.value.code == "calibrate_no_paddle" and "pip install" in raised.value.message.render_hint()


def _card(used, *processes):
    rows = tuple(DeviceProcess(pid=pid, memory_bytes=size) for pid, size in processes)
    return Device(id="acme-0", index=0, vendor="acme", name="One", memory_used=used, processes=rows)


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (_card(100), _card(900, (7, 600), (8, 200)), 600),
        (_card(100, (8, 50)), _card(900, (7, None)), 800),
        (_card(100), _card(900), 800),
        (_card(None), _card(900), None),
        (None, None, None),
    ],
    ids=["its own", "not told", "numbered otherwise", "no figure before", "no card"],
)
def test_what_a_process_has_of_any_makers_card_is_the_drivers_word(before, now, found):
    assert taken(before, now, 7) == found


CARD = catalogue.find("RTX 4090")
CONTEXT, SHARE = 500 << 20, 0.1
"""Of a card that nobody has here: what its context takes, and how much of the largest workspaces."""
STOOD_FOR = """
import json, os, sys
source = json.loads(sys.stdin.readline())["source"]
told = json.load(open({told!r}))[source]
print(json.dumps(told | {{"pid": os.getpid()}}), flush=True)
sys.stdin.read()
"""
OWN = """
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
model = nn.Sequential(nn.Conv2D(3, 96, 3, padding=1), nn.BatchNorm2D(96), nn.AdaptiveAvgPool2D(1), nn.Flatten(),
                      nn.Linear(96, 10))
def make_batch():
    return paddle.rand([64, 3, 96, 96]), paddle.randint(0, 10, [64])
"""


@pytest.mark.paddle
def test_a_whole_run_on_a_card_and_what_an_estimate_says_after_it(service, tmp_path, monkeypatch):
    """Nothing but the process that runs a program on a card, and the driver, are stood in for: the estimate, the file
    and what later estimates read of it are the product's own."""
    facts = NotebookFacts(kernel_name="python3", language="python", cells=(), imports_paddle=True, loop="custom")

    def estimated(source):
        cells = (CodeCell(index=0, id="program", source=source),)
        request = EstimateRequest(target="gpu")
        return service.estimate(msgspec.structs.replace(facts, cells=cells), tmp_path, request, CARD)

    chosen = {name: PROGRAMS[name] for name in ("linear", "convolution")}
    own = OWN + PROGRAMS["linear"][PROGRAMS["linear"].index("model.train()") :]
    before, driver, answers = estimated(own), {}, {}
    for source in chosen.values():
        found = estimated(source)
        terms = found.terms
        driver[source] = round(CONTEXT + terms.mapped_low + SHARE * (terms.mapped_high - terms.mapped_low))
        answers[source] = {
            "allocated": found.allocated_peak_bytes, "reserved": found.reserved_peak_bytes, "device": CARD.name,
            "cuda": "12.6", "paddle_version": found.paddle_version, "driver": driver[source],
        }  # fmt: skip
    told = tmp_path / "told.json"
    told.write_text(json.dumps(answers))
    program = tmp_path / "stands_for_real_run.py"
    program.write_text(STOOD_FOR.format(told=str(told)))
    monkeypatch.setattr(module, "REAL_RUN", program)
    monkeypatch.setattr(module, "PROGRAMS", chosen)
    reads = iter([value for used in driver.values() for value in (_card(0), _card(used))])

    report = calibrate(service, device="gpu:0", accelerator=CARD, look=lambda since: next(reads))

    after = estimated(own)
    assert report.learned == 2 and report.cuda == "12.6"
    assert all(row.estimated_allocated == row.measured_allocated for row in report.rows)
    assert after.high - after.low < (before.high - before.low) * 0.6
    assert "narrowed_by_programs" in {note.code for note in after.notes}
    truth = CONTEXT + after.terms.mapped_low + SHARE * (after.terms.mapped_high - after.terms.mapped_low)
    assert after.low <= truth <= after.high and abs(after.peak_bytes - truth) < abs(before.peak_bytes - truth)
    assert "2" in CalibrationView(report).lead(Speech("en"))
